/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives and messages between two ranks, against a plain model, and wrong arguments.
 */
#include "config.h"

#include "grouptest.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 20000, LONGEST = 50000, MOST = 8 };

static const size_t counts[] = {0, 1, 2, 3, 17, 1023, LONGEST};
enum { NUM_COUNTS = sizeof(counts) / sizeof(*counts) };

/* Room for every rank's longest block of the widest type. */
static char sent[LONGEST * 8], received[LONGEST * 8 * MOST + 1];

static bool reduces(muster_group *group, muster_type type, muster_reduction redop, size_t count,
                    bool in_place)
{
    size_t bytes = count * muster_type_size(type);
    void *expected = model_all_reduce(type, redop, muster_group_size(group), count);
    void *from = in_place ? received : sent;
    memset(received, 0xa5, bytes + 1);
    model_fill(from, type, muster_group_rank(group), count);
    received[bytes] = 77;
    bool good = muster_all_reduce(group, count == 0 ? NULL : from, count == 0 ? NULL : received,
                                  count, type, redop, NULL) == MUSTER_OK &&
                memcmp(received, expected, bytes) == 0 && received[bytes] == 77;
    if (!good)
        diag("%s of %zu %s: %s", muster_reduction_name(redop), count, muster_type_name(type),
             muster_last_error());
    free(expected);
    return good;
}

static bool broadcasts(muster_group *group, muster_type type, size_t count, int root)
{
    size_t bytes = count * muster_type_size(type);
    bool mine = muster_group_rank(group) == root;
    model_fill(sent, type, root, count);
    memset(received, 0xa5, bytes + 1);
    if (mine)
        memcpy(received, sent, bytes);
    return muster_broadcast(group, received, count, type, root, NULL) == MUSTER_OK &&
           memcmp(received, sent, bytes) == 0 && received[bytes] == (char)0xa5;
}

/* Blocks of counts[r] elements; equal says by which of the two calls. */
static bool gathers(muster_group *group, muster_type type, const size_t *lengths, bool equal,
                    bool in_place)
{
    size_t size = muster_type_size(type), offset = 0, mine = 0, total = 0;
    int rank = muster_group_rank(group), ranks = muster_group_size(group);
    for (int r = 0; r < ranks; r++) {
        mine = r == rank ? total : mine;
        total += lengths[r] * size;
    }
    memset(received, 0xa5, total + 1);
    char *from = in_place ? received + mine : sent;
    model_fill(from, type, rank, lengths[rank]);
    muster_status status = equal ? muster_all_gather(group, from, received, lengths[0], type, NULL)
                                 : muster_all_gather_v(group, from, received, lengths, type, NULL);
    bool good = status == MUSTER_OK && received[total] == (char)0xa5;
    for (int r = 0; good && r < ranks; offset += lengths[r++] * size) {
        model_fill(sent, type, r, lengths[r]);
        good = memcmp(received + offset, sent, lengths[r] * size) == 0;
    }
    return good;
}

/* One message round the ring with handles, count elements. */
static bool rings(muster_group *group, muster_type type, size_t count)
{
    int rank = muster_group_rank(group), size = muster_group_size(group);
    muster_work *out = NULL, *in = NULL;
    model_fill(sent, type, rank, count);
    bool good =
        muster_recv(group, received, count, type, (rank + size - 1) % size, &in) == MUSTER_OK &&
        muster_send(group, sent, count, type, (rank + 1) % size, &out) == MUSTER_OK &&
        muster_work_wait(in, MUSTER_TIMEOUT_DEFAULT) == MUSTER_OK &&
        muster_work_wait(out, T) == MUSTER_OK && muster_work_wait(out, 0) == MUSTER_OK;
    muster_work_free(in);
    muster_work_free(out);
    model_fill(sent, type, (rank + size - 1) % size, count);
    return good && memcmp(received, sent, count * muster_type_size(type)) == 0;
}

