/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which backends ranks with devices choose, from records that are made by hand here; when a backend
 * with devices is probed; and what a process says of its devices.
 */
#include "group/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/device_memory.h"
#include "group/devices.h"
#include "group/seats.h"
#include "group/handshake.h"
#include "group/init.h"
#include "tap.h"

enum { MOST = 4 };

/* One rank: its host, its lines about "rigged" and "toy" without the names, those that settle its
 * device, and its devices. */
typedef struct who {
    const char *host;
    const char *rigged;
    const char *toy;
    const char *devices;
} who;

#define HAS "1\t\t10.0.0.1\teth0\troute to the store"
#define NEWER "2\t\t10.0.0.1\teth0\troute to the store"
#define LACKS "\tall devices are hidden\t\t\t"
#define USES(n) "uses\ttoy\t" #n "\tthe current device\n"
#define GPU(n, uuid, bus) "device\ttoy\t" #n "\twhole\t" uuid "\t" bus "\tToy\n"
#define SLICE(n, uuid, bus) "device\ttoy\t" #n "\tslice\t" uuid "\t" bus "\tToy\n"
#define ONE(uuid, bus) USES(0) GPU(0, uuid, bus)
#define SHARES "memory\t\n"
#define STANDS                                                                                     \
    "placement\tauto\nstanding\tcpus=0-3 allowed=0-3 bound=0 cores=0/0/4/1/0 "                     \
    "gpu=0/0/0/0/0-3/0000:01:00.0/GPU-a gpu=1/0/0/0/0-3/0000:02:00.0/GPU-b\n"
#define TWO GPU(0, "GPU-a", "01") GPU(1, "GPU-b", "02") STANDS

static void make(roster *list, const who *ranks, int count)
{
    char texts[MOST][1024];
    muster_blob blobs[MOST];
    for (int r = 0; r < count; r++) {
        snprintf(texts[r], sizeof(texts[r]),
                 "host\t%s\nhost_id\tid-%s\npid\t%d\nworld_size\t%d\nrank\t%d\n"
                 "backend\tlocal\t1\t\t\t\t\n%s%s%s%s%s%s%s",
                 ranks[r].host, ranks[r].host, 100 + r, count, r,
                 ranks[r].rigged != NULL ? "backend\trigged\t" : "",
                 ranks[r].rigged != NULL ? ranks[r].rigged : "", "\n",
                 ranks[r].toy != NULL ? "backend\ttoy\t" : "",
                 ranks[r].toy != NULL ? ranks[r].toy : "", "\n",
                 ranks[r].devices != NULL ? ranks[r].devices : "");
        blobs[r] = muster_str(texts[r]);
    }
    if (roster_read(list, blobs, count) != MUSTER_OK)
        bail_out("no roster: %s", muster_last_error());
    if (seats_settle(list) != MUSTER_OK)
        bail_out("no seats: %s", muster_last_error());
}

