/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sentences that a user acts upon: they name the right ranks, in the numbers of the group that they
 * begin with, and say what happened there.
 */
#include "config.h"

#include "grouptest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T = 1000, LONG = 20000 };

static muster_group_args short_args(const char *name)
{
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.group_name = name;
    args.timeout_ms = T;
    return args;
}

/* A member that does not come is named as the caller knows it, not by its place among them. */
static void missing_member(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", LONG), *made = NULL;
    muster_group_args args = short_args(NULL);
    const int members[] = {3, 1, 2}, failed[] = {1};
    if (rank == 1 || rank == 2) {
        is_status(muster_new_group(world, members, 3, &args, &made), MUSTER_ERR_TIMEOUT,
                  "one of three does not come");
        has_str(muster_last_error(),
                "timed out after 1000 ms waiting for rank 3 of 'world', 1 of 3 members, to join",
                "it is rank 3");
    } else {
        ok(true, "one does not come");
        ok(true, "and one is no member");
    }
    ranks_barrier();
    if (rank == 0) {
        is_status(muster_group_shrink(world, failed, 1, &args, &made), MUSTER_ERR_TIMEOUT,
                  "two of three do not come");
        has_str(muster_last_error(), "waiting for ranks 2-3 of 'world', 2 of 3 members, to join",
                "they are ranks 2 and 3");
    } else {
        ok(true, "they do not come");
        ok(true, "and one is left out");
    }
    ok(made == NULL, "there is no group");
    ranks_barrier();
    muster_group_free(world);
    ranks_barrier();
}

/* One name for groups of different members: those who wait for each other are told at once. */
static void same_name(int rank, int size)
{
    (void)size;
    static const int two[] = {0, 1}, three[] = {2, 0, 1}, all[] = {1, 2, 3, 0}, last[] = {3};
    muster_group *world = world_of("world", LONG), *made = NULL;
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.group_name = "tp";
    int64_t began = now_ms();
    muster_status status = MUSTER_ERR_MISMATCH;
    if (rank != 3)
        status = rank == 0 ? muster_new_group(world, two, 2, &args, &made)
                           : muster_new_group(world, three, 3, &args, &made);
    is_status(status, MUSTER_ERR_MISMATCH, "members differ");
    ok(in_time(began, 2000), "which is found at once");
    ok(rank == 3 ||
           (strstr(muster_last_error(), "the ranks disagree on the members of 'tp': rank 0 (") &&
            strstr(muster_last_error(), ") says {0,1}, but rank 1 (") &&
            strstr(muster_last_error(), ") says {2,0,1}; all must say the same")),
       "both lists are quoted: %s", rank == 3 ? "" : muster_last_error());
    ok(made == NULL, "there is no group");
    ranks_barrier();
    args.group_name = "dp";
    if (rank == 3)
        status = muster_new_group(world, last, 1, &args, &made);
    else
        status = muster_new_group(world, three, 3, &args, &made);
    is_status(status, MUSTER_OK, "others may use a name among themselves");
    ok(group_works(made), "and both work");
    ranks_barrier();
    muster_group_free(made);
    ranks_barrier();
    is_status(muster_new_group(world, all, 4, &args, &made), MUSTER_OK, "the name is free again");
    ok(group_works(made), "for all");
    muster_group_free(made);
    ranks_barrier();
    muster_group_free(world);
    ranks_barrier();
}

/* A rank frees the group while it and others are in an operation: nobody says that it failed. */
static void freed_at_work(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *pairs = world_of("pairs", LONG);
    float mine[8] = {0}, sum[8];
    muster_work *work = NULL, *message = NULL;
    muster_status status = MUSTER_OK;
    muster_barrier(group, NULL);
    if (rank != 2)
        status = muster_all_reduce(group, mine, sum, 8, MUSTER_FLOAT32, MUSTER_SUM, &work);
    if (rank != 2 && status == MUSTER_OK)
        status = muster_recv(pairs, sum, 8, MUSTER_FLOAT32, (rank + 1) % 2, &message);
    is_status(status, MUSTER_OK, "two wait for the third, and for each other");
    ranks_barrier();
    if (rank == 0) {
        muster_group_free(group);
        muster_group_free(pairs);
    }
    while (rank == 2 && muster_group_check(group) == MUSTER_OK)
        sleep_ms(2);
    status = rank == 2 ? muster_group_check(group) : muster_work_wait(work, LONG);
    is_status(status, rank == 0 ? MUSTER_ERR_FAILED : MUSTER_ERR_PEER_LOST, "one frees the group");
    has_str(muster_last_error(),
            "rank 0 has freed the group with all_reduce #2 of 8 float32, sum under way",
            "all are told so");
    status = rank == 2 ? muster_recv(pairs, sum, 8, MUSTER_FLOAT32, 0, NULL)
                       : muster_work_wait(message, LONG);
    is_status(status, rank == 0 ? MUSTER_ERR_FAILED : MUSTER_ERR_PEER_LOST, "and another");
    has_str(muster_last_error(), "rank 0 has freed the group with messages under way",
            "with messages");
    int *lost = NULL;
    size_t count = 1;
    if (rank != 0)
        muster_group_lost_ranks(group, &lost, &count);
    ok(count == 1 && (rank == 0 || lost[0] == 0), "it is lost for the others");
    muster_free(lost);
    muster_work_free(work);
    muster_work_free(message);
    if (rank != 0) {
        muster_group_free(group);
        muster_group_free(pairs);
    }
    ranks_barrier();
}

