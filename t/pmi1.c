/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMI-1: the client against a stand-in of the launcher's server, which behaves or does not, and
 * ranks that meet by way of it in Flux's environment. The server here is not Flux's, which Debian
 * 12 does not have; it speaks the same protocol. Hydra's and Slurm's own are in launched.c.
 */
#include "config.h"

#include "launch/pmi1.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "children.h"
#include "environment.h"
#include "pmi1_server.h"
#include "launch/rendezvous.h"
#include "store/store.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { SHORT = 300, LONG = 8000, RANKS = 4 };

/* Sockets of the ranks and the server's ends of them. */
typedef struct scene {
    int ranks;
    int ends[RANKS];
    int server_ends[RANKS];
    pmi1_manner manner;
    int timeout_ms;
    const char *environment; /* further variables */
    bool threads;
} scene;

static void set_scene(scene *s)
{
    for (int i = 0; i < s->ranks; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            bail_out("no socket pair");
        s->ends[i] = pair[0];
        s->server_ends[i] = pair[1];
    }
}

static void strike_scene(const scene *s)
{
    for (int i = 0; i < s->ranks; i++) {
        close(s->ends[i]);
        close(s->server_ends[i]);
    }
}

/* The child after the ranks is the server. Every child keeps its own ends alone, so that a close is
 * seen. */
static bool is_server(const scene *s, int index)
{
    for (int i = 0; i < s->ranks; i++) {
        if (index == s->ranks)
            close(s->ends[i]);
        else {
            close(s->server_ends[i]);
            if (i != index)
                close(s->ends[i]);
        }
    }
    return index == s->ranks;
}

/* As the end of the process would, if its parent had no copy. */
static void hang_up(const scene *s, int index)
{
    shutdown(s->ends[index], SHUT_RDWR);
}

static void quote_error(volatile child_report *report)
{
    snprintf((char *)report->sentence, sizeof(report->sentence), "%s", muster_last_error());
}

/* ---- The client ---------------------------------------------------------------------------- */

static int client(int index, void *argument, volatile child_report *reports)
{
    const scene *s = argument;
    static pmi1 session;
    char environment[64], value[64] = "";
    if (is_server(s, index))
        return pmi1_serve(s->server_ends, s->ranks, s->manner);
    snprintf(environment, sizeof(environment), "PMI_FD=%d", s->ends[index]);
    environment_only(environment);
    muster_status status = pmi1_open(&session, s->timeout_ms);
    if (status == MUSTER_OK)
        status = pmi1_put(&session, "key", "127.0.0.1");
    if (status == MUSTER_OK)
        status = pmi1_barrier(&session);
    if (status == MUSTER_OK)
        status = pmi1_get(&session, "key", value, sizeof(value));
    if (status == MUSTER_OK)
        status = pmi1_close(&session);
    quote_error(&reports[index]);
    if (status == MUSTER_OK)
        snprintf((char *)reports[index].sentence, sizeof(reports[index].sentence), "%s", value);
    hang_up(s, index);
    return (int)status;
}

static const struct {
    const char *name;
    pmi1_manner manner;
    muster_status status;
    const char *words; /* or the value */
} manners[] = {
    {"well", PMI1_WELL, MUSTER_OK, "127.0.0.1"},
    {"byte by byte", PMI1_BYTES, MUSTER_OK, "127.0.0.1"},
    {"silent", PMI1_SILENT, MUSTER_ERR_TIMEOUT,
     "no answer to 'cmd=init pmi_version=1 pmi_subversion=1' within 300 ms"},
    {"an endless barrier", PMI1_NO_BARRIER, MUSTER_ERR_TIMEOUT,
     "no answer to 'cmd=barrier_in' within 300 ms; some rank of the job has not come"},
    {"cut off", PMI1_CUT, MUSTER_ERR_PEER_LOST, "it closed the connection after 'cmd=init"},
    {"gone", PMI1_GONE, MUSTER_ERR_PEER_LOST, "it closed the connection after 'cmd=init"},
    {"nonsense", PMI1_NONSENSE, MUSTER_ERR_PROTOCOL, "was answered with"},
    {"overlong", PMI1_OVERLONG, MUSTER_ERR_PROTOCOL, "has over 4096 characters: \"xxx"},
    {"two lines", PMI1_TWO_LINES, MUSTER_ERR_PROTOCOL, "is not one line"},
    {"a zero", PMI1_ZERO, MUSTER_ERR_PROTOCOL, "is not one line: \"cmd=response_to_init\""},
    {"refusing", PMI1_REFUSES, MUSTER_ERR_PROTOCOL, "rc=-1"},
    {"no name", PMI1_NO_NAME, MUSTER_ERR_PROTOCOL, "no usable kvsname in \"cmd=my_kvsname\""},
    {"a bad limit", PMI1_BAD_MAX, MUSTER_ERR_PROTOCOL, "vallen_max=x is no length"},
    {"a small limit", PMI1_SMALL, MUSTER_ERR_UNSUPPORTED,
     "values of up to 3 characters, and \"127.0.0.1\" has 9"},
    {"forgetful", PMI1_LOSES, MUSTER_ERR_PROTOCOL, "key_key_not_found"},
};