static const struct {
    const char *what;
    const char *asked;
    who ranks[MOST];
    int count;
    const char *name;  /* of what is chosen */
    const char *words; /* why */
} choices[] = {
    {"a GPU for every rank",
     "auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"a", HAS, HAS, ONE("GPU-b", "02")}},
     2,
     "cpu:rigged,cuda:toy",
     "auto: all 2 ranks have a GPU of their own"},
    {"and nothing for the host",
     "auto",
     {{"a", NULL, HAS, ONE("GPU-a", "01")}, {"a", HAS, HAS, ONE("GPU-b", "02")}},
     2,
     "toy",
     "own; not rigged, since it is not available on rank 0"},
    {"the device alone",
     "toy",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, HAS, ONE("GPU-b", "01")}},
     2,
     "toy",
     "asked for"},
    {"the device alone, as for torch",
     "cuda:toy",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, HAS, ONE("GPU-b", "01")}},
     2,
     "toy",
     "asked for"},
    {"both by name",
     "cpu:rigged,cuda:toy",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, HAS, ONE("GPU-b", "01")}},
     2,
     "cpu:rigged,cuda:toy",
     "asked for"},
    {"both the other way round",
     "cuda:toy,cpu:rigged",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, HAS, ONE("GPU-b", "01")}},
     2,
     "cpu:rigged,cuda:toy",
     "asked for"},
    {"the host alone by name",
     "cpu:rigged",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"a", HAS, HAS, ONE("GPU-b", "02")}},
     2,
     "rigged",
     "asked for"},
    {"the best of the host",
     "cpu:auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"a", HAS, HAS, ONE("GPU-b", "02")}},
     2,
     "rigged",
     "the best one that all 2 ranks have"},
    {"one rank", "auto", {{"a", HAS, HAS, ONE("GPU-a", "01")}}, 1, "local", "a group of one rank"},
    {"one rank and its device", "toy", {{"a", HAS, HAS, ONE("GPU-a", "01")}}, 1, "toy", "asked"},
    {"two ranks on one GPU",
     "auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"a", HAS, HAS, ONE("GPU-a", "01")}},
     2,
     "rigged",
     "not toy, since rank 0 (host a, pid 100) and rank 1 (host a, pid 101) have the same GPU, "
     "GPU-a (Toy)"},
    {"two ranks at one place of the bus",
     "auto",
     {{"a", HAS, HAS, ONE("", "01")}, {"a", HAS, HAS, ONE("", "01")}},
     2,
     "rigged",
     "have the same GPU, 01 (Toy)"},
    {"two hosts with one place of the bus",
     "auto",
     {{"a", HAS, HAS, ONE("", "01")}, {"b", HAS, HAS, ONE("", "01")}},
     2,
     "cpu:rigged,cuda:toy",
     "all 2 ranks"},
    {"a rank without a device",
     "auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, LACKS, NULL}},
     2,
     "rigged",
     "not toy, since rank 1 (host b, pid 101): all devices are hidden"},
    {"several without",
     "auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")},
      {"b", HAS, LACKS, NULL},
      {"b", HAS, NULL, NULL},
      {"b", HAS, LACKS, NULL}},
     4,
     "rigged",
     "not toy, since rank 1 (host b, pid 101): all devices are hidden; nor can ranks 2-3 use one"},
    {"a rank without the backend",
     "auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, NULL, NULL}},
     2,
     "rigged",
     "rank 1 (host b, pid 101): no such backend was found there"},
    {"a slice",
     "auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, HAS, USES(0) SLICE(0, "MIG-b", "01")}},
     2,
     "rigged",
     "rank 1 (host b, pid 101) has a slice of a GPU, MIG-b"},
    {"other versions",
     "auto",
     {{"a", HAS, HAS, ONE("GPU-a", "01")}, {"b", HAS, NEWER, ONE("GPU-b", "01")}},
     2,
     "rigged",
     "rank 0 (host a, pid 100) has version 1 of toy, but rank 1 (host b, pid 101) has 2"},
    {"devices in the order of ranks",
     "auto",
     {{"a", HAS, HAS, TWO}, {"b", HAS, HAS, TWO}, {"a", HAS, HAS, TWO}, {"b", HAS, HAS, TWO}},
     4,
     "cpu:rigged,cuda:toy",
     "all 4 ranks"},
    {"more ranks than devices",
     "auto",
     {{"a", HAS, HAS, TWO}, {"a", HAS, HAS, TWO}, {"a", HAS, HAS, TWO}},
     3,
     "rigged",
     "rank 2 (host a, pid 102) has no GPU of its own: host 'a' has 2 GPUs for 3 ranks: rank 2 has "
     "none"},
    {"memory that is shared",
     "auto",
     {{"a", NULL, NULL, SHARES}, {"a", HAS, NULL, SHARES}},
     2,
     "local",
     "auto: all 2 ranks are on one host and share its memory; not toy, since rank 0 "},
    {"memory that one rank does not share",
     "cpu:auto",
     {{"a", HAS, NULL, SHARES}, {"a", HAS, NULL, "memory\tit is off\n"}},
     2,
     "rigged",
     "auto: the best one that all 2 ranks have"},
    {"memory that ranks of several hosts could share",
     "auto",
     {{"a", HAS, NULL, SHARES}, {"a", HAS, NULL, SHARES}, {"b", HAS, NULL, SHARES}},
     3,
     "rigged",
     "the best one that all 3 ranks have"},
    {"a GPU for every rank, and memory that is shared",
     "auto",
     {{"a", HAS, HAS, SHARES ONE("GPU-a", "01")}, {"a", NULL, HAS, SHARES ONE("GPU-b", "02")}},
     2,
     "cpu:local,cuda:toy",
     "own; all ranks are on one host and share its memory"},
    {"memory of another container",
     "cpu:auto",
     {{"a", HAS, NULL, SHARES}, {"a", HAS, NULL, SHARES "pid_space\t7\n"}},
     2,
     "rigged",
     "auto: the best one that all 2 ranks have"},
    {"memory of another user",
     "cpu:auto",
     {{"a", HAS, NULL, SHARES "access\tuser 1\n"}, {"a", HAS, NULL, SHARES "access\tuser 2\n"}},
     2,
     "rigged",
     "auto: the best one that all 2 ranks have"},
    {"another backend by name",
     "rigged",
     {{"a", HAS, NULL, SHARES}, {"a", HAS, NULL, SHARES}},
     2,
     "rigged",
     "asked for"},
};

