/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks decide alike from their records, which are made by hand here: the backend, and the
 * address of each rank.
 */
#include "config.h"

#include "group/choice.h"
#include "group/handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "children.h"
#include "net/host_identity.h"
#include "group/init.h"
#include "tap.h"

enum { MOST = 4 };

/* One rank: where it runs, and its line about the backend "rigged" without the name. */
typedef struct who {
    const char *host;
    const char *rigged;
} who;

#define GOOD "2.10\t\t10.0.0.1\teth0\troute to the store"
#define V6 "2.10\t\tfd00::1\teth0\troute to the store"
#define LOOP "2.10\t\t127.0.0.1\tlo\troute to the store"
#define LOOP6 "2.10\t\t::1\tlo\troute to the store"
#define NO_NETWORK "2.10\t\t\t\t"
#define ASKED "2.10\t\t10.9.9.9\teth9\trigged.iface"
#define ASKED6 "2.10\t\tfd00::9\teth9\trigged.iface"
#define ASKED_LOOP "2.10\t\t127.0.0.1\tlo\trigged.hostname"
#define ROUTED "2.10\t\t10.0.0.1\teth0\triggedly by the store"
#define SECOND4 "\nsecond\trigged\t10.0.0.7\teth0"
#define SECOND6 "\nsecond\trigged\tfd00::7\teth0"
#define BROKEN "\tno such device\t\t\t"

static void make(roster *list, const who *ranks, int count)
{
    char texts[MOST][512];
    muster_blob blobs[MOST];
    for (int r = 0; r < count; r++) {
        snprintf(texts[r], sizeof(texts[r]),
                 "host\t%s\nhost_id\tid-%s\npid\t%d\nworld_size\t%d\nrank\t%d\n"
                 "backend\tlocal\t1\t\t\t\t\n%s%s%s",
                 ranks[r].host, ranks[r].host, 100 + r, count, r,
                 ranks[r].rigged != NULL ? "backend\trigged\t" : "",
                 ranks[r].rigged != NULL ? ranks[r].rigged : "",
                 ranks[r].rigged != NULL ? "\n" : "");
        blobs[r] = muster_str(texts[r]);
    }
    if (roster_read(list, blobs, count) != MUSTER_OK)
        bail_out("no roster: %s", muster_last_error());
}

static const who all_good[] = {{"a", GOOD}, {"a", GOOD}, {"b", GOOD}};
static const who one_broken[] = {{"a", GOOD}, {"b", BROKEN}, {"b", GOOD}};
static const who one_without[] = {{"a", GOOD}, {"b", GOOD}, {"c", NULL}};

#define CHOICES(XX)                                                                                \
    XX(all_good, 3, "auto", MUSTER_OK, "rigged", "auto: the best one that all 3 ranks have")       \
    XX(all_good, 3, "rigged", MUSTER_OK, "rigged", "asked for")                                    \
    XX(all_good, 3, "cpu:rigged", MUSTER_OK, "rigged", "asked for")                                \
    XX(all_good, 1, "auto", MUSTER_OK, "local", "a group of one rank needs no connection")         \
    XX(all_good, 1, "local", MUSTER_OK, "local", "asked for")                                      \
    XX(all_good, 1, "cpu:auto", MUSTER_OK, "local", "a group of one rank")                         \
    XX(all_good, 1, "rigged", MUSTER_OK, "rigged", "asked for")                                    \
    XX(all_good, 3, "local", MUSTER_ERR_UNAVAILABLE, NULL,                                         \
       "but it serves ranks of one host and these 3 are on 2")                                     \
    XX(all_good, 3, "riged", MUSTER_ERR_NOT_FOUND, NULL, "rigged")                                 \
    XX(all_good, 3, "", MUSTER_ERR_NOT_FOUND, NULL,                                                \
       "the backend's name is empty; leave it out or say 'auto', or one of: ")                     \
    XX(all_good, 3, "cuda:nccl", MUSTER_ERR_NOT_FOUND, NULL, "no backend 'nccl'")                  \
    XX(all_good, 3, "cuda:rigged", MUSTER_OK, "rigged", "asked for")                               \
    XX(all_good, 3, "cpu:rigged,cuda:rigged", MUSTER_OK, "rigged", "asked for")                    \
    XX(all_good, 3, "rigged,rigged", MUSTER_ERR_UNAVAILABLE, NULL, "ask for 'auto'")               \
    XX(all_good, 3, "cpu:rigged,cpu:rigged", MUSTER_ERR_UNAVAILABLE, NULL, "ask for 'auto'")       \
    XX(one_broken, 3, "rigged", MUSTER_ERR_UNAVAILABLE, NULL,                                      \
       "not available on rank 1 (host b, pid 101): no such device")                                \
    XX(one_broken, 3, "auto", MUSTER_ERR_UNAVAILABLE, NULL,                                        \
       "not rigged, since it is not available on rank 1 (host b, pid 101): no such device")        \
    XX(one_without, 3, "rigged", MUSTER_ERR_UNAVAILABLE, NULL,                                     \
       "rank 2 (host c, pid 102): no such backend was found there")                                \
    XX(one_without, 3, "auto", MUSTER_ERR_UNAVAILABLE, NULL, "no backend connects these 3 ranks")