static void client_and_server(void)
{
    for (size_t i = 0; i < COUNT(manners); i++) {
        scene s = {.ranks = 1, .manner = manners[i].manner, .timeout_ms = LONG};
        child_report reports[2];
        bool times_out = manners[i].status == MUSTER_ERR_TIMEOUT;
        if (times_out)
            s.timeout_ms = SHORT;
        set_scene(&s);
        children_run(2, client, &s, reports);
        strike_scene(&s);
        is_int(reports[0].status, manners[i].status, "a server: %s", manners[i].name);
        has_str(reports[0].sentence, manners[i].words, "and what comes of it");
        ok(reports[0].millis < patient(times_out ? SHORT + 1000 : 2000), "in time (%d ms)",
           reports[0].millis);
        if (manners[i].status == MUSTER_OK)
            is_int(reports[1].status, 0, "and the session is ended");
    }
}

/* It is open, and another thing than what the launcher gives; closes it. */
static void bad_descriptor(int fd, const char *words)
{
    pmi1 session;
    char environment[32];
    snprintf(environment, sizeof(environment), "PMI_FD=%d", fd);
    environment_only(environment);
    is_int(pmi1_open(&session, SHORT), MUSTER_ERR_UNAVAILABLE, "nor a stream");
    has_str(muster_last_error(), words, "and what it is");
    close(fd);
}

static void bad_descriptors(void)
{
    pmi1 session;
    environment_only("PMI_FD=x");
    is_int(pmi1_open(&session, SHORT), MUSTER_ERR_ARGUMENT, "PMI_FD is no number");
    has_str(muster_last_error(), "PMI_FD=\"x\"; expected a number", "and why");
    environment_only("PMI_FD=1021");
    is_int(pmi1_open(&session, SHORT), MUSTER_ERR_UNAVAILABLE, "nor open");
    has_str(muster_last_error(),
            "PMI_FD=1021 is no open connection to the launcher's PMI server: whatever started this "
            "process has closed it",
            "and why");
    int pipes[2];
    if (pipe(pipes) != 0)
        bail_out("no pipe");
    bad_descriptor(pipes[0], "server: it is a pipe; set MUSTER_PMI=off");
    close(pipes[1]);
    bad_descriptor(open("/proc/self/exe", O_RDONLY), "server: it is a file;");
    bad_descriptor(open("/dev/null", O_RDWR), "server: it is no socket;");
    bad_descriptor(socket(AF_INET, SOCK_DGRAM, 0), "server: it is a socket, but no stream;");
}

/* ---- Ranks that meet ----------------------------------------------------------------------- */

/* Counts this rank in at a key; the last of all says that all are there. */
static muster_status count_in(muster_store *store, const char *key, int ranks, int64_t *sum)
{
    char name[64];
    snprintf(name, sizeof(name), "%.40s/all", key);
    muster_blob all = muster_str(name);
    muster_status status = muster_store_add(store, muster_str(key), 1, sum);
    if (status == MUSTER_OK && *sum == ranks)
        status = muster_store_set(store, all, all);
    return status;
}

static muster_status wait_for_all(muster_store *store, const char *key)
{
    char name[64];
    snprintf(name, sizeof(name), "%.40s/all", key);
    muster_blob all = muster_str(name);
    return muster_store_wait(store, &all, 1, LONG);
}

/* Every rank of a world counts itself in; rank 0 leaves last, for the server ends with its process.
 */
static muster_status meet(const scene *s, const char *key, int64_t *sum)
{
    rendezvous joined;
    int64_t gone;
    char leave[32];
    snprintf(leave, sizeof(leave), "%s-left", key);
    muster_status status = rendezvous_join(NULL, -1, -1, s->timeout_ms, &joined);
    /* Groups wait for the others before their store goes with its process. */
    if (status == MUSTER_OK && store_served_here(joined.store) != (joined.rank == 0))
        status = MUSTER_ERR_INTERNAL;
    if (status == MUSTER_OK)
        status = count_in(joined.store, key, s->ranks, sum);
    if (status == MUSTER_OK)
        status = wait_for_all(joined.store, key);
    if (status == MUSTER_OK)
        status = muster_store_add(joined.store, muster_str(key), 0, sum);
    if (status == MUSTER_OK)
        status = count_in(joined.store, leave, s->ranks, &gone);
    if (status == MUSTER_OK && joined.rank == 0)
        status = wait_for_all(joined.store, leave);
    muster_store_free(joined.store);
    return status;
}

