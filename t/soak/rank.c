/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank of the soak. In each round all ranks make a world and groups below it, work, and free
 * them, on one way to move bytes after the other; in every fifth a rank is killed while they work,
 * and the others shrink the world to themselves and work on.
 */
#include "config.h"

#include "soak.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "muster.h"

enum { LISTS = 8, LONGEST = 200, MOST_DEATH_US = 30000, REST_MS = 100 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int entries_of(const char *folder)
{
    int count = 0;
    DIR *all = opendir(folder);
    while (all != NULL && readdir(all) != NULL)
        count++;
    if (all != NULL)
        closedir(all);
    return count;
}

soak_state soak_look(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL && fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return (soak_state){resident * (sysconf(_SC_PAGESIZE) / 1024), entries_of("/proc/self/fd"),
                        entries_of("/proc/self/task"), 0};
}

static int failed(const soak_job *job, int round, const char *what)
{
    fprintf(stderr, "soak: rank %d, round %d: %s: %s\n", job->rank, round, what,
            muster_last_error());
    return 1;
}

/* Both gathers and a sum, of what differs from round to round; MISMATCH where it comes out wrong.
 */
static muster_status work(muster_group *group, int round)
{
    static int64_t ids[LISTS * LONGEST];
    size_t lengths[LISTS];
    int rank = muster_group_rank(group), size = muster_group_size(group);
    int64_t sum = rank;
    muster_tokens *tokens = NULL;
    muster_objects *objects = NULL;
    for (int i = 0; i < LISTS; i++)
        lengths[i] = (size_t)((round * 31 + rank * 17 + i * 7) % LONGEST);
    const muster_token_lists lists = {LISTS, lengths, ids};
    const muster_blob blobs[] = {{ids, lengths[0]}, {ids, lengths[1]}};
    const muster_object_list mine = {2, blobs};
    muster_status status = muster_all_gather_tokens(group, &lists, &tokens);
    if (status == MUSTER_OK)
        status = muster_all_gather_objects(group, &mine, &objects);
    if (status == MUSTER_OK)
        status = muster_all_reduce(group, &sum, &sum, 1, MUSTER_INT64, MUSTER_SUM, NULL);
    if (status == MUSTER_OK &&
        (sum != (int64_t)size * (size - 1) / 2 || tokens->num_lists != (size_t)size * LISTS ||
         objects->num_objects != (size_t)size * 2))
        status = MUSTER_ERR_MISMATCH;
    muster_tokens_free(tokens);
    muster_objects_free(objects);
    return status;
}

static muster_status make_and_free(muster_group *world, int round)
{
    muster_group *regular = NULL, *orthogonal = NULL;
    muster_status status = muster_create_sub_group(world, 2, NULL, &regular, &orthogonal);
    if (status == MUSTER_OK)
        status = work(regular, round);
    if (status == MUSTER_OK)
        status = work(orthogonal, round);
    muster_group_free(regular);
    muster_group_free(orthogonal);
    return status;
}

/* The kernel kills this rank a little later, wherever it is then. */
static void arm(int round)
{
    struct itimerval later = {.it_value = {0, 1 + (round * 7919L) % MOST_DEATH_US}};
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &later, NULL);
}

/* Until the one to die is dead; then those that are left have a group of their own. */
static muster_status see_death(muster_group *world, int dies, int round)
{
    muster_group *rest = NULL;
    muster_status status = MUSTER_OK;
    if (muster_group_rank(world) == dies)
        arm(round);
    while (status == MUSTER_OK)
        status = make_and_free(world, round);
    int64_t end = now_ms() + SOAK_TIMEOUT_MS;
    while (muster_group_check(world) == MUSTER_OK && now_ms() < end)
        work(world, round); /* a sub-group alone may have heard of it so far */
    status = muster_group_shrink(world, &dies, 1, NULL, &rest);
    if (status == MUSTER_OK)
        status = work(rest, round);
    muster_group_free(rest);
    return status;
}

/* What moves the bytes of a round: shared memory, Gloo with shared memory within the host, and Gloo
 * alone. Deaths come to each of them. */
static const struct way {
    const char *backend;
    const char *options;
} ways[] = {{"local", NULL}, {"gloo", NULL}, {"gloo", "gloo.shared_memory=off"}};

static muster_status one_round(const soak_job *job, muster_store *store, int round, bool *goes_on)
{
    static int64_t began_ms;
    if (began_ms == 0)
        began_ms = now_ms();
    int32_t more = now_ms() - began_ms < job->seconds * INT64_C(1000);
    const struct way *way = &ways[(size_t)round % (sizeof(ways) / sizeof(*ways))];
    muster_group *world = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.group_name = "again";
    args.rank = job->rank;
    args.world_size = SOAK_SIZE;
    args.timeout_ms = SOAK_TIMEOUT_MS;
    args.backend = way->backend;
    args.options = way->options;
    muster_status status = muster_init_process_group(&world, &args);
    if (status == MUSTER_OK)
        status = muster_broadcast(world, &more, 1, MUSTER_INT32, 0, NULL);
    if (status == MUSTER_OK)
        status = work(world, round);
    if (status == MUSTER_OK)
        status = make_and_free(world, round);
    int dies = SOAK_LASTING + round / SOAK_DEATH_EVERY % (SOAK_SIZE - SOAK_LASTING);
    if (status == MUSTER_OK && more && round % SOAK_DEATH_EVERY == SOAK_DEATH_EVERY - 1)
        status = see_death(world, dies, round);
    muster_group_free(world);
    *goes_on = more;
    return status;
}

/* When all is at rest. */
static void sample(const soak_job *job, muster_store *store, int round)
{
    static int64_t last_ms;
    int64_t keys = -1;
    if (now_ms() - last_ms < job->sample_ms)
        return;
    usleep(REST_MS * 1000);
    soak_state now = soak_look();
    if (muster_store_num_keys(store, &keys) != MUSTER_OK)
        keys = -1;
    printf("%d %d %ld %d %d %lld\n", job->rank, round, now.kib, now.descriptors, now.threads,
           (long long)keys);
    fflush(stdout);
    last_ms = now_ms();
}

int soak_rank(const soak_job *job)
{
    muster_store *store = NULL;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    bool goes_on = true;
    args.host = "127.0.0.1";
    args.port = job->port;
    args.timeout_ms = SOAK_TIMEOUT_MS;
    if (muster_store_tcp(&store, &args) != MUSTER_OK)
        return failed(job, job->first_round, "the store");
    for (int round = job->first_round; goes_on; round++) {
        if (one_round(job, store, round, &goes_on) != MUSTER_OK)
            return failed(job, round, "the round");
        if (job->rank < SOAK_LASTING)
            sample(job, store, round);
    }
    muster_store_free(store);
    return 0;
}