static void choose(const who *ranks, int count, const char *asked, muster_status expected,
                   const char *name, const char *words)
{
    roster list;
    choice made;
    make(&list, ranks, count);
    is_int(choice_make(&list, asked, &made), expected, "'%s' for %d ranks", asked, count);
    has_str(expected == MUSTER_OK ? made.why : muster_last_error(), words, "and why");
    ok(name == NULL ? made.host == NULL && made.why == NULL && made.name == NULL
                    : made.host != NULL && strcmp(made.name, name) == 0 &&
                          strcmp(made.host->name, name) == 0,
       "chooses %s", name != NULL ? name : "none");
    free(made.why);
    free(made.name);
    roster_clear(&list);
}

/* Ranks without a plugin, in a process that looks for some in a folder that is not there; the
 * report's number is whether it finds gloo all the same, where muster is installed. */
static int choose_of_none(int index, void *argument, volatile child_report *reports)
{
    static const who alone[] = {{"a", NULL}, {"b", NULL}};
    roster list;
    choice made;
    setenv("MUSTER_BACKEND_PATH", "/no such/folder", 1);
    make(&list, alone, 2);
    muster_status status = choice_make(&list, argument, &made);
    snprintf((char *)reports[index].sentence, sizeof(reports[index].sentence), "%s",
             muster_last_error());
    reports[index].number = backend_find("gloo") != NULL;
    return status;
}

static void no_plugin(void)
{
    child_report any, misspelt, named;
    children_run(1, choose_of_none, (void *)"auto", &any);
    children_run(1, choose_of_none, (void *)"glo", &misspelt);
    children_run(1, choose_of_none, (void *)"gloo", &named);
    if (any.number != 0) {
        skip(8, "a plugin of gloo is installed");
        return;
    }
    is_int(any.status, MUSTER_ERR_UNAVAILABLE, "without a plugin there is no backend for two");
    has_str(any.sentence,
            "no backend connects these 2 ranks: no plugin was found in /no such/folder (no such "
            "folder), /",
            "the folders are named");
    ok(strstr(any.sentence, "put that right") == NULL, "and nothing is to be put right");
    has_str(any.sentence, "install " BACKEND_PACKAGE("gloo"), "and what is to be installed");
    has_str(named.sentence, "there is no backend 'gloo'; install " BACKEND_PACKAGE("gloo"),
            "also to who asks for it by name");
    is_int(misspelt.status, MUSTER_ERR_NOT_FOUND, "nor one whose name is misspelt");
    has_str(misspelt.sentence, "there is no backend 'glo'; did you mean 'gloo'? found were: local;",
            "gloo is meant though it is missing");
    has_str(misspelt.sentence,
            "muster_<name>.so was looked for in /no such/folder (no such folder)",
            "and where it was looked for is said");
}