static void every_call(int rank, int size)
{
    muster_group *group = world_of("world", T);
    int reduced = 0, cast = 0, gathered = 0, ragged = 0, rung = 0, casts = 0, calls = 0;
    for (int t = 0; t < MUSTER_NUM_TYPES; t++) {
        /* The longest for every third type, to be done in seconds. */
        int num_counts = t % 3 == 1 ? NUM_COUNTS : NUM_COUNTS - 1;
        for (int c = 0; c < num_counts; c++, calls++) {
            for (int op = 0; op < MUSTER_NUM_REDUCTIONS; op++)
                for (int in_place = 0; in_place < 2; in_place++)
                    reduced += reduces(group, (muster_type)t, (muster_reduction)op, counts[c],
                                       in_place == 1);
            for (int root = 0; root < size; root++, casts++)
                cast += broadcasts(group, (muster_type)t, counts[c], root);
            size_t equal[MOST], unequal[MOST];
            for (int r = 0; r < size; r++) {
                equal[r] = counts[c];
                unequal[r] = counts[(c + r) % num_counts];
            }
            for (int in_place = 0; in_place < 2; in_place++) {
                gathered += gathers(group, (muster_type)t, equal, true, in_place == 1);
                ragged += gathers(group, (muster_type)t, unequal, false, in_place == 1);
            }
            rung += size == 1 || rings(group, (muster_type)t, counts[c]);
        }
    }
    is_int(reduced, calls * MUSTER_NUM_REDUCTIONS * 2, "all_reduce");
    is_int(cast, casts, "broadcast");
    is_int(gathered, calls * 2, "all_gather");
    is_int(ragged, calls * 2, "all_gather_v");
    is_int(rung, calls, "send and recv round the ring");
    is_status(muster_barrier(group, NULL), MUSTER_OK, "barrier");
    ok(muster_group_rank(group) == rank && muster_group_check(group) == MUSTER_OK,
       "it still works");
    ranks_barrier();
    muster_group_free(group);
}

/* What min and max make of something that is no number. */
static void not_numbers(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    for (int op = MUSTER_MIN; op <= MUSTER_MAX; op++) {
        double wide[4] = {rank, rank == 1 ? NAN : 5, rank == 0 ? NAN : 5, rank == 2 ? NAN : 5};
        float narrow[4] = {(float)rank, rank == 1 ? NAN : 5, rank == 0 ? NAN : 5,
                           rank == 2 ? NAN : 5};
        muster_status status =
            muster_all_reduce(group, wide, wide, 4, MUSTER_FLOAT64, (muster_reduction)op, NULL);
        ok(status == MUSTER_OK && wide[0] == (op == MUSTER_MIN ? 0 : 2) && isnan(wide[1]) &&
               isnan(wide[2]) && isnan(wide[3]),
           "%s of doubles", muster_reduction_name((muster_reduction)op));
        status =
            muster_all_reduce(group, narrow, narrow, 4, MUSTER_FLOAT32, (muster_reduction)op, NULL);
        ok(status == MUSTER_OK && isnan(narrow[1]) && isnan(narrow[2]) && isnan(narrow[3]),
           "%s of floats", muster_reduction_name((muster_reduction)op));
    }
    muster_group_free(group);
}

