/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user case 46: ranks that make different calls. All of them learn the same cause, the group has
 * failed on all of them, and another can be made.
 */
#include "config.h"

#include "grouptest.h"

#include <stdlib.h>
#include <string.h>

enum { T = 5000, CAUSE = 600 };

static int32_t a[64], b[64 * 4];
static const size_t ones[] = {1, 1, 1}, twos[] = {1, 1, 2}, more[] = {2, 1, 1};

/* What most ranks call, and what rank 2 does instead. */
static muster_status call(muster_group *g, int which, bool odd)
{
    static const muster_type I = MUSTER_INT32, F = MUSTER_FLOAT32;
    switch (which) {
    case 0:
        return muster_all_reduce(g, a, b, odd ? 9 : 8, I, MUSTER_SUM, NULL);
    case 1:
        return muster_all_reduce(g, a, b, 8, odd ? F : I, MUSTER_SUM, NULL);
    case 2:
        return muster_all_reduce(g, a, b, 8, I, odd ? MUSTER_MAX : MUSTER_SUM, NULL);
    case 3:
        return odd ? muster_broadcast(g, a, 4, I, 0, NULL)
                   : muster_all_reduce(g, a, b, 4, I, MUSTER_SUM, NULL);
    case 4:
        return odd ? muster_barrier(g, NULL) : muster_all_gather(g, a, b, 1, I, NULL);
    case 5:
        return muster_all_gather_v(g, a, b, odd ? twos : ones, I, NULL);
    case 6:
        return odd ? muster_all_gather(g, a, b, 1, I, NULL)
                   : muster_all_gather_v(g, a, b, ones, I, NULL);
    case 7:
        return odd ? muster_reduce(g, a, b, 8, I, MUSTER_SUM, 0, NULL)
                   : muster_all_reduce(g, a, b, 8, I, MUSTER_SUM, NULL);
    case 8:
        return muster_reduce(g, a, b, 8, I, odd ? MUSTER_AVG : MUSTER_SUM, 0, NULL);
    case 9:
        return muster_gather(g, a, b, odd ? 5 : 4, I, 0, NULL);
    case 10:
        return muster_gather_v(g, a, odd ? 2 : 1, b, ones, I, 0, NULL);
    case 11:
        return odd ? muster_scatter(g, b, a, 1, I, 0, NULL)
                   : muster_scatter_v(g, b, ones, a, 1, I, 0, NULL);
    case 12:
        return muster_reduce_scatter(g, b, a, odd ? 5 : 4, I, MUSTER_SUM, NULL);
    case 13:
        return muster_reduce_scatter_v(g, b, a, odd ? twos : ones, I, MUSTER_SUM, NULL);
    case 14:
        return muster_all_to_all(g, a, b, 4, odd ? F : I, NULL);
    case 15:
        return muster_all_to_all_v(g, a, odd ? more : ones, b, odd ? more : ones, I, NULL);
    case 16:
        return muster_all_reduce(g, a, b, 8, odd ? MUSTER_UINT8 : MUSTER_BOOL, MUSTER_MAX, NULL);
    default: /* the order of two */
        if (odd)
            muster_all_gather(g, a, b, 1, I, NULL);
        else
            muster_barrier(g, NULL);
        return odd ? muster_barrier(g, NULL) : muster_all_gather(g, a, b, 1, I, NULL);
    }
}

static const struct {
    const char *name;
    const char *usual; /* the two calls in the sentence */
    const char *odd;
} odds[] = {
    {"count", "of 8 int32", "of 9 int32"},
    {"type", "of 8 int32", "of 8 float32"},
    {"reduction", "sum", "max"},
    {"operation", "all_reduce #", "broadcast #"},
    {"barrier", "all_gather #", "barrier #"},
    {"counts", ") has 2 int32 for rank ", ", which expects 1"},
    {"shape", "all_gather_v #", "all_gather #"},
    {"reduce", "all_reduce #", " reduce #"},
    {"average", "sum", "avg"},
    {"gather", "of 4 int32", "of 5 int32"},
    {"gather_v", ") has 2 int32 for rank 0, ", "which expects 1"},
    {"scatter", "scatter_v #", "scatter #"},
    {"reduce_scatter", "of 4 int32", "of 5 int32"},
    {"reduce_scatter_v", ") has 1 int32 for rank 2, ", "which expects 2"},
    {"all_to_all", "of 4 int32", "of 4 float32"},
    {"all_to_all_v", "the ranks disagree in all_to_all_v #1 of int32: rank ", ", which expects "},
    {"bool", "of 8 bool", "of 8 uint8"},
    {"order", "barrier #", "all_gather #"},
};
enum { ODDS = sizeof(odds) / sizeof(*odds) };

