/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank records: written, read again, and read where somebody has spoilt them. Run it under a
 * sanitizer too.
 */
#include "group/roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char whole[] = "library\t0.1.0\nhost\tnode a\nhost_id\tboot-1\nasked\tauto\n"
                            "loopback\t127.128.0.77\nmemory\tit is "
                            "off\npid\t77\npid_space\t4026531836\nstart\t123456789\nnonce\t42\n"
                            "checks\t1\nworld_size\t4\nrank\t2\ncores\t8\ntold_local_rank\t3\n"
                            "backend\tgloo\t2.6\t\t10.0.0.1\teth0\troute to the store\n"
                            "second\tgloo\tfd00::1\teth0\n"
                            "backend\tnccl\t\tno such device\t\t\t\n";

/* Reads a copy of its own size, so that a read beyond its end is found. */
static muster_status read_copy(rank_record *record, const char *text, size_t size)
{
    char *copy = malloc(size + (size == 0));
    memcpy(copy, text, size);
    muster_status status = rank_record_read(record, (muster_blob){copy, size});
    free(copy);
    return status;
}

/* What any record that was read well has. */
static bool is_sound(const rank_record *record)
{
    bool sound = record->rank >= 0 && record->rank < record->world_size && record->pid >= 0 &&
                 record->library != NULL && record->host != NULL && record->host_id != NULL &&
                 record->asked != NULL;
    for (size_t i = 0; sound && i < record->num_backends; i++) {
        const rank_backend *has = &record->backends[i];
        sound = has->name != NULL && has->version != NULL && has->reason != NULL &&
                has->address != NULL && has->interface != NULL && has->address_from != NULL &&
                has->second != NULL && has->second_interface != NULL;
    }
    return sound;
}

/* Read as a sound record, or refused with nothing left. */
static bool is_handled(const char *text, size_t size, int *reads)
{
    rank_record record;
    muster_status status = read_copy(&record, text, size);
    bool fine = status == MUSTER_OK ? is_sound(&record)
                                    : status == MUSTER_ERR_PROTOCOL && record.text == NULL &&
                                          record.backends == NULL;
    *reads += status == MUSTER_OK;
    if (status == MUSTER_OK)
        rank_record_clear(&record);
    return fine;
}

static void good(void)
{
    rank_record record;
    char *text = NULL, name[64];
    is_int(read_copy(&record, whole, strlen(whole)), MUSTER_OK, "a record is read");
    ok(strcmp(record.library, "0.1.0") == 0 && strcmp(record.host, "node a") == 0 &&
           strcmp(record.host_id, "boot-1") == 0 && strcmp(record.asked, "auto") == 0,
       "its words");
    ok(record.pid == 77 && record.pid_space == 4026531836 && record.start == 123456789 &&
           record.nonce == 42 && record.world_size == 4 && record.rank == 2 && record.cores == 8 &&
           record.told_local_rank == 3 && record.checks == 1 &&
           strcmp(record.loopback, "127.128.0.77") == 0 && strcmp(record.memory, "it is off") == 0,
       "its numbers");
    is_str(rank_record_name(&record, name, sizeof(name)), "rank 2 (host node a, pid 77)",
           "its name");
    const rank_backend *gloo = rank_record_backend(&record, "gloo");
    ok(gloo != NULL && strcmp(gloo->version, "2.6") == 0 && *gloo->reason == '\0' &&
           strcmp(gloo->address, "10.0.0.1") == 0 && strcmp(gloo->interface, "eth0") == 0 &&
           strcmp(gloo->address_from, "route to the store") == 0 &&
           strcmp(gloo->second, "fd00::1") == 0 && strcmp(gloo->second_interface, "eth0") == 0,
       "its backends");
    ok(rank_record_backend(&record, "local") == NULL, "and none that it lacks");
    is_int(rank_record_write(&record, &text), MUSTER_OK, "it is written");
    is_str(text, whole, "as it was read");
    muster_free(text);
    rank_record_clear(&record);
    rank_record_clear(&record);
    ok(record.text == NULL, "a record may be cleared twice");
}