/* A rank that has made its calls and leaves, where others take it for the root of one more. */
static void gone_root(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG);
    float data[8] = {0};
    muster_work *work = NULL;
    muster_barrier(group, NULL);
    if (rank != 0)
        muster_broadcast(group, data, 8, MUSTER_FLOAT32, 0, &work);
    ranks_barrier();
    if (rank == 0) {
        sleep_ms(200); /* they are under way */
        muster_group_free(group);
        ok(true, "one goes");
        ok(true, "in");
        ok(true, "good order");
    } else {
        is_status(muster_work_wait(work, LONG), MUSTER_ERR_PEER_LOST, "others need it");
        has_str(
            muster_last_error(),
            "in broadcast #2 of 8 float32, root 0, without rank 0, which left "
            "in good order (after as many calls one of them differs: MUSTER_CHECK=1 shows which): ",
            "they are told that it is gone, and how to find out");
        int *lost = NULL;
        size_t count = 0;
        muster_group_lost_ranks(group, &lost, &count);
        ok(count == 1 && lost[0] == 0, "it is lost for them");
        muster_free(lost);
        muster_work_free(work);
        ranks_barrier_among(2);
        muster_group_free(group);
    }
}

/* The call that is ended is named, also where nobody knows more of it. */
static void own_call(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG);
    float data[8] = {0}, sum[8];
    muster_work *work = NULL;
    const char *call = rank == 0 ? "in all_reduce #2 of 8 float32, max: "
                                 : "in broadcast #2 of 8 float32, root 2: ";
    muster_barrier(group, NULL);
    if (rank == 0)
        muster_all_reduce(group, data, sum, 8, MUSTER_FLOAT32, MUSTER_MAX, &work);
    if (rank == 1)
        muster_broadcast(group, data, 8, MUSTER_FLOAT32, 2, &work);
    ranks_barrier();
    sleep_ms(200); /* they are under way */
    if (rank == 2)
        _exit(3);
    is_status(muster_work_wait(work, LONG), MUSTER_ERR_PEER_LOST, "a rank has ended");
    has_str(muster_last_error(), call, "each names its own call");
    ok(strstr(muster_last_error(), "bytes") == NULL, "and no bytes of the library");
    muster_work_free(work);
    ranks_barrier_among(2);
    muster_group_free(group);
    ranks_barrier_among(2);
}

/* A rank may have found the loss before its call began: the sentence then names no operation. */
static bool begins_with_own(const char *sentence, int rank, const char *words)
{
    char head[64];
    snprintf(head, sizeof(head), "group 'world', rank %d, muster_barrier: ", rank);
    if (strncmp(sentence, head, strlen(head)) != 0)
        return false;
    sentence += strlen(head);
    const char *operation = "in barrier #1: ";
    if (strncmp(sentence, operation, strlen(operation)) == 0)
        sentence += strlen(operation);
    return strncmp(sentence, words, strlen(words)) == 0;
}

/* A loss that one rank finds is told to the others as what it found, and to itself as its own. */
static void found(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG);
    ranks_barrier();
    if (rank == 2)
        _exit(3);
    is_status(muster_barrier(group, NULL), MUSTER_ERR_PEER_LOST, "a rank has ended");
    const char *sentence = muster_last_error();
    char own[32], other[32];
    snprintf(own, sizeof(own), "by rank %d)", rank);
    snprintf(other, sizeof(other), "(found by rank %d)", 1 - rank);
    bool *found_it = ranks_shared(2 * sizeof(bool));
    found_it[rank] = strstr(sentence, other) == NULL;
    ok(begins_with_own(sentence, rank, "rank 2 was lost: its process has ended"), "it is named: %s",
       sentence);
    ok(strstr(sentence, own) == NULL && strstr(sentence, "after rank") == NULL,
       "nobody is told what itself found as another's");
    ranks_barrier_among(2);
    ok(found_it[0] != found_it[1], "one found it, and the other quotes that");
    muster_group_free(group);
    ranks_barrier_among(2);
}

/* Ranks that give to one alone go on before anybody knows that they differ: the calls in which they
 * did are quoted, not those that they have come to. */
static void gone_on(int rank, int size)
{
    int32_t mine[8] = {0};
    int32_t *all = calloc((size_t)size * 8, sizeof(*all));
    muster_group *world = world_of("world", LONG);
    if (all == NULL)
        bail_out("no memory");
    muster_status status =
        muster_gather(world, mine, all, rank == 2 ? 5 : 4, MUSTER_INT32, 0, NULL);
    if (status == MUSTER_OK)
        status = muster_barrier(world, NULL);
    is_status(status, MUSTER_ERR_MISMATCH, "one gives more than the others");
    has_str(muster_last_error(), " gather #1 of 4 int32, root 0", "what most called is said");
    has_str(muster_last_error(), " gather #1 of 5 int32, root 0", "and what rank 2 called");
    ok(strstr(muster_last_error(), "barrier #2, but") == NULL &&
           strstr(muster_last_error(), "calls barrier #2") == NULL,
       "and nothing of later calls");
    free(all);
    ranks_barrier();
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    over_gloo();
    static const struct ranks_case cases[] = {
        {.name = "missing member", .size = 4, .points = 5, .body = missing_member, .silent = true},
        {.name = "same name", .size = 4, .points = 8, .body = same_name, .silent = true},
        {.name = "gone on", .size = 3, .points = 4, .body = gone_on, .silent = true},
        {.name = "freed at work", .size = 3, .points = 6, .body = freed_at_work, .silent = true},
        {.name = "gone root", .size = 3, .points = 3, .body = gone_root, .silent = true},
        {.name = "own call",
         .size = 3,
         .points = 3,
         .body = own_call,
         .silent = true,
         .deaths = {{2, 0, 3}}},
        {.name = "found",
         .size = 3,
         .points = 4,
         .body = found,
         .silent = true,
         .deaths = {{2, 0, 3}}},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
