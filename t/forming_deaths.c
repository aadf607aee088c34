/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank is killed at any moment of making a world and its sub-groups over gloo: all others are
 * told soon, with its name, and nobody waits for the time-out.
 *
 * Half of the victims die at a moment that their seed draws; the other half at a certain call of
 * listen(), that is in the middle of connecting.
 */
#include "config.h"

#include "grouptest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 4, SEEDS = 16, TOLD_MS = 2500, TIMEOUT_MS = 5000, LATEST_DEATH_US = 25000 };

typedef struct survivor {
    muster_status status;
    char sentence[1024];
    const char *stage; /* the same address in all children */
    int64_t at_ms;
} survivor;

typedef struct tragedy {
    int number;
    int victim;
    int64_t death_ms;
    atomic_int ready;
    survivor ranks[RANKS];
} tragedy;

/* ---- dying ---- */

static tragedy *scene;
static atomic_int listens_left; /* until death; 0: never */

static void die(void)
{
    scene->death_ms = now_ms();
    raise(SIGKILL);
}

__attribute__((visibility("default"))) int listen(int fd, int backlog)
{
    static int (*real)(int fd, int backlog);
    if (real == NULL)
        real = (int (*)(int, int))dlsym(RTLD_NEXT, "listen");
    int result = real(fd, backlog);
    if (atomic_load(&listens_left) > 0 && atomic_fetch_sub(&listens_left, 1) == 1)
        die();
    return result;
}

static void *die_later(void *unused)
{
    srand((unsigned)scene->number);
    usleep((useconds_t)(rand() % LATEST_DEATH_US));
    die();
    return unused;
}

/* From now on the rank dies at any moment. */
static void doom(void)
{
    pthread_t reaper;
    if (scene->number % 2 == 0)
        atomic_store(&listens_left, 1 + scene->number / 2 % 8);
    else if (pthread_create(&reaper, NULL, die_later, NULL) != 0)
        die();
}

/* ---- one rank ---- */

static void live(int rank, survivor *me)
{
    const char **stage = &me->stage;
    char name[32];
    snprintf(name, sizeof(name), "tragedy %d", scene->number);
    muster_group *world = NULL, *regular = NULL, *orthogonal = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = common_store(RANKS); /* never its host */
    args.group_name = name;
    args.rank = rank;
    args.world_size = RANKS;
    args.backend = "gloo";
    args.timeout_ms = TIMEOUT_MS;
    *stage = "init";
    atomic_fetch_add(&scene->ready, 1);
    while (atomic_load(&scene->ready) < RANKS)
        usleep(200);
    if (rank == scene->victim)
        doom();
    muster_status status = muster_init_process_group(&world, &args);
    *stage = status == MUSTER_OK ? "sub-groups" : *stage;
    if (status == MUSTER_OK)
        status = muster_create_sub_group(world, 2, NULL, &regular, &orthogonal);
    *stage = status == MUSTER_OK ? "work" : *stage;
    int32_t one = 1, sum = 0;
    while (status == MUSTER_OK)
        status = muster_all_reduce(world, &one, &sum, 1, MUSTER_INT32, MUSTER_SUM, NULL);
    me->at_ms = now_ms();
    me->status = status;
    snprintf(me->sentence, sizeof(me->sentence), "%s", muster_last_error());
    muster_group_free(orthogonal);
    muster_group_free(regular);
    muster_group_free(world);
    muster_store_free(args.store);
}

static void run_rank(int rank)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    live(rank, &scene->ranks[rank]);
    _exit(0);
}

/* ---- all of them ---- */

/* A victim that has not yet put its name down is only missed. */
static bool only_missed(const survivor *it, const char *name)
{
    return it->status == MUSTER_ERR_TIMEOUT && strstr(it->sentence, name) != NULL &&
           strstr(it->sentence, "to register") != NULL;
}

static bool is_told(int rank)
{
    const survivor *it = &scene->ranks[rank];
    char name[16], lost[64], gone[32];
    snprintf(name, sizeof(name), "rank %d", scene->victim);
    snprintf(lost, sizeof(lost), "%s was lost: its process has ended", name);
    snprintf(gone, sizeof(gone), ": %s (host ", name);
    if (only_missed(it, name))
        return true;
    bool soon = it->at_ms - scene->death_ms < (int64_t)(TOLD_MS * ranks_time_factor());
    bool named = it->status != MUSTER_OK &&
                 (strstr(it->sentence, lost) != NULL ||
                  (strstr(it->sentence, gone) != NULL &&
                   strstr(it->sentence, " has ended while the group was being made") != NULL));
    if (!soon || !named)
        diag("seed %d, victim %d: rank %d in %s after %lld ms: %s", scene->number, scene->victim,
             rank, it->stage, (long long)(it->at_ms - scene->death_ms), it->sentence);
    return soon && named;
}

static bool one_tragedy(int number)
{
    memset(scene, 0, sizeof(*scene));
    scene->number = number;
    scene->victim = number % RANKS;
    pid_t pids[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0)
            run_rank(rank);
    }
    bool fine = true;
    for (int rank = 0; rank < RANKS; rank++) {
        int status = 0;
        waitpid(pids[rank], &status, 0);
        fine = fine && (WIFEXITED(status) || rank == scene->victim);
    }
    const char *stage = "";
    int64_t last = 0;
    for (int rank = 0; rank < RANKS; rank++)
        if (rank != scene->victim) {
            fine = is_told(rank) && fine;
            stage = scene->ranks[rank].stage;
            last = scene->ranks[rank].at_ms > last ? scene->ranks[rank].at_ms : last;
        }
    diag("seed %d: rank %d died during %s, known to all after %lld ms", number, scene->victim,
         stage, (long long)(last - scene->death_ms));
    return fine;
}

static void deaths(int rank, int size)
{
    (void)rank, (void)size;
    const char *first = getenv("MUSTER_TEST_SEED");
    int from = first != NULL ? atoi(first) : 0;
    scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (scene == MAP_FAILED)
        bail_out("no shared memory");
    for (int i = 0; i < SEEDS; i++)
        ok(one_tragedy(from + i), "seed %d: all others are told soon who has died", from + i);
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {{.name = "a rank is killed",
                                               .size = 1,
                                               .points = SEEDS,
                                               .body = deaths,
                                               .seconds = 120,
                                               .host_store = true}};
    over_gloo();
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
