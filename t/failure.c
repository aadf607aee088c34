/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank that fails in each of the ways that a backend can: all ranks get a clean error that names
 * it, and none hangs. The ranks are threads on the stand-in backend.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/error.h"
#include "group/failure.h"
#include "mortal_store.h"
#include "tap.h"

enum { RANKS = 3, TURNS = 60, TIMEOUT_MS = 1500, ALL_MS = 8000 };

typedef struct rank {
    pthread_t thread;
    int number;
    const char *options;
    muster_group *group;
    muster_status status;
    char sentence[ERROR_SIZE];
    int turns; /* that went well */
    bool right;
} rank;

static muster_store *store;
static rank ranks[RANKS];

static void keep(rank *self, muster_status status)
{
    self->status = status;
    snprintf(self->sentence, sizeof(self->sentence), "%s",
             status == MUSTER_OK ? "" : muster_last_error());
}

static muster_status join(rank *self)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.backend = "rigged";
    args.store = store;
    args.rank = self->number;
    args.world_size = RANKS;
    args.timeout_ms = TIMEOUT_MS;
    args.group_name = "g";
    args.options = self->options;
    return muster_init_process_group(&self->group, &args);
}

static void *only_join(void *argument)
{
    rank *self = argument;
    keep(self, join(self));
    return NULL;
}

/* Small and large sums in turn, so many, or until one fails where one is to. */
static void *join_and_reduce(void *argument)
{
    rank *self = argument;
    static int32_t large[RANKS][1000];
    int32_t *data = large[self->number];
    muster_status status = join(self);
    deadline end = deadline_in(self->options != NULL ? ALL_MS : 0);
    self->right = true;
    for (int i = 0; status == MUSTER_OK && (i < TURNS || deadline_left_ms(end) > 0); i++) {
        size_t count = i % 2 == 0 ? 1 : 1000;
        for (size_t k = 0; k < count; k++)
            data[k] = self->number + 1;
        status = muster_all_reduce(self->group, data, data, count, MUSTER_INT32, MUSTER_SUM, NULL);
        self->turns += status == MUSTER_OK;
        for (size_t k = 0; status == MUSTER_OK && k < count; k++)
            self->right = self->right && data[k] == RANKS * (RANKS + 1) / 2;
    }
    keep(self, status);
    return NULL;
}