/* What is chosen can be asked for; where "auto" goes another way asking says the same reason. */
static void ask_for_it(const roster *list, size_t i)
{
    choice made;
    if (strcmp(choices[i].name, "rigged") != 0 || strcmp(choices[i].asked, "auto") != 0 ||
        strstr(choices[i].words, "rank ") == NULL) {
        is_int(choice_make(list, choices[i].name, &made), MUSTER_OK, "%s: '%s' by name",
               choices[i].what, choices[i].name);
        is_str(made.name, choices[i].name, "is chosen again");
        free(made.name);
        free(made.why);
        return;
    }
    is_int(choice_make(list, "cpu:rigged,cuda:toy", &made), MUSTER_ERR_UNAVAILABLE, "%s: asked for",
           choices[i].what);
    const char *words = strstr(choices[i].words, "since ");
    has_str(muster_last_error(), words != NULL ? words + strlen("since ") : choices[i].words,
            "says the same");
}

static void choose(size_t i)
{
    roster list;
    choice made;
    make(&list, choices[i].ranks, choices[i].count);
    is_int(choice_make(&list, choices[i].asked, &made), MUSTER_OK, "%s: '%s'", choices[i].what,
           choices[i].asked);
    is_str(made.name != NULL ? made.name : "", choices[i].name, "is chosen");
    has_str(made.why != NULL ? made.why : muster_last_error(), choices[i].words, "and why");
    free(made.name);
    free(made.why);
    ask_for_it(&list, i);
    roster_clear(&list);
}

static const struct {
    const char *asked;
    const char *words;
} wrongs[] = {
    {"cpu:toy", "'toy' carries device memory"},
    {"cpu:toy,cuda:toy", "'toy' carries device memory"},
    {"cpu:rigged,toy", "ask for 'auto'"},
    {"cuda:toy,cuda:toy", "ask for 'auto'"},
    {",", "ask for 'auto'"},
    {"cpu:rigged,cuda:local", "neither has devices"},
};
enum { NUM_CHOICES = sizeof(choices) / sizeof(*choices) };
enum { NUM_WRONGS = sizeof(wrongs) / sizeof(*wrongs) };

static void refuse(size_t i)
{
    roster list;
    choice made;
    const who one[] = {{"a", HAS, HAS, ONE("GPU-a", "01")}};
    make(&list, one, 1);
    is_int(choice_make(&list, wrongs[i].asked, &made), MUSTER_ERR_UNAVAILABLE, "'%s'",
           wrongs[i].asked);
    has_str(muster_last_error(), wrongs[i].words, "says why");
    roster_clear(&list);
}