/* The cause without who says it. */
static const char *cause_in(const char *sentence)
{
    const char *cause = strstr(sentence, "the ranks disagree");
    return cause == NULL ? sentence : cause;
}

static void disagree(int which, int rank, int size)
{
    char(*causes)[CAUSE] = ranks_shared((size_t)size * CAUSE);
    muster_group *group = world_of(odds[which].name, T);
    int64_t began = now_ms();
    muster_status status = call(group, which, rank == 2);
    ok(status == MUSTER_ERR_MISMATCH || status == MUSTER_OK, "%s: %s", odds[which].name,
       muster_status_name(status));
    while (muster_group_check(group) == MUSTER_OK && in_time(began, 2000))
        sleep_ms(5);
    is_status(muster_group_check(group), MUSTER_ERR_MISMATCH, "%s: the group has failed",
              odds[which].name);
    ok(in_time(began, 1500), "at once");
    has_str(muster_last_error(), odds[which].usual, "what most call is said");
    has_str(muster_last_error(), odds[which].odd, "and what rank 2 calls");
    has_str(muster_last_error(), "rank 2", "and that it is rank 2");
    strncpy(causes[rank], cause_in(muster_last_error()), CAUSE - 1);
    ranks_barrier();
    ok(strcmp(causes[0], causes[1]) == 0 && strcmp(causes[0], causes[2]) == 0,
       "all say the same cause");
    is_status(muster_barrier(group, NULL), MUSTER_ERR_MISMATCH, "it stays so");
    began = now_ms();
    muster_group_free(group);
    ok(in_time(began, 1200), "freeing it is quick");
    group = world_of("another", T);
    ok(group_works(group), "another group works");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

static void calls_differ(int rank, int size)
{
    for (int which = 0; which < ODDS; which++)
        disagree(which, rank, size);
}

/* Different roots send to nobody who could notice: the ranks find out when they have waited. */
static void roots_of(int which, int rank, int size)
{
    char(*causes)[CAUSE] = ranks_shared((size_t)size * CAUSE);
    muster_group *group = world_of("roots", 1200);
    int root = rank == 2 ? 1 : 0;
    int64_t began = now_ms();
    muster_status status = which == 0   ? muster_broadcast(group, a, 5, MUSTER_INT32, root, NULL)
                           : which == 1 ? muster_gather(group, a, b, 5, MUSTER_INT32, root, NULL)
                                        : muster_scatter(group, b, a, 5, MUSTER_INT32, root, NULL);
    ok(status == MUSTER_ERR_MISMATCH || status == MUSTER_OK, "root: %s",
       muster_status_name(status));
    while (muster_group_check(group) == MUSTER_OK && in_time(began, 2500))
        sleep_ms(5);
    is_status(muster_group_check(group), MUSTER_ERR_MISMATCH, "root: the group has failed");
    ok(in_time(began, 2500), "in time");
    has_str(muster_last_error(), "root 0", "what most call is said");
    has_str(muster_last_error(), "root 1", "and what rank 2 calls");
    strncpy(causes[rank], cause_in(muster_last_error()), CAUSE - 1);
    ranks_barrier();
    ok(strcmp(causes[0], causes[1]) == 0 && strcmp(causes[0], causes[2]) == 0,
       "all say the same cause");
    ranks_barrier();
    muster_group_free(group);
}

static void roots_differ(int rank, int size)
{
    for (int which = 0; which < 3; which++)
        roots_of(which, rank, size);
}

/* Rank 1 makes another call than the others, which asks nothing of it, and goes on to a barrier:
 * over Gloo that is found out when the others have waited. */
static void went_on(int which, int rank)
{
    muster_group *group = world_of("on", 1200);
    int64_t began = now_ms();
    muster_status status = MUSTER_OK;
    if (rank != 1)
        status = which == 1 ? muster_all_gather(group, a, b, 8, MUSTER_INT32, NULL)
                            : muster_all_reduce(group, a, b, 8, MUSTER_INT32, MUSTER_SUM, NULL);
    else
        status = which == 1 ? muster_gather(group, a, b, 8, MUSTER_INT32, 0, NULL)
                            : muster_reduce(group, a, b, 8, MUSTER_INT32, MUSTER_SUM, 0, NULL);
    if (status == MUSTER_OK)
        status = muster_barrier(group, NULL);
    is_status(status, MUSTER_ERR_MISMATCH, "gone on: %d", which);
    ok(in_time(began, 2500), "in time");
    has_str(muster_last_error(), which == 1 ? "all_gather #1 of 8" : "all_reduce #1",
            "what most call is said");
    has_str(muster_last_error(),
            which == 1 ? " gather #1 of 8 int32, root 0" : " reduce #1 of 8 int32, sum, root 0",
            "and what rank 1 called");
    ranks_barrier();
    muster_group_free(group);
}

static void gone_on(int rank, int size)
{
    (void)size;
    for (int which = 0; which < 2; which++)
        went_on(which, rank);
}

/* Messages between two ranks. */
static void messages_differ(int rank, int size)
{
    (void)size;
    for (int which = 0; which < 2; which++) {
        muster_group *group = world_of("two", T);
        int64_t began = now_ms();
        muster_status status =
            rank == 0 ? muster_send(group, a, 4, MUSTER_INT32, 1, NULL)
                      : muster_recv(group, b, which == 0 ? 3 : 4,
                                    which == 0 ? MUSTER_INT32 : MUSTER_FLOAT32, 0, NULL);
        ok(status == MUSTER_ERR_MISMATCH || (rank == 0 && status == MUSTER_OK), "refused");
        while (muster_group_check(group) == MUSTER_OK && in_time(began, 2000))
            sleep_ms(5);
        is_status(muster_group_check(group), MUSTER_ERR_MISMATCH, "on both sides");
        has_str(muster_last_error(), "of 4 int32", "what was sent is said");
        has_str(muster_last_error(), which == 0 ? "of 3 int32" : "of 4 float32",
                "and what was to be received");
        ranks_barrier();
        muster_group_free(group);
    }
}

/* One rank calls once too often. */
static void once_too_often(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("often", 1500);
    is_status(muster_barrier(group, NULL), MUSTER_OK, "all call");
    int64_t began = now_ms();
    muster_status status = rank == 2 ? muster_barrier(group, NULL) : MUSTER_ERR_TIMEOUT;
    is_status(status, MUSTER_ERR_TIMEOUT, "one calls again");
    ok(in_time(began, 2500), "in time");
    ok(rank != 2 || strstr(muster_last_error(), "ranks 0-1") != NULL, "it says who was missing");
    ok(rank != 2 || strstr(muster_last_error(), "barrier #") != NULL, "and in what");
    ranks_barrier();
    muster_group_free(group);
}

int main(int argc, char **argv)
{
#ifdef OVER_GLOO
    over_gloo();
#endif
    static const struct ranks_case cases[] = {
        {.name = "calls", .size = 3, .points = 10 * ODDS, .body = calls_differ, .silent = true},
        {.name = "roots", .size = 3, .points = 18, .body = roots_differ, .silent = true},
        {.name = "on", .size = 3, .points = 8, .body = gone_on, .silent = true},
        {.name = "messages", .size = 2, .points = 8, .body = messages_differ, .silent = true},
        {.name = "often", .size = 3, .points = 5, .body = once_too_often, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