static int64_t run(void *(*body)(void *), const char *options)
{
    int64_t began = deadline_now_ns();
    memset(ranks, 0, sizeof(ranks));
    for (int r = 0; r < RANKS; r++) {
        ranks[r].number = r;
        ranks[r].options = options;
        pthread_create(&ranks[r].thread, NULL, body, &ranks[r]);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(ranks[r].thread, NULL);
    return (deadline_now_ns() - began) / 1000000;
}

static void part(void)
{
    for (int r = 0; r < RANKS; r++)
        muster_group_free(ranks[r].group);
}

static void tell(void)
{
    for (int r = 0; r < RANKS; r++)
        diag("rank %d: status %d, %s", r, ranks[r].status, ranks[r].sentence);
}

/* The words of all ranks hold the part. */
static bool all_say(const char *part)
{
    bool said = true;
    for (int r = 0; r < RANKS; r++)
        said = said && strstr(ranks[r].sentence, part) != NULL;
    if (!said)
        tell();
    return said;
}

static bool all_failed(muster_status status)
{
    bool failed = true;
    for (int r = 0; r < RANKS; r++)
        failed = failed && ranks[r].status == status;
    if (!failed)
        tell();
    return failed;
}

static void works_again(const char *after)
{
    run(join_and_reduce, NULL);
    bool right = true;
    for (int r = 0; r < RANKS; r++)
        right = right && ranks[r].status == MUSTER_OK && ranks[r].right && ranks[r].turns == TURNS;
    if (!ok(right, "after %s a group of the same name works", after))
        tell();
    part();
}

/* user case 23: a failure while the group is made. */
static const struct {
    const char *fail;
    muster_status status;
    const char *words;
} makings[] = {
    {"open:1", MUSTER_ERR_SYSTEM, "rank 1 is rigged to fail in open"},
    {"open:0", MUSTER_ERR_SYSTEM, "rank 0 is rigged to fail in open"},
    {"open_late:1", MUSTER_ERR_SYSTEM, "rank 1 is rigged to fail in open_late"},
    {"open_late:2", MUSTER_ERR_SYSTEM, "rank 2 is rigged to fail in open_late"},
    {"send:1", MUSTER_ERR_SYSTEM, "rank 1 is rigged to fail in send"},
    {"recv:2", MUSTER_ERR_SYSTEM, "rank 2 is rigged to fail in recv"},
    {"wait:1", MUSTER_ERR_PEER_LOST, "rank 1 is rigged to fail in wait"},
};

/* user case 23: a failure of a group that works. */
static const struct {
    const char *fail;
    muster_status status;
    const char *words;
} workings[] = {
    {"send:1@31", MUSTER_ERR_SYSTEM, "rank 1 is rigged to fail in send"},
    {"recv:0@31", MUSTER_ERR_SYSTEM, "rank 0 is rigged to fail in recv"},
    {"recv:2@40", MUSTER_ERR_SYSTEM, "rank 2 is rigged to fail in recv"},
    {"wait:1@51", MUSTER_ERR_PEER_LOST, "rank 1 is rigged to fail in wait"},
    {"break:2@31", MUSTER_ERR_PEER_LOST, "rigged to break"},
    {"hang:1@51", MUSTER_ERR_TIMEOUT, "timed out after 1500 ms in all_reduce"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *option_of(const char *fail)
{
    static char text[64];
    snprintf(text, sizeof(text), "rigged.fail=%s", fail);
    return text;
}

static void while_made(size_t i)
{
    int64_t took = run(only_join, option_of(makings[i].fail));
    bool none = true;
    for (int r = 0; r < RANKS; r++)
        none = none && ranks[r].group == NULL;
    ok(all_failed(makings[i].status), "%s: no rank has a group", makings[i].fail);
    ok(all_say(makings[i].words), "all name the cause");
    ok(none && took < ALL_MS, "nothing is handed over, and none hangs (%lld ms)", (long long)took);
    part();
    works_again(makings[i].fail);
}

/* A failed group says the same at every call, at once. */
/* A sentence without the group, the rank and the call in front. */
static const char *cause_in(const char *sentence)
{
    const char *function = strstr(sentence, ", muster_");
    const char *colon = function == NULL ? NULL : strstr(function, ": ");
    if (colon != NULL && strncmp(colon, ": in ", 5) == 0)
        colon = strstr(colon + 1, ": ");
    return colon == NULL ? sentence : colon + 2;
}

static bool stays_failed(rank *self)
{
    char checked[ERROR_SIZE];
    if (muster_group_check(self->group) != self->status)
        return false;
    snprintf(checked, sizeof(checked), "%s", muster_last_error());
    int64_t began = deadline_now_ns();
    bool same = muster_barrier(self->group, NULL) == self->status &&
                strcmp(cause_in(self->sentence), cause_in(checked)) == 0;
    if (!same)
        diag("was: %s\n# check: %s\n# now: %s", self->sentence, checked, muster_last_error());
    return same && deadline_now_ns() - began < INT64_C(500000000);
}

static void while_working(size_t i)
{
    int64_t took = run(join_and_reduce, option_of(workings[i].fail));
    bool right = true, stays = true;
    for (int r = 0; r < RANKS; r++) {
        right = right && ranks[r].right && ranks[r].group != NULL && ranks[r].turns > 0;
        stays = stays && ranks[r].group != NULL && stays_failed(&ranks[r]);
    }
    ok(all_failed(workings[i].status), "%s: all ranks get an error", workings[i].fail);
    ok(all_say(workings[i].words), "all name the cause");
    ok(right && took < ALL_MS, "what went before was right, and none hangs (%lld ms)",
       (long long)took);
    ok(stays, "the group stays failed, and says the same at once");
    part();
    works_again(workings[i].fail);
}

static atomic_int store_host;

/* At rank 1's first message of the test of the group. */
static void kill_store(void *user, muster_log_level level, const char *line)
{
    (void)user;
    (void)level;
    pid_t host = strstr(line, "rank 1 sent ") != NULL ? atomic_exchange(&store_host, 0) : 0;
    if (host != 0) {
        kill(host, SIGKILL);
        waitpid(host, NULL, 0);
    }
}

/* A rank seems to be lost while the group is made, when the store has just gone: it may have failed
 * because of that. */
static void without_store(void)
{
    muster_store *before = store;
    pid_t host = 0;
    store = mortal_store(TIMEOUT_MS, &host);
    atomic_store(&store_host, host);
    muster_set_log(kill_store, NULL, MUSTER_LOG_DEBUG);
    run(only_join, "rigged.fail=wait:1,rigged.trace=yes,rigged.delay_ms=100");
    muster_set_log(NULL, NULL, MUSTER_LOG_NONE);
    bool none = true, blamed = true;
    for (int r = 0; r < RANKS; r++) {
        none = none && ranks[r].group == NULL;
        blamed = blamed && strstr(ranks[r].sentence, "of 3: tcp store 127.0.0.1") != NULL;
    }
    ok(none && atomic_load(&store_host) == 0, "the store goes while a group is made");
    if (!ok(blamed && strstr(ranks[1].sentence, "; besides, rank ") != NULL,
            "that is said before what may have come of it"))
        tell();
    part();
    muster_store_free(store);
    store = before;
}

/* In a process of its own, since a backend is probed once in each. */
static void in_probe(void)
{
    int pipes[2];
    static struct {
        muster_status status;
        char sentence[ERROR_SIZE];
    } told;
    if (pipe(pipes) != 0)
        bail_out("no pipe");
    pid_t child = fork();
    if (child == 0) {
        setenv("MUSTER_RIGGED_FAIL", "probe", 1);
        muster_store_hash(&store);
        run(only_join, NULL);
        told.status = ranks[1].status;
        snprintf(told.sentence, sizeof(told.sentence), "%s", ranks[1].sentence);
        bool alike = all_failed(told.status) && all_say("it is rigged to fail in probe");
        _exit(write(pipes[1], &told, sizeof(told)) == sizeof(told) && alike ? 0 : 1);
    }
    int exited = -1;
    bool read_all = read(pipes[0], &told, sizeof(told)) == sizeof(told);
    waitpid(child, &exited, 0);
    close(pipes[0]);
    close(pipes[1]);
    ok(read_all && WIFEXITED(exited) && WEXITSTATUS(exited) == 0,
       "a backend that can't be had: all ranks say why");
    is_int(told.status, MUSTER_ERR_UNAVAILABLE, "it is not available");
    has_str(told.sentence, "backend 'rigged' was asked for, but it is not available on rank 0",
            "on the first that lacks it");
}

int main(void)
{
    plan(3 + 2 + 4 * (int)COUNT(makings) + 5 * (int)COUNT(workings));
    unsetenv("MUSTER_OPTIONS");
    unsetenv("MUSTER_RIGGED_FAIL");
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/.libs", 1);
    in_probe();
    muster_store_hash(&store);
    for (size_t i = 0; i < COUNT(makings); i++)
        while_made(i);
    for (size_t i = 0; i < COUNT(workings); i++)
        while_working(i);
    without_store();
    muster_store_free(store);
    return done();
}
