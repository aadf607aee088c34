/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process that starts the ranks of the soak, hosts their store, puts another in the place of
 * one that was killed, and prints the table. Usage: soak SECONDS. The status is 0 where everything
 * went well and nothing grew.
 */
#include "config.h"

#include "soak.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "muster.h"

enum {
    ROWS = SOAK_LASTING + 1,
    MOST_SAMPLES = 200,
    SLACK_KIB = 2048,
    SLACK_DESCRIPTORS = 4,
    KEY_BYTES = 512
};

/* What was seen of one process; row SOAK_LASTING is this one, with the store. */
typedef struct history {
    soak_state samples[MOST_SAMPLES];
    int count;
} history;

typedef struct soak {
    const char *program;
    int port;
    int seconds;
    int lines[2]; /* a pipe: what ranks write */
    pid_t ranks[SOAK_SIZE];
    int rounds, deaths;
    int next_round; /* of a rank that is started again: behind the one it was killed in */
    history rows[ROWS];
    time_t began;
} soak;

static bool start(soak *all, int rank, int round)
{
    char numbers[4][16];
    snprintf(numbers[0], sizeof(numbers[0]), "%d", rank);
    snprintf(numbers[1], sizeof(numbers[1]), "%d", all->port);
    snprintf(numbers[2], sizeof(numbers[2]), "%d", all->seconds);
    snprintf(numbers[3], sizeof(numbers[3]), "%d", round);
    pid_t child = fork();
    if (child == 0) {
        if (dup2(all->lines[1], STDOUT_FILENO) >= 0)
            execl(all->program, all->program, numbers[0], numbers[1], numbers[2], numbers[3],
                  (char *)NULL);
        _exit(127);
    }
    all->ranks[rank] = child;
    return child > 0;
}

static void print_row(const soak *all, const char *who, const soak_state *now)
{
    printf("%8lld %-7s %8d %7d %9ld %12d %8d %6lld\n", (long long)(time(NULL) - all->began), who,
           all->rounds, all->deaths, now->kib, now->descriptors, now->threads, now->keys);
    fflush(stdout);
}

static void keep(history *row, const soak_state *now)
{
    if (row->count < MOST_SAMPLES)
        row->samples[row->count++] = *now;
}

/* A rank's line; with that of rank 0 this process looks at itself. */
static void take_line(soak *all, const char *line)
{
    int rank, round;
    soak_state now;
    char who[16];
    if (sscanf(line, "%d %d %ld %d %d %lld", &rank, &round, &now.kib, &now.descriptors,
               &now.threads, &now.keys) != 6 ||
        rank < 0 || rank >= SOAK_LASTING)
        return;
    all->rounds = round + 1;
    snprintf(who, sizeof(who), "rank %d", rank);
    print_row(all, who, &now);
    keep(&all->rows[rank], &now);
    if (rank != 0)
        return;
    soak_state own = soak_look();
    own.keys = now.keys;
    print_row(all, "store", &own);
    keep(&all->rows[SOAK_LASTING], &own);
}

/* A rank that was killed by its timer is started again, others end for good. */
static bool reap(soak *all, int *left)
{
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        int rank = 0;
        while (rank < SOAK_SIZE && all->ranks[rank] != ended)
            rank++;
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        if (rank == SOAK_SIZE || (!killed && status != 0)) {
            fprintf(stderr, "soak: rank %d ended with status %d\n", rank, status);
            return false;
        }
        if (killed) {
            all->deaths++;
            all->next_round += SOAK_DEATH_EVERY;
            if (!start(all, rank, all->next_round))
                return false;
        } else
            --*left;
    }
    return true;
}

/* Until all ranks have ended by themselves; false where one should not have. */
static bool watch(soak *all)
{
    char line[256];
    size_t used = 0;
    for (int left = SOAK_SIZE; left > 0;) {
        ssize_t got = read(all->lines[0], line + used, 1);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            usleep(20000);
            if (!reap(all, &left))
                return false;
        } else if (got > 0 && (line[used] == '\n' || ++used == sizeof(line) - 1)) {
            line[used] = '\0';
            take_line(all, line);
            used = 0;
        }
    }
    return true;
}

static void lower(long long *least, long long value)
{
    if (value < *least)
        *least = value;
}