static void wrong_arguments(int rank, int size)
{
    muster_group *g = world_of("world", T);
    int32_t a[8] = {0}, b[8] = {0};
    size_t each[] = {1, 1}, much[] = {SIZE_MAX / 3, SIZE_MAX / 3};
    int other = (rank + 1) % size;
    const muster_type I = MUSTER_INT32, X = (muster_type)99;
    const muster_reduction S = MUSTER_SUM, Y = (muster_reduction)-1;
#define REFUSED(call, says)                                                                        \
    is_status(call, MUSTER_ERR_ARGUMENT, #call);                                                   \
    has_str(muster_last_error(), says, "%s is said", says)
    REFUSED(muster_broadcast(g, NULL, 1, I, 0, NULL), "buffer is NULL");
    REFUSED(muster_broadcast(g, a, 1, X, 0, NULL), "99");
    REFUSED(muster_broadcast(g, a, 1, I, 2, NULL), "root 2");
    REFUSED(muster_broadcast(g, a, 1, I, -1, NULL), "root -1");
    REFUSED(muster_broadcast(g, a, SIZE_MAX, I, 0, NULL), "memory can hold");
    REFUSED(muster_all_reduce(g, NULL, b, 1, I, S, NULL), "send is NULL");
    REFUSED(muster_all_reduce(g, a, NULL, 1, I, S, NULL), "receive is NULL");
    REFUSED(muster_all_reduce(g, a, b, 1, X, S, NULL), "no element type");
    REFUSED(muster_all_reduce(g, a, b, 1, I, Y, NULL), "no reduction");
    REFUSED(muster_all_reduce(g, a, b, 1, I, MUSTER_NUM_REDUCTIONS, NULL), "no reduction");
    REFUSED(muster_all_reduce(g, a, b, SIZE_MAX / 4, I, S, NULL), "memory can hold");
    REFUSED(muster_all_gather(g, NULL, b, 1, I, NULL), "send is NULL");
    REFUSED(muster_all_gather(g, a, NULL, 1, I, NULL), "receive is NULL");
    REFUSED(muster_all_gather(g, a, b, 1, X, NULL), "no element type");
    REFUSED(muster_all_gather(g, a, b, SIZE_MAX / 12, I, NULL), "memory can hold");
    REFUSED(muster_all_gather_v(g, a, b, NULL, I, NULL), "counts is NULL");
    REFUSED(muster_all_gather_v(g, NULL, b, each, I, NULL), "send is NULL");
    REFUSED(muster_all_gather_v(g, a, NULL, each, I, NULL), "receive is NULL");
    REFUSED(muster_all_gather_v(g, a, b, much, MUSTER_INT8, NULL), "memory can hold");
    REFUSED(muster_all_gather_v(g, a, b, each, X, NULL), "no element type");
    REFUSED(muster_send(g, NULL, 1, I, other, NULL), "buffer is NULL");
    REFUSED(muster_send(g, a, 1, X, other, NULL), "no element type");
    REFUSED(muster_send(g, a, 1, I, rank, NULL), "itself");
    REFUSED(muster_send(g, a, 1, I, 2, NULL), "destination 2");
    REFUSED(muster_send(g, a, SIZE_MAX, I, other, NULL), "memory can hold");
    REFUSED(muster_recv(g, NULL, 1, I, other, NULL), "buffer is NULL");
    REFUSED(muster_recv(g, a, 1, X, other, NULL), "no element type");
    REFUSED(muster_recv(g, a, 1, I, rank, NULL), "itself");
    REFUSED(muster_recv(g, a, 1, I, -3, NULL), "source -3");
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
    is_status(muster_barrier(NULL, NULL), MUSTER_ERR_NOT_MEMBER, "no group");
    is_status(muster_send(NULL, a, 1, I, 0, NULL), MUSTER_ERR_NOT_MEMBER, "no group to send in");
    ok(group_works(g), "the group goes on");
    ranks_barrier();
    muster_group_free(g);
}

/* user case 47: handles. */
static void handles(int rank, int size)
{
    (void)size;
    enum { MANY = 100 };
    muster_group *group = world_of("world", T);
    static int32_t in[MANY], out[MANY];
    muster_work *works[MANY] = {NULL}, *work = NULL;
    bool done = false;
    int32_t one = rank + 1, sum = 0;
    is_status(muster_all_reduce(group, &one, &sum, 1, MUSTER_INT32, MUSTER_SUM, &work), MUSTER_OK,
              "an all_reduce is started");
    muster_status status = MUSTER_OK;
    for (int64_t began = now_ms(); status == MUSTER_OK && !done && in_time(began, T);)
        status = muster_work_test(work, &done);
    ok(done && status == MUSTER_OK && sum == 3, "it ends with nobody waiting");
    muster_work_free(work);
    int started = 0, right = 0;
    for (int i = 0; i < MANY; i++) {
        in[i] = i * (rank + 1);
        started += muster_all_reduce(group, &in[i], &out[i], 1, MUSTER_INT32, MUSTER_SUM,
                                     &works[i]) == MUSTER_OK;
    }
    for (int i = MANY - 1; i >= 0; i--) {
        right += muster_work_wait(works[i], T) == MUSTER_OK && out[i] == 3 * i;
        muster_work_free(works[i]);
    }
    ok(started == MANY && right == MANY, "a hundred at once");
    ranks_barrier();
    int64_t began = now_ms();
    if (rank == 0) {
        is_status(muster_recv(group, &sum, 1, MUSTER_INT32, 1, &work), MUSTER_OK, "a receive");
        status = muster_work_test(work, &done);
        ok(status == MUSTER_OK && !done, "is not done yet");
        is_status(muster_work_wait(work, 0), MUSTER_ERR_TIMEOUT, "nor after 0 ms");
        is_status(muster_work_wait(work, 100), MUSTER_ERR_TIMEOUT, "nor after 100 ms");
        ok(in_time(began, 600) && now_ms() - began >= 100, "which are kept");
        ranks_barrier();
        is_status(muster_work_wait(work, T), MUSTER_OK, "but when it is sent");
        is_int(sum, 4711, "as it was sent");
        is_status(muster_work_wait(work, T), MUSTER_OK, "waiting again is fine");
        muster_work_free(work);
    } else {
        skip(5, "rank 0 waits");
        ranks_barrier();
        int32_t number = 4711;
        is_status(muster_send(group, &number, 1, MUSTER_INT32, 0, NULL), MUSTER_OK, "sent");
        skip(2, "rank 0 has it");
    }
    /* Freed early, it goes on. */
    is_status(muster_all_reduce(group, &one, &sum, 1, MUSTER_INT32, MUSTER_SUM, &work), MUSTER_OK,
              "one more");
    muster_work_free(work);
    ok(group_works(group) && sum == 3, "freed early, it is carried out all the same");
    ranks_barrier();
    muster_group_free(group);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
#define EVERY(n) {.name = "ranks " #n, .size = n, .points = 7, .body = every_call, .silent = true}
        EVERY(1),
        EVERY(2),
        EVERY(3),
        EVERY(4),
        EVERY(5),
        EVERY(6),
        EVERY(7),
        EVERY(8),
        {.name = "nan", .size = 3, .points = 4, .body = not_numbers, .silent = true},
        {.name = "wrong", .size = 2, .points = 71, .body = wrong_arguments, .silent = true},
        {.name = "handles", .size = 2, .points = 13, .body = handles, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