static const struct {
    const char *what;
    who ranks[MOST];
    int count;
    int rank; /* whose address */
    muster_status status;
    const char *address;
    const char *words;
} addresses[] = {
    {"one host",
     {{"a", GOOD}, {"a", GOOD}},
     2,
     1,
     MUSTER_OK,
     "127.0.0.1",
     "all ranks are on one host"},
    {"one host without a network",
     {{"a", NO_NETWORK}, {"a", NO_NETWORK}},
     2,
     0,
     MUSTER_OK,
     "127.0.0.1",
     "all ranks are on one host"},
    {"one host of IPv6", {{"a", V6}, {"a", GOOD}}, 2, 0, MUSTER_OK, "127.0.0.1", "one host"},
    {"one host and an option",
     {{"a", ASKED}, {"a", ASKED}},
     2,
     0,
     MUSTER_OK,
     "10.9.9.9",
     "rigged.iface"},
    {"one host and loopback by an option",
     {{"a", ASKED_LOOP}, {"a", ASKED_LOOP}},
     2,
     0,
     MUSTER_OK,
     "127.0.0.1",
     "rigged.hostname"},
    {"one host and words that begin like an option",
     {{"a", ROUTED}, {"a", ROUTED}},
     2,
     0,
     MUSTER_OK,
     "127.0.0.1",
     "one host"},
    {"one host and an option of IPv6 on one rank",
     {{"a", GOOD}, {"a", ASKED6}},
     2,
     0,
     MUSTER_ERR_MISMATCH,
     NULL,
     "rank 1 (host a, pid 101) fd00::9"},
    {"two hosts", {{"a", GOOD}, {"b", GOOD}}, 2, 1, MUSTER_OK, "10.0.0.1", "route to the store"},
    {"two hosts, two ranks on one",
     {{"a", GOOD}, {"b", GOOD}, {"b", ASKED}},
     3,
     2,
     MUSTER_OK,
     "10.9.9.9",
     "rigged.iface"},
    {"two hosts of IPv6", {{"a", V6}, {"b", V6}}, 2, 0, MUSTER_OK, "fd00::1", "route to the store"},
    {"two hosts, one on loopback",
     {{"a", LOOP}, {"b", GOOD}},
     2,
     1,
     MUSTER_ERR_MISMATCH,
     NULL,
     "rank 0 (host a, pid 100) would use the loopback address 127.0.0.1"},
    {"two hosts, one on loopback of IPv6",
     {{"a", V6}, {"b", LOOP6}},
     2,
     0,
     MUSTER_ERR_MISMATCH,
     NULL,
     "rank 1 (host b, pid 101) would use the loopback address ::1"},
    {"two hosts, loopback by an option",
     {{"a", GOOD}, {"b", ASKED_LOOP}},
     2,
     0,
     MUSTER_ERR_MISMATCH,
     NULL,
     "127.0.0.1 (rigged.hostname)"},
    {"two hosts of two families",
     {{"a", V6}, {"b", GOOD}},
     2,
     1,
     MUSTER_ERR_MISMATCH,
     NULL,
     "rank 0 (host a, pid 100) would use fd00::1 and rank 1 (host b, pid 101) 10.0.0.1"},
    {"two hosts, one of both families",
     {{"a", V6 SECOND4}, {"b", GOOD}},
     2,
     0,
     MUSTER_OK,
     "10.0.0.7",
     "the family that all ranks have"},
    {"the other one stays with its only address",
     {{"a", V6 SECOND4}, {"b", GOOD}},
     2,
     1,
     MUSTER_OK,
     "10.0.0.1",
     "route to the store"},
    {"two hosts of both families",
     {{"a", V6 SECOND4}, {"b", GOOD SECOND6}},
     2,
     1,
     MUSTER_OK,
     "fd00::7",
     "the family that all ranks have"},
    {"two of both families and one of the second",
     {{"a", V6 SECOND4}, {"b", GOOD SECOND6}, {"c", GOOD}},
     3,
     1,
     MUSTER_OK,
     "10.0.0.1",
     "route to the store"},
    {"no family that all have",
     {{"a", V6 SECOND4}, {"b", GOOD}, {"c", V6}},
     3,
     0,
     MUSTER_ERR_MISMATCH,
     NULL,
     "rank 0 (host a, pid 100) would use fd00::1 and rank 1 (host b, pid 101) 10.0.0.1"},
    {"two hosts, one without a network",
     {{"a", GOOD}, {"b", NO_NETWORK}},
     2,
     0,
     MUSTER_ERR_UNAVAILABLE,
     NULL,
     "rank 1 (host b, pid 101) has no network interface"},
};