/* The least in samples from..to: what it comes down to when all is at rest. */
static soak_state least(const history *row, int from, int to)
{
    long long kib = LONG_MAX, descriptors = INT_MAX, threads = INT_MAX, keys = LLONG_MAX;
    for (int i = from; i < to; i++) {
        lower(&kib, row->samples[i].kib);
        lower(&descriptors, row->samples[i].descriptors);
        lower(&threads, row->samples[i].threads);
        lower(&keys, row->samples[i].keys);
    }
    return (soak_state){(long)kib, (int)descriptors, (int)threads, keys};
}

/* The last quarter against the second, in which everything is warm. A group that has failed leaves
 * some keys in the store, as doc/failures.md says; that much more the store may have. A connection
 * to the store that was needed once is kept, so that a few more of these are no leak. */
static bool is_flat(const history *row, const char *who, bool has_store)
{
    if (row->count < 4) {
        printf("%s: only %d samples\n", who, row->count);
        return false;
    }
    soak_state early = least(row, row->count / 4, row->count / 2);
    soak_state late = least(row, row->count * 3 / 4, row->count);
    long allowed = early.kib + SLACK_KIB;
    if (has_store)
        allowed += (long)((late.keys - early.keys) * KEY_BYTES / 1024);
    bool memory = late.kib <= allowed;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    memory = true; /* a sanitizer keeps what is freed */
#endif
    bool flat = memory && late.descriptors <= early.descriptors + SLACK_DESCRIPTORS &&
                late.threads <= early.threads;
    printf("%s: KiB %ld, then %ld; descriptors %d, then %d; threads %d, then %d: %s\n", who,
           early.kib, late.kib, early.descriptors, late.descriptors, early.threads, late.threads,
           flat ? "flat" : "GROWN");
    return flat;
}

static bool judge(const soak *all)
{
    bool flat = true;
    char who[16];
    for (int i = 0; i < ROWS; i++) {
        snprintf(who, sizeof(who), i < SOAK_LASTING ? "rank %d" : "store", i);
        flat = is_flat(&all->rows[i], who, i == SOAK_LASTING) && flat;
    }
    printf("%d rounds, %d ranks killed and started again\n", all->rounds, all->deaths);
    return flat && all->deaths > 0;
}

static bool open_store(soak *all, muster_store **store)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = "127.0.0.1";
    args.listen = true;
    if (muster_store_tcp(store, &args) != MUSTER_OK) {
        fprintf(stderr, "soak: %s\n", muster_last_error());
        return false;
    }
    all->port = muster_store_port(*store);
    return true;
}

/* Samples are spread so that the longest soak has room for them. */
static int sample_ms(int seconds)
{
    int spread = seconds * 1000 / (MOST_SAMPLES / 2);
    return spread > 500 ? spread : 500;
}

static int run(const char *program, int seconds)
{
    static soak all;
    muster_store *store = NULL;
    all.program = program;
    all.seconds = seconds;
    all.began = time(NULL);
    bool good = pipe2(all.lines, O_CLOEXEC | O_NONBLOCK) == 0 && open_store(&all, &store);
    printf("%8s %-7s %8s %7s %9s %12s %8s %6s\n", "seconds", "process", "rounds", "killed", "KiB",
           "descriptors", "threads", "keys");
    for (int rank = 0; good && rank < SOAK_SIZE; rank++)
        good = start(&all, rank, 0);
    good = good && watch(&all);
    for (int rank = 0; !good && rank < SOAK_SIZE; rank++)
        if (all.ranks[rank] > 0)
            kill(all.ranks[rank], SIGKILL);
    good = judge(&all) && good;
    muster_store_free(store);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[argc > 4 ? 3 : 1]) : 0;
    if (seconds <= 0) {
        fprintf(stderr, "usage: soak SECONDS\n");
        return 2;
    }
    const soak_job job = {.rank = atoi(argv[1]),
                          .port = argc > 2 ? atoi(argv[2]) : 0,
                          .seconds = seconds,
                          .first_round = argc > 4 ? atoi(argv[4]) : 0,
                          .sample_ms = sample_ms(seconds)};
    return argc > 4 ? soak_rank(&job) : run("/proc/self/exe", seconds);
}