/* Ranks of one host that share no memory, and have nothing else. */
static const struct {
    const char *what;
    const char *asked;
    const char *memory; /* of rank 1, whose access is "user 2" */
    const char *words;
} unshared[] = {
    {"nor has any other backend", "cpu:auto", "memory\tit is off\n",
     "no backend connects these 2 ranks; not local, since rank 1 (host a, pid 101) shares no "
     "memory: it is off; not rigged, since it is not available on rank 0 (host a, pid 100): no "
     "such backend was found there; put that right, or install "},
    {"two users", "cpu:auto", SHARES,
     "rank 1 (host a, pid 101) shares no memory: it runs as user 2, but rank 0 (host a, pid 100) "
     "as user 1; not rigged"},
    {"two containers", "cpu:auto", SHARES "pid_space\t7\n", "it runs in another pid namespace"},
    {"by name", "local", "memory\tit is off\n",
     "backend 'local' was asked for, but rank 1 (host a, pid 101) shares no memory: it is off; put "
     "that right, or ask for 'gloo'"},
};
enum { NUM_UNSHARED = sizeof(unshared) / sizeof(*unshared) };

static void share_nothing(size_t i)
{
    roster list;
    choice made;
    char access[256];
    snprintf(access, sizeof(access), "access\tuser 2\n%s", unshared[i].memory);
    const who both[] = {{"a", NULL, NULL, SHARES "access\tuser 1\n"}, {"a", NULL, NULL, access}};
    make(&list, both, 2);
    is_int(choice_make(&list, unshared[i].asked, &made), MUSTER_ERR_UNAVAILABLE, "%s",
           unshared[i].what);
    has_str(muster_last_error(), unshared[i].words, "says why");
    roster_clear(&list);
}

/* ---- probing ---- */

static int probes(void)
{
    const char *text = getenv("MUSTER_TOY_PROBES");
    return text == NULL ? 0 : atoi(text);
}

static void probing(void)
{
    const backend_entry *before = backend_find("toy");
    ok(before != NULL && !before->probed && !before->available && probes() == 0,
       "a backend with devices is found, and not probed");
    has_str(before->reason, "nothing asked for it", "and says so");
    choice_look("rigged", 8);
    choice_look("auto", 1);
    choice_look("cpu:auto", 8);
    choice_look("cpu:rigged", 8);
    choice_look("a,b,c", 8);
    ok(probes() == 0 && !backend_find("toy")->probed, "not for others, and not for one rank");
    choice_look("auto", 2);
    const backend_entry *after = backend_find("toy");
    ok(probes() == 1 && after != NULL && after->probed && after->available &&
           strcmp(after->info.version, "1.5") == 0,
       "it is for several");
    ok(!before->probed && !before->available, "who had the entry still has it as it was");
    choice_look("toy", 1);
    backend_look_at(NULL);
    is_int(probes(), 1, "and never again");
}

/* ---- what a process says ---- */