enum { NUM_ADDRESSES = sizeof(addresses) / sizeof(*addresses) };

/* All ranks must come to the same verdict. */
static void place(size_t i)
{
    roster list;
    const char *address = NULL, *why = NULL;
    make(&list, addresses[i].ranks, addresses[i].count);
    bool alike = true;
    for (int r = 0; r < addresses[i].count; r++)
        alike =
            alike && handshake_address(&list, "rigged", r, &address, &why) == addresses[i].status;
    ok(alike, "%s", addresses[i].what);
    address = why = NULL;
    handshake_address(&list, "rigged", addresses[i].rank, &address, &why);
    if (addresses[i].status == MUSTER_OK)
        is_str(address, addresses[i].address, "its address");
    else
        ok(address == NULL && why == NULL, "no address");
    has_str(addresses[i].status == MUSTER_OK ? why : muster_last_error(), addresses[i].words,
            "and why");
    roster_clear(&list);
}

static void introduce(void)
{
    muster_store *store = NULL;
    muster_options *options = NULL;
    char *text = NULL, *again = NULL;
    rank_record record, other;
    host_identity me;
    host_identity_get(&me);
    muster_store_hash(&store);
    is_int(init_options(NULL, NULL, NULL, &options), MUSTER_OK, "options");
    is_int(handshake_introduce(store, options, "auto", 3, 5, 0, &text), MUSTER_OK,
           "a rank's record");
    is_int(handshake_introduce(store, options, "auto", 3, 5, 0, &again), MUSTER_OK, "and again");
    if (rank_record_read(&record, muster_str(text)) != MUSTER_OK ||
        rank_record_read(&other, muster_str(again)) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    ok(record.rank == 3 && record.world_size == 5 && record.pid == me.pid &&
           record.start == me.start_time && strncmp(record.loopback, "127.", 4) == 0 &&
           record.cores >= 1 && strcmp(record.asked, "auto") == 0,
       "says who it is");
    is_str(record.host_id, me.host_id, "and where");
    is_str(record.library, muster_version(), "and of which version");
    ok(record.nonce != other.nonce, "two are never the same");
    const rank_backend *rigged = rank_record_backend(&record, "rigged");
    ok(rigged != NULL && *rigged->reason == '\0' && strcmp(rigged->version, "2.10") == 0,
       "what it has");
    ok(rank_record_backend(&record, "local") != NULL, "built in too");
    rank_record_clear(&record);
    rank_record_clear(&other);
    muster_free(text);
    muster_free(again);
    muster_options_free(options);
    muster_store_free(store);
}

int main(void)
{
    enum { NUM_CHOICES = 19 };
    plan(3 * NUM_CHOICES + 3 * NUM_ADDRESSES + 9 + 8);
    unsetenv("MUSTER_OPTIONS");
    unsetenv("MUSTER_RIGGED_FAIL");
    no_plugin();
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/.libs", 1);
#define CHOOSE(ranks, count, asked, status, name, words)                                           \
    choose(ranks, count, asked, status, name, words);
    CHOICES(CHOOSE)
    for (size_t i = 0; i < NUM_ADDRESSES; i++)
        place(i);
    introduce();
    return done();
}
