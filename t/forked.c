/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user case 55: every public call on a group or an operation of the parent is refused in a fork's
 * child, while a thread of the parent waits in the group.
 */
#include "config.h"

#include "grouptest.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { T = 20000, CHILD_S = 20 };

static int32_t a[16], b[16];
static const size_t ones[] = {1, 1};
static muster_group *made, *other;
static muster_reduction redop;
static muster_tokens *tokens;
static muster_objects *objects;
static const muster_token_lists no_lists = {0, NULL, NULL};
static const muster_object_list no_objects = {0, NULL};
static char *text;
static int number;
static uint64_t sent, received;
static bool ended;
static size_t place;

static void no_callback(void *user, muster_status status)
{
    (void)user;
    (void)status;
}

#define I MUSTER_INT32
/* XX(call) */
#define CALLS(XX)                                                                                  \
    XX(muster_new_group(g, (const int[]){0, 1}, 2, NULL, &made))                                   \
    XX(muster_new_subgroups_by_enumeration(g, NULL, NULL, 0, NULL, &made))                         \
    XX(muster_group_split(g, 0, 0, NULL, &made))                                                   \
    XX(muster_create_sub_group(g, 1, NULL, &made, &other))                                         \
    XX(muster_group_shrink(g, NULL, 0, NULL, &made))                                               \
    XX(muster_group_set_timeout(g, 1))                                                             \
    XX(muster_group_rank_to_parent(g, 0, &number))                                                 \
    XX(muster_group_rank_from_parent(g, 0, &number))                                               \
    XX(muster_group_rank_to_world(g, 0, &number))                                                  \
    XX(muster_group_rank_from_world(g, 0, &number))                                                \
    XX(muster_group_traffic(g, &sent, &received))                                                  \
    XX(muster_group_check(g))                                                                      \
    XX(muster_group_abort(g))                                                                      \
    XX(muster_group_allow_abort_from_signal(g))                                                    \
    XX(muster_group_describe(g, false, &text))                                                     \
    XX(muster_reduction_premul_sum(g, 2, &redop))                                                  \
    XX(muster_barrier(g, NULL))                                                                    \
    XX(muster_broadcast(g, a, 1, I, 0, NULL))                                                      \
    XX(muster_reduce(g, a, b, 1, I, MUSTER_SUM, 0, NULL))                                          \
    XX(muster_all_reduce(g, a, b, 1, I, MUSTER_SUM, NULL))                                         \
    XX(muster_gather(g, a, b, 1, I, 0, NULL))                                                      \
    XX(muster_gather_v(g, a, 1, b, ones, I, 0, NULL))                                              \
    XX(muster_scatter(g, a, b, 1, I, 0, NULL))                                                     \
    XX(muster_scatter_v(g, a, ones, b, 1, I, 0, NULL))                                             \
    XX(muster_all_gather(g, a, b, 1, I, NULL))                                                     \
    XX(muster_all_gather_v(g, a, b, ones, I, NULL))                                                \
    XX(muster_reduce_scatter(g, a, b, 1, I, MUSTER_SUM, NULL))                                     \
    XX(muster_reduce_scatter_v(g, a, b, ones, I, MUSTER_SUM, NULL))                                \
    XX(muster_all_to_all(g, a, b, 1, I, NULL))                                                     \
    XX(muster_all_to_all_v(g, a, ones, b, ones, I, NULL))                                          \
    XX(muster_send(g, a, 1, I, 0, NULL))                                                           \
    XX(muster_recv(g, a, 1, I, 0, NULL))                                                           \
    XX(muster_batch_send_recv(g, NULL, 0, NULL))                                                   \
    XX(muster_all_gather_tokens(g, &no_lists, &tokens))                                            \
    XX(muster_gather_tokens(g, &no_lists, 0, &tokens))                                             \
    XX(muster_all_gather_objects(g, &no_objects, &objects))                                        \
    XX(muster_gather_objects(g, &no_objects, 0, &objects))                                         \
    XX(muster_work_test(w, &ended))                                                                \
    XX(muster_work_wait(w, T))                                                                     \
    XX(muster_work_wait_any(&w, 1, T, &place))                                                     \
    XX(muster_work_add_callback(w, no_callback, NULL))

#define NAME(call) #call,
static const char *const names[] = {CALLS(NAME)};
enum { NUM_CALLS = sizeof(names) / sizeof(*names), FREED = NUM_CALLS };

/* In the child: the first call that was not refused, FREED if all were and the frees returned. */
static int try_all(muster_group *g, muster_work *w)
{
    int done = 0;
    alarm(CHILD_S);
#define REFUSED(call)                                                                              \
    if ((call) != MUSTER_ERR_FORKED || strstr(muster_last_error(), "fork") == NULL)                \
        return done;                                                                               \
    done++;
    CALLS(REFUSED)
    muster_group_abort_from_signal(g);
    muster_reduction_free(g, MUSTER_REDUCTION_LARGEST);
    /* What does not change may be asked for. */
    if (muster_group_size(g) != 2 || muster_group_timeout(g) != T ||
        muster_group_host(g, 1) == NULL)
        return done;
    muster_group_free(g);
    muster_work_free(w);
    return FREED;
}

static void *wait_in_it(void *group)
{
    muster_status status = muster_barrier(group, NULL);
    return status == MUSTER_OK ? NULL : group;
}

static void every_call(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    muster_group_allow_abort_from_signal(group);
    pthread_t waiting;
    muster_work *queued = NULL;
    void *failed = NULL;
    if (rank == 0) {
        if (pthread_create(&waiting, NULL, wait_in_it, group) != 0)
            bail_out("no thread");
        sleep_ms(50);
        muster_barrier(group, &queued);
    }
    int tried = FREED;
    if (rank == 0) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(try_all(group, queued));
        waitpid(child, &status, 0);
        tried = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    ok(tried == FREED, "each of %d calls is refused: %s", (int)NUM_CALLS,
       tried >= 0 && tried < NUM_CALLS ? names[tried] : "and all may be freed");
    ranks_barrier();
    muster_status status = MUSTER_OK;
    if (rank == 0) {
        pthread_join(waiting, &failed);
        status = muster_work_wait(queued, T);
        muster_work_free(queued);
    } else {
        failed = wait_in_it(group);
        status = muster_barrier(group, NULL);
    }
    ok(failed == NULL && status == MUSTER_OK, "what waited in the parent goes on");
    ok(group_works(group), "and the group works");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "every_call", .size = 2, .points = 3, .body = every_call, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