static char *introduce(const char *text, int told)
{
    muster_store *store = NULL;
    muster_options *options = NULL;
    char *record = NULL;
    muster_store_hash(&store);
    if (init_options(NULL, NULL, text, &options) != MUSTER_OK ||
        handshake_introduce(store, options, "auto", 0, 1, told, &record) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    muster_options_free(options);
    muster_store_free(store);
    return record;
}

static const struct {
    const char *what, *devices, *current, *options;
    int told;
    const char *words;
    bool lists_others;
} claims[] = {
    {"several", "3", NULL, NULL, 0, "device\ttoy\t2\twhole\tGPU-2\t0000:02:00.0\tToy 2\n", true},
    {"an option", "3", "1", "toy.device=2", 1, "uses\ttoy\t2\tan option\n", false},
    {"the current one", "3", "1", NULL, 1, "uses\ttoy\t1\tthe current device\n", false},
    {"that is in use", "3", "1", NULL, 1, "in_use\t1\n", false},
    {"the only one is not settled on", "1", NULL, NULL, 3, "device\ttoy\t0\twhole\t", false},
    {"the local rank settles nothing", "3", NULL, NULL, 2, " gpu=1/", true},
    {"what an option settled", "3", "1", "toy.device=2", 1, " settled=user/2 ", false},
    {"what is made use of", "3", "1", NULL, 1, " settled=use/1 ", false},
    {"no wish", "3", NULL, NULL, 0, "\nplacement\tauto\n", true},
    {"a list", "3", NULL, "placement_list=2@0", 0, "\nplacement\texplicit\nlist\t2@0\n", true},
    {"fewer than ranks", "2", NULL, NULL, 3, "device\ttoy\t0\twhole", true},
    {"one that is not there", "2", NULL, "toy.device=2", 0,
     "toy.device is 2, but this process has 2 devices, 0 to 1", false},
    {"one below all", "2", NULL, "toy.device=-1", 0,
     "toy.device is -1, but devices are counted from 0 on", false},
    {"none that can be counted", "-1", NULL, NULL, 0, "backend\ttoy\t1.5\ta toy does nothing",
     false},
};
enum { NUM_CLAIMS = sizeof(claims) / sizeof(*claims) };

static void set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void say_devices(size_t i)
{
    rank_record read;
    set("MUSTER_TOY_DEVICES", claims[i].devices);
    set("MUSTER_TOY_CURRENT", claims[i].current);
    char *record = introduce(claims[i].options, claims[i].told);
    has_str(record, claims[i].words, "%s", claims[i].what);
    is_int(strstr(record, "device\ttoy\t0") != NULL && strstr(record, "device\ttoy\t1") != NULL,
           claims[i].lists_others, "all are listed where none is settled on");
    if (rank_record_read(&read, muster_str(record)) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    const rank_device *mine = rank_record_device(&read, "toy");
    ok((mine != NULL) == (strstr(record, "uses\ttoy") != NULL), "it is read as it was written");
    rank_record_clear(&read);
    muster_free(record);
}

/* Options that the version found lacks are found out once it is known. */
static void versions(void)
{
    muster_options *options = NULL;
    is_int(init_options(NULL, NULL, "toy.newer=1", &options), MUSTER_ERR_UNSUPPORTED,
           "an option that is too new");
    has_str(muster_last_error(), "it needs toy 1.6 or later, and 1.5 was found", "says why");
}

static void memory(void)
{
    char words[64];
    set("MUSTER_TOY_CURRENT", NULL);
    ok(device_memory_in_use() == NULL && device_memory_table() == NULL,
       "a process that uses no devices");
    set("MUSTER_TOY_CURRENT", "0");
    ok(device_memory_in_use() != NULL && device_memory_table() != NULL, "one that does");
    is_str(device_memory_words(&(muster_memory_place){.kind = MUSTER_MEMORY_HOST}, words,
                               sizeof(words)),
           "host memory", "host memory in words");
    is_str(device_memory_words(&(muster_memory_place){.kind = MUSTER_MEMORY_DEVICE, .device = 3},
                               words, sizeof(words)),
           "memory of device 3", "a device's");
    is_str(device_memory_words(&(muster_memory_place){.kind = MUSTER_MEMORY_MANAGED, .device = 1},
                               words, sizeof(words)),
           "managed memory of device 1", "managed memory");
}

int main(void)
{
    plan(6 + 5 * NUM_CHOICES + 2 * (NUM_WRONGS + NUM_UNSHARED) + 3 * NUM_CLAIMS + 2 + 5);
    unsetenv("MUSTER_OPTIONS");
    unsetenv("MUSTER_RIGGED_FAIL");
    unsetenv("MUSTER_TOY_PROBES");
    unsetenv("MUSTER_TOY_CURRENT");
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/.libs:" PLUGINS "/gpu/.libs", 1);
    probing();
    for (size_t i = 0; i < NUM_CHOICES; i++)
        choose(i);
    for (size_t i = 0; i < NUM_WRONGS; i++)
        refuse(i);
    for (size_t i = 0; i < NUM_UNSHARED; i++)
        share_nothing(i);
    for (size_t i = 0; i < NUM_CLAIMS; i++)
        say_devices(i);
    versions();
    memory();
    return done();
}
