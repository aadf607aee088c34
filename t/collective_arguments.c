/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wrong arguments of collectives and messages: each is refused on the rank that gives it, in a
 * sentence that says what is wrong, and the group goes on working.
 */
#include "config.h"

#include "grouptest.h"

#include <string.h>
#include <time.h>

enum { T = 20000 };

static const muster_type I = MUSTER_INT32, F = MUSTER_FLOAT32, X = (muster_type)99;
static const muster_reduction S = MUSTER_SUM;
static const size_t each[] = {1, 1}, much[] = {SIZE_MAX / 3, SIZE_MAX / 3}, odd[] = {2, 3};
static int32_t a[16], b[16];

#define REFUSED(call, says)                                                                        \
    is_status(call, MUSTER_ERR_ARGUMENT, #call);                                                   \
    has_str(muster_last_error(), says, "%s is said", says)

static void one_array(muster_group *g)
{
    REFUSED(muster_broadcast(g, NULL, 1, I, 0, NULL), "buffer is NULL");
    REFUSED(muster_broadcast(g, a, 1, X, 0, NULL), "99");
    REFUSED(muster_broadcast(g, a, 1, I, 2, NULL), "root 2");
    REFUSED(muster_broadcast(g, a, 1, I, -1, NULL), "root -1");
    REFUSED(muster_broadcast(g, a, SIZE_MAX, I, 0, NULL),
            "the count is 18446744073709551615, and memory can hold 2305843009213693951 int32");
    REFUSED(muster_all_reduce(g, NULL, b, 1, I, S, NULL), "send is NULL");
    REFUSED(muster_all_reduce(g, a, NULL, 1, I, S, NULL), "receive is NULL");
    REFUSED(muster_all_reduce(g, a, b, 1, X, S, NULL), "no element type");
    REFUSED(muster_all_reduce(g, a, b, SIZE_MAX / 4, I, S, NULL), "memory can hold");
    REFUSED(muster_reduce(g, a, b, 1, I, S, 2, NULL), "root 2");
    REFUSED(muster_reduce(g, NULL, b, 1, I, S, 0, NULL), "send is NULL");
    REFUSED(muster_reduce(g, a, NULL, 1, I, S, muster_group_rank(g), NULL), "receive is NULL");
}

static void blocks(muster_group *g)
{
    int me = muster_group_rank(g);
    REFUSED(muster_all_gather(g, NULL, b, 1, I, NULL), "send is NULL");
    REFUSED(muster_all_gather(g, a, NULL, 1, I, NULL), "receive is NULL");
    REFUSED(muster_all_gather(g, a, b, 1, X, NULL), "no element type");
    REFUSED(muster_all_gather(g, a, b, SIZE_MAX / 12, I, NULL), "memory can hold");
    REFUSED(muster_all_gather_v(g, a, b, NULL, I, NULL), "counts is NULL");
    REFUSED(muster_all_gather_v(g, NULL, b, each, I, NULL), "send is NULL");
    REFUSED(muster_all_gather_v(g, a, NULL, each, I, NULL), "receive is NULL");
    REFUSED(muster_all_gather_v(g, a, b, much, MUSTER_INT8, NULL), "memory can hold");
    REFUSED(muster_all_gather_v(g, a, b, each, X, NULL), "no element type");
    REFUSED(muster_gather(g, a, NULL, 1, I, me, NULL),
            "receive is NULL, but is to hold 2 elements");
    REFUSED(muster_gather(g, NULL, b, 1, I, 1 - me, NULL), "send is NULL");
    REFUSED(muster_gather(g, a, b, SIZE_MAX / 12, I, me, NULL), "memory can hold");
    REFUSED(muster_gather_v(g, a, 1, b, NULL, I, me, NULL), "counts is NULL");
    REFUSED(muster_gather_v(g, a, 1, b, odd, I, me, NULL), "but the count is 1");
    REFUSED(muster_scatter(g, NULL, b, 1, I, me, NULL), "send is NULL");
    REFUSED(muster_scatter(g, a, NULL, 1, I, 1 - me, NULL), "receive is NULL");
    REFUSED(muster_scatter_v(g, a, NULL, b, 1, I, me, NULL), "counts is NULL");
    REFUSED(muster_scatter_v(g, a, odd, b, 1, I, me, NULL), "but the count is 1");
    REFUSED(muster_reduce_scatter(g, a, b, SIZE_MAX / 12, I, S, NULL), "memory can hold");
    REFUSED(muster_reduce_scatter_v(g, a, b, NULL, I, S, NULL), "counts is NULL");
    REFUSED(muster_all_to_all(g, a, NULL, 1, I, NULL), "receive is NULL");
    REFUSED(muster_all_to_all_v(g, a, NULL, b, each, I, NULL), "send_counts is NULL");
    REFUSED(muster_all_to_all_v(g, a, each, b, NULL, I, NULL), "receive_counts is NULL");
    REFUSED(muster_all_to_all_v(g, a, each, b, odd, I, NULL), "that of receive_counts");
}

/* Reductions that the type lacks, and those that carry a scalar. */
static void reductions(muster_group *g)
{
    muster_reduction half, gone;
    is_status(muster_reduction_premul_sum(g, 0.5, &half), MUSTER_OK, "half of each");
    is_status(muster_reduction_premul_sum(g, 1, &gone), MUSTER_OK, "another");
    ok(half != gone, "is another");
    muster_reduction_free(g, gone);
    muster_reduction_free(g, gone);
    muster_reduction_free(g, MUSTER_SUM);
    muster_reduction_free(NULL, half);
    REFUSED(muster_all_reduce(g, a, b, 1, I, (muster_reduction)-1, NULL), "no reduction");
    REFUSED(muster_all_reduce(g, a, b, 1, I, MUSTER_NUM_REDUCTIONS, NULL), "no reduction");
    REFUSED(muster_all_reduce(g, a, b, 1, F, MUSTER_PREMUL_SUM, NULL), "lacks its scalar");
    REFUSED(muster_all_reduce(g, a, b, 1, F, gone, NULL),
            "premul_sum number 2 is no reduction of this group any more");
    REFUSED(muster_all_reduce(g, a, b, 1, I, half, NULL), "0.5 is no int32");
    REFUSED(muster_all_reduce(g, a, b, 1, MUSTER_BOOL, half, NULL), "not defined for bool");
    REFUSED(muster_reduce(g, a, b, 1, MUSTER_BOOL, MUSTER_AVG, 0, NULL), "avg is not defined");
    REFUSED(muster_reduce_scatter(g, a, b, 1, F, MUSTER_BAND, NULL), "band is not defined");
    REFUSED(muster_all_reduce(g, a, b, 1, MUSTER_FLOAT8_E4M3, MUSTER_BXOR, NULL), "float8_e4m3");
    REFUSED(muster_reduction_premul_sum(g, 1, NULL), "redop is NULL");
    is_status(muster_reduction_premul_sum(NULL, 1, &gone), MUSTER_ERR_NOT_MEMBER, "no group");
    float mine = (float)muster_group_rank(g) + 1, sum = 0;
    is_status(muster_all_reduce(g, &mine, &sum, 1, F, half, NULL), MUSTER_OK, "a scaled sum");
    ok(sum == 1.5F, "is right");
}

/* A reduction takes no longer to make, to use or to free where there are many. */
static void many_reductions(muster_group *g)
{
    enum { MANY = 50000 };
    static muster_reduction made[MANY];
    bool good = true;
    float mine = (float)muster_group_rank(g) + 1, sum = 0;
    clock_t began = clock();
    for (int i = 0; i < MANY; i++)
        good = muster_reduction_premul_sum(g, i, &made[i]) == MUSTER_OK && good;
    good = muster_all_reduce(g, &mine, &sum, 1, F, made[7], NULL) == MUSTER_OK && good;
    for (int i = 0; i < MANY; i++)
        muster_reduction_free(g, made[i]);
    double took = (double)(clock() - began) / CLOCKS_PER_SEC;
    ok(good && sum == 21 && took < 3, "%d reductions", (int)MANY);
}

/* Buffers that overlap where they must not. */
static void overlaps(muster_group *g)
{
    int me = muster_group_rank(g);
    REFUSED(muster_all_reduce(g, a, a + 1, 4, I, S, NULL), "overlap");
    REFUSED(muster_reduce(g, a + 1, a, 4, I, S, me, NULL), "must be the same");
    REFUSED(muster_all_gather(g, a + 2 * (1 - me), a, 2, I, NULL), "this rank's block of receive");
    REFUSED(muster_gather(g, a + 1, a, 2, I, me, NULL), "this rank's block of receive");
    REFUSED(muster_scatter(g, a, a + 1, 2, I, me, NULL), "this rank's block of send");
    REFUSED(muster_reduce_scatter(g, a, a + 1, 2, I, S, NULL), "this rank's block of send");
    REFUSED(muster_all_to_all(g, a, a + 1, 2, I, NULL), "must be the same");
    is_status(muster_all_reduce(g, a, a + 4, 4, I, S, NULL), MUSTER_OK, "side by side is fine");
    is_status(muster_all_reduce(g, a, a, 0, I, S, NULL), MUSTER_OK, "nothing overlaps nothing");
}

/* Elements where their type must not be, which some processors do not bear. */
static void misaligned(muster_group *g)
{
    int other = 1 - muster_group_rank(g);
    char *off = (char *)a + 1;
    size_t one = 1;
    muster_tokens *all;
    const muster_token_lists list = {1, &one, (const int64_t *)((uintptr_t)a / 8 * 8 + 12)};
    const muster_transfer astray = {MUSTER_RECEIVES, other, 1, {.receive = off + 1}, F};
    REFUSED(muster_all_reduce(g, off, b, 1, F, S, NULL), "send at ");
    REFUSED(muster_all_reduce(g, b, off, 1, F, S, NULL), "float32 must be at multiples of 4");
    REFUSED(muster_broadcast(g, off + 1, 1, F, 0, NULL), "buffer at ");
    REFUSED(muster_all_gather(g, off, b, 1, MUSTER_BFLOAT16, NULL), "multiples of 2");
    REFUSED(muster_send(g, off, 1, MUSTER_INT64, other, NULL), "is not aligned: int64");
    REFUSED(muster_recv(g, off, 1, MUSTER_FLOAT16, other, NULL), "is not aligned: float16");
    REFUSED(muster_batch_send_recv(g, &astray, 1, NULL), "the buffer of transfers[0] at ");
    REFUSED(muster_all_gather_tokens(g, &list, &all), "tokens at ");
    is_status(muster_all_reduce(g, off, b, 1, MUSTER_UINT8, S, NULL), MUSTER_OK, "bytes are fine");
    is_status(muster_all_reduce(g, off, b, 0, F, S, NULL), MUSTER_OK, "and nothing, anywhere");
}

static muster_transfer transfer(muster_direction direction, int peer, size_t count)
{
    return (muster_transfer){
        .direction = direction, .peer = peer, .count = count, .type = I, .receive = b};
}

static void messages(muster_group *g)
{
    int me = muster_group_rank(g), other = 1 - me;
    REFUSED(muster_send(g, NULL, 1, I, other, NULL), "buffer is NULL");
    REFUSED(muster_send(g, a, 1, X, other, NULL), "no element type");
    REFUSED(muster_send(g, a, 1, I, me, NULL), "itself");
    REFUSED(muster_send(g, a, 1, I, 2, NULL), "destination 2");
    REFUSED(muster_send(g, a, SIZE_MAX, I, other, NULL), "memory can hold");
    REFUSED(muster_recv(g, NULL, 1, I, other, NULL), "buffer is NULL");
    REFUSED(muster_recv(g, a, 1, X, other, NULL), "no element type");
    REFUSED(muster_recv(g, a, 1, I, me, NULL), "itself");
    REFUSED(muster_recv(g, a, 1, I, -3, NULL), "source -3");
    muster_transfer list[2] = {transfer(MUSTER_SENDS, other, 1), transfer(MUSTER_SENDS, 2, 1)};
    REFUSED(muster_batch_send_recv(g, NULL, 1, NULL), "transfers is NULL");
    REFUSED(muster_batch_send_recv(g, list, SIZE_MAX, NULL), "memory can hold");
    REFUSED(muster_batch_send_recv(g, list, 2, NULL), "the peer of transfers[1]");
    list[1] = transfer((muster_direction)0, other, 1);
    REFUSED(muster_batch_send_recv(g, list, 2, NULL), "the direction of transfers[1] is 0");
    list[1] = transfer(MUSTER_RECEIVES, other, 1);
    list[1].receive = NULL;
    REFUSED(muster_batch_send_recv(g, list, 2, NULL), "the buffer of transfers[1] is NULL");
    list[1].type = X;
    REFUSED(muster_batch_send_recv(g, list, 2, NULL), "no element type");
    list[1] = transfer(MUSTER_RECEIVES, me, 1);
    REFUSED(muster_batch_send_recv(g, list, 2, NULL), "transfers[1] is with the calling rank");
    list[0] = transfer(MUSTER_SENDS, me, 2);
    REFUSED(muster_batch_send_recv(g, list, 2, NULL), "this rank sends itself 2 int32");
    is_status(muster_batch_send_recv(g, NULL, 0, NULL), MUSTER_OK, "an empty batch");
}

static void no_group(void)
{
    is_status(muster_barrier(NULL, NULL), MUSTER_ERR_NOT_MEMBER, "no group");
    is_status(muster_all_to_all(NULL, a, b, 1, I, NULL), MUSTER_ERR_NOT_MEMBER, "nor here");
    is_status(muster_send(NULL, a, 1, I, 0, NULL), MUSTER_ERR_NOT_MEMBER, "no group to send in");
    is_status(muster_batch_send_recv(NULL, NULL, 0, NULL), MUSTER_ERR_NOT_MEMBER, "nor a batch");
}

static void handles_of_nothing(muster_group *g)
{
    bool done;
    REFUSED(muster_work_test(NULL, &done), "work is NULL");
    REFUSED(muster_work_wait(NULL, 0), "work is NULL");
    muster_work *work = NULL;
    is_status(muster_barrier(g, &work), MUSTER_OK, "a handle");
    REFUSED(muster_work_test(work, NULL), "done is NULL");
    REFUSED(muster_work_wait(work, -2), "negative");
    is_status(muster_work_wait(work, T), MUSTER_OK, "is waited for");
    muster_work_free(work);
    muster_work_free(NULL);
}

static void wrong_arguments(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *g = world_of("world", T);
    one_array(g);
    blocks(g);
    reductions(g);
    many_reductions(g);
    overlaps(g);
    misaligned(g);
    messages(g);
    no_group();
    handles_of_nothing(g);
    ok(group_works(g), "the group goes on");
    ranks_barrier();
    muster_group_free(g);
}

int main(int argc, char **argv)
{
    needs_gloo();
    enum {
        POINTS = 2 * 12 + 2 * 24 + (2 * 10 + 6) + (2 * 7 + 2) + (2 * 17 + 1) + 4 + (2 * 4 + 2) + 1 +
                 (2 * 8 + 2) + 1
    };
    static const struct ranks_case cases[] = {
        {.name = "wrong", .size = 2, .points = POINTS, .body = wrong_arguments, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