/* Tabs and newlines of a field must not become fields and lines. */
static void fields(void)
{
    rank_backend has = {.name = "gl\too",
                        .version = "1\n2",
                        .reason = "why\r\nrank\t9",
                        .address = "a",
                        .interface = "b",
                        .address_from = "c",
                        .second = "d\te",
                        .second_interface = "f",
                        .device = 3,
                        .device_from = "g\nh"};
    rank_record evil = {.library = "l",
                        .host = "h\nrank\t9",
                        .host_id = "\t\t",
                        .asked = "a\nb",
                        .loopback = "127.1.2.3",
                        .pid_space = UINT64_MAX,
                        .start = UINT64_MAX,
                        .nonce = UINT64_MAX,
                        .pid = INT32_MAX,
                        .world_size = INT32_MAX,
                        .rank = 1,
                        .cores = INT32_MAX,
                        .num_backends = 1,
                        .backends = &has};
    rank_record record;
    char *text = NULL;
    ok(rank_record_write(&evil, &text) == MUSTER_OK &&
           rank_record_read(&record, muster_str(text)) == MUSTER_OK,
       "fields with tabs and newlines are written and read");
    ok(record.rank == 1 && strcmp(record.host, "h rank 9") == 0 &&
           strcmp(record.host_id, "  ") == 0 && strcmp(record.asked, "a b") == 0,
       "with spaces in their place");
    ok(record.num_backends == 1 && strcmp(record.backends[0].name, "gl oo") == 0 &&
           strcmp(record.backends[0].reason, "why  rank 9") == 0,
       "within backends too");
    ok(record.pid_space == UINT64_MAX && record.start == UINT64_MAX && record.nonce == UINT64_MAX &&
           record.world_size == INT32_MAX,
       "the largest numbers");
    rank_record_clear(&record);
    muster_free(text);
}

#define LEAST "world_size\t4\nrank\t2\n"

static const struct {
    const char *what;
    const char *text;
    bool reads;
} texts[] = {
    {"the least there is", LEAST, true},
    {"a word that is not known", LEAST "colour\tblue\n", true},
    {"empty lines", "\n\n" LEAST "\n", true},
    {"no newline at its end", "world_size\t4\nrank\t2", true},
    {"a word again", LEAST "rank\t3\n", true},
    {"nothing", "", false},
    {"no rank", "world_size\t4\n", false},
    {"no world size", "rank\t2\n", false},
    {"a world of none", "world_size\t0\nrank\t0\n", false},
    {"a rank beyond its world", "world_size\t4\nrank\t4\n", false},
    {"a negative rank", "world_size\t4\nrank\t-1\n", false},
    {"a rank with a sign", "world_size\t4\nrank\t+1\n", false},
    {"a rank behind a space", "world_size\t4\nrank\t 1\n", false},
    {"a rank and more", "world_size\t4\nrank\t1x\n", false},
    {"a rank of nothing", "world_size\t4\nrank\t\n", false},
    {"a rank in hexadecimal", "world_size\t4\nrank\t0x1\n", false},
    {"a rank over the largest", "world_size\t4\nrank\t2147483648\n", false},
    {"a pid over the largest", LEAST "pid\t2147483648\n", false},
    {"a nonce over the largest", LEAST "nonce\t18446744073709551616\n", false},
    {"a line without a tab", LEAST "host\n", false},
    {"a backend of one field", LEAST "backend\tgloo\n", false},
    {"a backend of five fields", LEAST "backend\tgloo\t1\t2\t3\t4\n", false},
    {"a second address", LEAST "backend\tgloo\t1\t2\t3\t4\t5\nsecond\tgloo\ta\tb\n", true},
    {"a second address of nothing", LEAST "second\tgloo\ta\tb\n", false},
    {"a second address without interface", LEAST "backend\tgloo\t1\t2\t3\t4\t5\nsecond\tgloo\ta\n",
     false},
    {"a second address without fields", LEAST "backend\tgloo\t1\t2\t3\t4\t5\nsecond\t\n", false},
    {"a backend of seven fields", LEAST "backend\tgloo\t1\t2\t3\t4\t5\t6\n", false},
    {"JSON", "{\"rank\": 1}", false},
};

static void mistakes(void)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        rank_record record;
        muster_status status = read_copy(&record, texts[i].text, strlen(texts[i].text));
        is_int(status, texts[i].reads ? MUSTER_OK : MUSTER_ERR_PROTOCOL, "%s", texts[i].what);
        if (status == MUSTER_OK)
            rank_record_clear(&record);
    }
    has_str(muster_last_error(), "something else using the same store", "and says what it may be");
    rank_record record;
    is_int(rank_record_read(&record, (muster_blob){NULL, 0}), MUSTER_ERR_PROTOCOL, "no bytes");
    is_int(read_copy(&record, LEAST "\0", sizeof(LEAST)), MUSTER_ERR_PROTOCOL, "a zero within");
}

