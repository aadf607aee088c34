/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that meet over loopback, each a process with an environment of its own, and those that
 * don't. User cases 1, 10 and 11 as far as one machine shows them.
 */
#include "config.h"

#include "launch/rendezvous.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "children.h"
#include "store/store.h"
#include "ranks_port.h"
#include "tap.h"

enum { LONG = 10000, SHORT = 300 };

/* An address of the loopback network that no other test uses at this time, and a port that was
 * free on it: nobody else can take that between now and its use. */
static char address[INET_ADDRSTRLEN];

static int free_port(int *holder)
{
    struct sockaddr_in local = {.sin_family = AF_INET};
    socklen_t size = sizeof(local);
    inet_pton(AF_INET, address, &local.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&local, size) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&local, &size) != 0)
        bail_out("no port on %s", address);
    if (holder != NULL)
        *holder = fd;
    else
        close(fd);
    return ntohs(local.sin_port);
}

static void environment_clear(void)
{
    static const char *const names[] = {"RANK",
                                        "WORLD_SIZE",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "MUSTER_JOB_ID",
                                        "TORCHELASTIC_USE_AGENT_STORE",
                                        "TORCHELASTIC_RUN_ID",
                                        "TORCHELASTIC_RESTART_COUNT"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

static void environment_number(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    setenv(name, text, 1);
}

typedef struct meeting {
    char method[512];
    int ranks;
    int port;
    bool environment; /* rank and size by the environment, else by arguments */
    bool agent;       /* one more child runs the server */
    int restart;
    const char *job;
} meeting;

static void report_error(volatile child_report *report)
{
    snprintf((char *)report->sentence, sizeof(report->sentence), "%s", muster_last_error());
}

/* Every rank counts itself in and waits until all are there; rank 0 leaves last, for the server may
 * end with it. report->number is what the count came to. */
static muster_status meet(const rendezvous *joined, volatile child_report *report)
{
    muster_blob last = muster_str("last"), gone = muster_str("gone"), all_gone = muster_str("all");
    int64_t sum;
    muster_status status = muster_store_add(joined->store, muster_str("arrived"), 1, &sum);
    if (status == MUSTER_OK && sum == joined->world_size)
        status = muster_store_set(joined->store, last, muster_str("x"));
    if (status == MUSTER_OK)
        status = muster_store_wait(joined->store, &last, 1, LONG);
    if (status == MUSTER_OK)
        status = muster_store_add(joined->store, muster_str("arrived"), 0, &sum);
    report->number = (long)sum;
    int64_t left;
    if (status == MUSTER_OK)
        status = muster_store_add(joined->store, gone, 1, &left);
    if (status == MUSTER_OK && left == joined->world_size)
        status = muster_store_set(joined->store, all_gone, muster_str("x"));
    if (status == MUSTER_OK && joined->rank == 0)
        status = muster_store_wait(joined->store, &all_gone, 1, LONG);
    return status;
}

/* The part of torchrun's agent: a server that outlives the ranks. */
static int agent(const meeting *what, volatile child_report *reports)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    muster_store *store;
    char key[64];
    args.host = address;
    args.listen = true;
    args.timeout_ms = LONG;
    muster_status status = muster_store_tcp(&store, &args);
    reports[what->ranks].number = status == MUSTER_OK ? muster_store_port(store) : -1;
    snprintf(key, sizeof(key), "job/%s/attempt/%d/all", what->job, what->restart);
    muster_blob blob = muster_str(key);
    if (status == MUSTER_OK)
        status = muster_store_wait(store, &blob, 1, LONG);
    if (status != MUSTER_OK)
        report_error(&reports[what->ranks]);
    for (int i = 0; i < what->ranks; i++) /* the agent outlives all of them */
        while (status == MUSTER_OK && !reports[i].left)
            usleep(1000);
    muster_store_free(store);
    return status;
}

static int one_rank(int index, void *argument, volatile child_report *reports)
{
    const meeting *what = argument;
    rendezvous joined;
    environment_clear();
    if (index == what->ranks)
        return agent(what, reports);
    int port = what->port;
    while (what->agent && (port = (int)reports[what->ranks].number) == 0)
        usleep(1000);
    if (what->environment) {
        environment_number("RANK", index);
        environment_number("WORLD_SIZE", what->ranks);
        setenv("MASTER_ADDR", address, 1);
        environment_number("MASTER_PORT", port);
    }
    if (what->agent)
        setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);
    environment_number("TORCHELASTIC_RESTART_COUNT", what->restart);
    if (what->job != NULL)
        setenv("MUSTER_JOB_ID", what->job, 1);
    muster_status status = rendezvous_join(what->method, what->environment ? -1 : index,
                                           what->environment ? -1 : what->ranks, LONG, &joined);
    if (status == MUSTER_OK && (joined.rank != index || joined.world_size != what->ranks))
        status = MUSTER_ERR_INTERNAL;
    if (status == MUSTER_OK)
        status = meet(&joined, &reports[index]);
    if (status != MUSTER_OK)
        report_error(&reports[index]);
    muster_store_free(joined.store);
    reports[index].left = true;
    return status;
}