typedef struct world {
    const scene *s;
    const char *key;
    int64_t sum;
    muster_status status;
    pthread_t thread;
} world;

static void *meet_aside(void *argument)
{
    world *one = argument;
    one->status = meet(one->s, one->key, &one->sum);
    return NULL;
}

/* Two worlds, one after the other or each on a thread of its own. */
static muster_status meet_twice(const scene *s, int64_t *sums)
{
    world worlds[2] = {{.s = s, .key = "first"}, {.s = s, .key = "second"}};
    for (int i = 0; i < 2 && s->threads; i++)
        if (pthread_create(&worlds[i].thread, NULL, meet_aside, &worlds[i]) != 0)
            return MUSTER_ERR_SYSTEM;
    for (int i = 0; i < 2; i++) {
        if (s->threads)
            pthread_join(worlds[i].thread, NULL);
        else
            meet_aside(&worlds[i]);
        sums[i] = worlds[i].sum;
    }
    return worlds[0].status != MUSTER_OK ? worlds[0].status : worlds[1].status;
}

static int rank(int index, void *argument, volatile child_report *reports)
{
    const scene *s = argument;
    char environment[512];
    int64_t sums[2] = {0, 0};
    if (is_server(s, index))
        return pmi1_serve(s->server_ends, s->ranks, s->manner);
    snprintf(environment, sizeof(environment),
             "FLUX_TASK_RANK=%d FLUX_JOB_SIZE=%d FLUX_TASK_LOCAL_ID=%d FLUX_JOB_NNODES=1 "
             "FLUX_JOB_ID=fA1 PMI_RANK=%d PMI_SIZE=%d PMI_FD=%d %s",
             index, s->ranks, index, index, s->ranks, s->ends[index], s->environment);
    environment_only(environment);
    muster_status status = meet_twice(s, sums);
    quote_error(&reports[index]);
    reports[index].number = (long)(100 * sums[0] + sums[1]);
    hang_up(s, index);
    return (int)status;
}

static void run_ranks(scene *s, child_report *reports)
{
    set_scene(s);
    children_run(s->ranks + 1, rank, s, reports);
    strike_scene(s);
}

static void ranks_meet(bool threads)
{
    scene s = {.ranks = RANKS,
               .manner = PMI1_WELL,
               .timeout_ms = LONG,
               .environment = "",
               .threads = threads};
    child_report reports[RANKS + 1];
    run_ranks(&s, reports);
    for (int i = 0; i < RANKS; i++)
        is_int(reports[i].number, 100 * RANKS + RANKS, "rank %d meets all, twice%s: %s", i,
               threads ? " at once" : "",
               reports[i].status == MUSTER_OK ? "well" : reports[i].sentence);
    is_int(reports[RANKS].status, 0, "each begins and ends one session");
}

static void rank_0_fails(void)
{
    scene s = {.ranks = 2,
               .manner = PMI1_WELL,
               .timeout_ms = LONG,
               .environment = "MUSTER_MASTER_ADDR=192.0.2.77"};
    child_report reports[3];
    run_ranks(&s, reports);
    ok(reports[0].status != MUSTER_OK, "rank 0 can't listen at an address that is not its own");
    has_str(reports[0].sentence, "192.0.2.77", "and says which");
    is_int(reports[1].status, MUSTER_ERR_REMOTE, "the other hears of it");
    has_str(reports[1].sentence, "rank 0 can't be met: ", "as rank 0's");
    ok(reports[1].millis < patient(3000), "at once");
}

static void rank_is_late(void)
{
    scene s = {.ranks = 2, .manner = PMI1_NO_BARRIER, .timeout_ms = SHORT, .environment = ""};
    child_report reports[3];
    run_ranks(&s, reports);
    is_int(reports[1].status, MUSTER_ERR_TIMEOUT, "a rank that does not come is a time-out");
    has_str(reports[1].sentence, "has not come to the same call", "which says so");
    has_str(reports[1].sentence, "rank 1 of 2", "and who says it");
}

int main(void)
{
    plan((int)(3 * COUNT(manners) + 2 + 4 + 8 + 2 * (RANKS + 1) + 5 + 3));
    client_and_server();
    bad_descriptors();
    ranks_meet(false);
    ranks_meet(true);
    rank_0_fails();
    rank_is_late();
    return done();
}