static void spoilt(void)
{
    size_t size = strlen(whole);
    int cut_reads = 0, changed_reads = 0;
    bool cut = true, changed = true;
    for (size_t length = 0; length < size; length++)
        cut = cut && is_handled(whole, length, &cut_reads);
    ok(cut && cut_reads > 0, "cut at every byte (%d are records)", cut_reads);
    for (size_t at = 0; at < size; at++) {
        static const char values[] = {'\0', '\t', '\n', ' ', '-', '9', 'x', '\x7f', (char)0xff};
        for (size_t v = 0; v < COUNT(values); v++) {
            char text[sizeof(whole)];
            memcpy(text, whole, sizeof(whole));
            text[at] = values[v];
            changed = changed && is_handled(text, size, &changed_reads);
        }
    }
    ok(changed && changed_reads > 0, "one byte changed (%d are records)", changed_reads);
}

static void long_ones(void)
{
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG + 64), name[64];
    rank_record record;
    memcpy(text, LEAST "host\t", strlen(LEAST "host\t"));
    memset(text + strlen(LEAST "host\t"), 'h', LONG);
    ok(read_copy(&record, text, LONG) == MUSTER_OK && strlen(record.host) > LONG - 64,
       "a host name of a megabyte");
    ok(strlen(rank_record_name(&record, name, sizeof(name))) == sizeof(name) - 1,
       "is cut in the name of its rank");
    rank_record_clear(&record);
    for (int backends = 64; backends <= 65; backends++) {
        size_t used = (size_t)sprintf(text, LEAST);
        for (int i = 0; i < backends; i++)
            used += (size_t)sprintf(text + used, "backend\tb%d\t\t\t\t\t\n", i);
        muster_status status = read_copy(&record, text, used);
        is_int(status, backends == 64 ? MUSTER_OK : MUSTER_ERR_PROTOCOL, "%d backends", backends);
        if (status == MUSTER_OK)
            rank_record_clear(&record);
    }
    free(text);
}

static muster_status read_roster(roster *list, const int *ranks, int count)
{
    char texts_of[8][64];
    muster_blob blobs[8];
    for (int i = 0; i < count; i++) {
        snprintf(texts_of[i], sizeof(texts_of[i]), "world_size\t8\nrank\t%d\nhost_id\th%d\n",
                 ranks[i], ranks[i] / 3);
        blobs[i] = muster_str(texts_of[i]);
    }
    return roster_read(list, blobs, count);
}

static void rosters(void)
{
    roster all, some;
    is_int(read_roster(&all, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, 8), MUSTER_OK, "a roster of 8");
    is_int(roster_num_hosts(&all), 3, "on three hosts");
    is_int(roster_on_one_host(&all, 0, 2) && !roster_on_one_host(&all, 2, 3), 1,
           "ranks know who is with them");
    ok(*all.ranks[0].memory != '\0', "one that says nothing of its memory shares none");
    is_int(roster_ranks_on_host(&all, 1), 3, "three on that of rank 1");
    is_int(roster_ranks_on_host(&all, 7), 2, "two on that of rank 7");
    is_int(roster_subset(&some, &all, (int[]){6, 0, 7}, 3), MUSTER_OK, "some of them");
    ok(some.count == 3 && some.ranks[0].rank == 0 && some.ranks[2].rank == 2,
       "have new ranks in the order of the list");
    ok(strcmp(some.ranks[0].host_id, "h2") == 0 && strcmp(some.ranks[1].host_id, "h0") == 0,
       "and are who they were");
    is_int(roster_num_hosts(&some), 2, "on two hosts");
    is_int(roster_ranks_on_host(&some, 0), 2, "two on that of the first");
    roster_clear(&all);
    is_str(some.ranks[2].host_id, "h2", "they do not need the whole");
    roster_clear(&some);
    roster_clear(&some);
    is_int(read_roster(&all, (int[]){0, 2, 1}, 3), MUSTER_ERR_PROTOCOL, "ranks in wrong places");
    has_str(muster_last_error(), "rank 2 stands in the place of rank 1", "are named");
    ok(all.ranks == NULL, "nothing is left");
    is_int(read_roster(&all, (int[]){0, 1, -1}, 3), MUSTER_ERR_PROTOCOL, "one that can't be read");
}

int main(void)
{
    plan((int)COUNT(texts) + 38);
    good();
    fields();
    mistakes();
    spoilt();
    long_ones();
    rosters();
    return done();
}