/* One point: all met, and nobody else did. */
static void all_meet(meeting *what, const char *name)
{
    child_report reports[CHILDREN_MOST];
    int count = what->ranks + (what->agent ? 1 : 0);
    bool good = children_run(count, one_rank, what, reports);
    for (int i = 0; i < count; i++)
        good = good && reports[i].status == MUSTER_OK &&
               (i == what->ranks || reports[i].number == what->ranks);
    if (!ok(good, "%s", name))
        for (int i = 0; i < count; i++)
            diag("child %d: ended %d, status %d, number %ld, %d ms, %s", i, reports[i].ended,
                 reports[i].status, reports[i].number, reports[i].millis, reports[i].sentence);
}

static void meetings_by_tcp(void)
{
    meeting tcp = {.ranks = 3, .port = free_port(NULL)};
    snprintf(tcp.method, sizeof(tcp.method), "tcp://%s:%d", address, tcp.port);
    all_meet(&tcp, "three ranks meet by tcp://");
    all_meet(&tcp, "and again at the same port");
    struct port everywhere = port_reserve(); /* on all addresses, of which others use some */
    tcp.port = everywhere.number;
    snprintf(tcp.method, sizeof(tcp.method), "tcp://0.0.0.0:%d", tcp.port);
    all_meet(&tcp, "the wildcard serves where it is asked for");
    port_free(&everywhere);
    meeting environment = {.method = "env://", .ranks = 4, .environment = true};
    environment.port = free_port(NULL);
    all_meet(&environment, "four ranks meet by env://");
    environment.port = free_port(NULL);
    environment.restart = 2;
    environment.job = "a/b c";
    all_meet(&environment, "whatever the job is called");
}

static void meetings_at_the_agent(void)
{
    meeting what = {.method = "env://", .ranks = 2, .environment = true, .agent = true, .job = "j"};
    all_meet(&what, "under torchrun's agent no rank runs a server");
    what.restart = 1;
    all_meet(&what, "a second try has keys of its own");
    /* A further group beside the agent's: its rank 0 must run a server, or nobody would. */
    what.restart = 0;
    what.environment = false;
    what.agent = false;
    what.port = free_port(NULL);
    snprintf(what.method, sizeof(what.method), "tcp://%s:%d", address, what.port);
    all_meet(&what, "a group at another address has a server of its own");
}

static void meetings_by_file(void)
{
    char folder[256], path[300];
    const char *top = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/muster-rendezvous-XXXXXX", top != NULL ? top : "/tmp");
    if (mkdtemp(folder) == NULL)
        bail_out("no folder %s", folder);
    snprintf(path, sizeof(path), "%s/a b", folder);
    meeting what = {.ranks = 3, .job = "first"};
    snprintf(what.method, sizeof(what.method), "file://%s/a%%20b", folder);
    all_meet(&what, "three ranks meet by file://");
    ok(access(path, F_OK) == 0, "in the file of the decoded name");
    what.job = "second";
    all_meet(&what, "another job over the same file does not meet the first one's keys");
    unlink(path);
    rmdir(folder);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

typedef struct attempt {
    const char *method;
    int rank;
    int world_size;
    int64_t timeout_ms;
} attempt;

/* One failed join; report->number is how many descriptors it left. */
static int one_attempt(int index, void *argument, volatile child_report *reports)
{
    const attempt *what = argument;
    rendezvous joined = {.rank = 5, .world_size = 5};
    environment_clear();
    int before = open_descriptors();
    muster_status status =
        rendezvous_join(what->method, what->rank, what->world_size, what->timeout_ms, &joined);
    report_error(&reports[index]);
    if (status == MUSTER_OK || joined.store != NULL || joined.rank != -1)
        return -1;
    reports[index].number = open_descriptors() - before;
    return status;
}

/* Three points: the status in time, the words, nothing left behind. */
static void refused(attempt what, muster_status expected, int millis, const char *words)
{
    child_report report;
    children_run(1, one_attempt, &what, &report);
    if (!ok(report.ended &&
                (expected == MUSTER_OK ? report.status > 0 : report.status == (int)expected) &&
                report.millis < millis,
            "%s as %d of %d is refused in time", what.method, what.rank, what.world_size))
        diag("status %d, %d ms", report.status, report.millis);
    has_str(report.sentence, words, "with a reason");
    is_int(report.number, 0, "and leaves no descriptor");
}

static void refusals(void)
{
    char method[128], words[256];
    int holder, port = free_port(NULL);
    snprintf(method, sizeof(method), "tcp://%s:%d", address, port);
    refused((attempt){method, 2, 2, LONG}, MUSTER_ERR_ARGUMENT, 200, "rank 2 is outside of a");
    refused((attempt){method, 0, 2, 0}, MUSTER_ERR_ARGUMENT, 200, "the time-out is 0 ms");
    refused((attempt){method, 0, 2, -1}, MUSTER_ERR_ARGUMENT, 200, "the time-out is -1 ms");
    snprintf(words, sizeof(words), "rank 1 of 2, init_method \"%s\": ", method);
    refused((attempt){method, 1, 2, SHORT}, MUSTER_OK, SHORT + 1000, words);
    refused((attempt){method, 1, 2, SHORT}, MUSTER_OK, SHORT + 1000, address);
    /* User case 11: 192.0.2.0/24 belongs to nobody. */
    refused((attempt){"tcp://192.0.2.77:29500", 0, 2, LONG}, MUSTER_ERR_NOT_FOUND, 1000,
            "\"192.0.2.77\" (192.0.2.77) is not an address of this machine, which has");
    refused((attempt){"tcp://192.0.2.77:29500", 0, 2, LONG}, MUSTER_ERR_NOT_FOUND, 1000,
            "lo 127.0.0.1 (loopback)");
    refused((attempt){"tcp://192.0.2.77:29500", 0, 2, LONG}, MUSTER_ERR_NOT_FOUND, 1000,
            "rank 0 is to serve port 29500 of an address of its own machine");
    /* User case 1: a fixed busy port names address and port. */
    snprintf(method, sizeof(method), "tcp://%s:%d", address, free_port(&holder));
    refused((attempt){method, 0, 2, SHORT}, MUSTER_OK, SHORT + 1000, strrchr(method, ':') + 1);
    close(holder);
    refused((attempt){"file:///no such folder/x", 0, 2, LONG}, MUSTER_OK, 1000,
            "/no such folder/x");
}

#ifdef HAVE_SODIUM
/* Rank 1 with another secret than the store of rank 0, which is child 1. */
static int one_secret(int index, void *argument, volatile child_report *reports)
{
    (void)argument;
    muster_store *store = NULL;
    char method[128];
    setenv("MUSTER_JOB_SECRET", index == 0 ? "the secret of rank 1" : "the secret of rank 0", 1);
    if (index == 1) {
        muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
        args.host = address;
        args.listen = true;
        muster_status status = muster_store_tcp(&store, &args);
        reports[1].number = status == MUSTER_OK ? muster_store_port(store) : -1;
        while (!reports[0].left)
            usleep(1000);
        muster_store_free(store);
        return status;
    }
    while (reports[1].number == 0)
        usleep(1000);
    snprintf(method, sizeof(method), "tcp://%s:%ld", address, reports[1].number);
    attempt what = {method, 1, 2, LONG};
    int status = one_attempt(0, &what, reports);
    reports[0].left = true;
    return status;
}
#endif

/* Two points, of rank 1 that does not get in: whether it is told to look for rank 0. */
static void advised(int count, child_fn fn, const attempt *what, const char *words, bool advice)
{
    child_report reports[2];
    children_run(count, fn, (void *)what, reports);
    has_str(reports[0].sentence, words, "rank 1 is told what is wrong");
    is_int(strstr(reports[0].sentence, "; see whether rank 0 runs and this is its address") != NULL,
           advice, "and to look for rank 0 only where no connection came about");
}

static void advice(void)
{
    char method[128];
    int holder, port = free_port(&holder);
    snprintf(method, sizeof(method), "tcp://%s:%d", address, port);
    attempt what = {method, 1, 2, SHORT};
    advised(1, one_attempt, &what, "in time", false); /* somebody listens, but never answers */
    close(holder);
    advised(1, one_attempt, &what, "refused", true);
#ifdef HAVE_SODIUM
    advised(2, one_secret, NULL, "the store has another job secret", false);
#else
    skip(2, "built without libsodium");
#endif
}

static int lonely;

static void count_lonely(void *user, muster_log_level level, const char *line)
{
    (void)user;
    lonely += level == MUSTER_LOG_WARNING &&
              strstr(line, "a world of one, though MASTER_ADDR is set: neither RANK and WORLD_SIZE "
                           "nor a launcher's") != NULL;
}

/* An address alone does not say who comes. */
static void world_of_one(void)
{
    rendezvous joined;
    muster_set_log(count_lonely, NULL, MUSTER_LOG_WARNING);
    for (int i = 0; i < 2; i++) {
        environment_clear();
        setenv("MASTER_ADDR", address, 1);
        setenv("MASTER_PORT", "1", 1);
        if (i == 1)
            setenv("WORLD_SIZE", "1", 1);
        is_int(rendezvous_join(NULL, -1, -1, LONG, &joined), MUSTER_OK, "a world of one");
        muster_store_free(joined.store);
        is_int(lonely, 1, "of which the log warns where nobody asked for it");
    }
    muster_set_log(NULL, NULL, MUSTER_LOG_NONE);
    environment_clear();
}

static void arguments(void)
{
    rendezvous joined;
    environment_clear();
    is_int(rendezvous_join("env://", -1, -1, LONG, NULL), MUSTER_ERR_ARGUMENT,
           "no place for the result is refused");
    is_int(rendezvous_join(NULL, -1, -1, LONG, &joined), MUSTER_OK,
           "with nothing said at all there is a world of one");
    ok(joined.rank == 0 && joined.world_size == 1 && joined.store != NULL, "whose rank is 0");
    is_int(muster_store_port(joined.store), -1, "and that listens nowhere");
    is_int(muster_store_set(joined.store, muster_str("k"), muster_str("v")), MUSTER_OK,
           "its store works");
    muster_store_free(joined.store);
}

int main(void)
{
    plan(5 + 5 + 3 + 3 + 3 * 10 + 6 + 4);
    unsigned pid = (unsigned)getpid();
    snprintf(address, sizeof(address), "127.%u.%u.%u", 64 + (pid >> 16) % 128, (pid >> 8) % 256,
             1 + pid % 254);
    arguments();
    world_of_one();
    meetings_by_tcp();
    meetings_at_the_agent();
    meetings_by_file();
    refusals();
    advice();
    return done();
}
