/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every operation with every type and reduction on device memory, against the plain model: one rank
 * on NCCL, several ranks of one GPU staged over Gloo, and a rank for each GPU. The cases are named
 * as arguments. What is around a result must stay as it was.
 */
#include "config.h"

#include "collective_expect.h"
#include "gpu/common.h"
#include "gpu/mild.h"
#include "gpu_memory.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum { FILLER = 0xa5, ROUNDS = 4, ROWS = 16 };

/* A group and what a case needs beside its setting. */
typedef struct bench {
    muster_group *group;
    bool native; /* NCCL has a say in what device memory becomes */
    muster_reduction premuls[2];
    long cases;
    int64_t began_ms;
} bench;

/* One case's memory: on the device, and the same before and after on the host. */
typedef struct buffers {
    expect_places places;
    char *there, *before, *after;
    size_t received;
} buffers;

static void *need(size_t size)
{
    void *memory = malloc(size + 1);
    if (memory == NULL)
        bail_out("no memory");
    return memory;
}

static bool is_mild(const setting *s, const bench *b)
{
    return b->native && s->row->traits & ROW_REDUCES && !expect_is_whole(s->type);
}

static bool compare(const setting *s, const bench *b, buffers *m, const char *expected,
                    muster_status status)
{
    const char *result = m->after + m->places.receive;
    bool right = status == MUSTER_OK;
    if (right && is_mild(s, b))
        right = mild_same(result, expected, s->type, s->kind, s->n,
                          m->received / muster_type_size(s->type));
    else if (right)
        right = memcmp(result, expected, m->received) == 0;
    memcpy(m->before + m->places.receive, result, m->received);
    bool kept = memcmp(m->before, m->after, m->places.bytes) == 0;
    if (!right || !kept)
        diag("rank %d of %d: %s of %zu %s, %s, root %d, form %d: %s", s->rank, s->n, s->row->name,
             s->count, muster_type_name(s->type), muster_reduction_name(s->kind), s->root, s->form,
             status != MUSTER_OK ? muster_last_error()
             : right             ? "it wrote elsewhere"
                                 : "wrong values");
    return right && kept;
}

/* One piece for all cases, since to allocate takes long. */
static char *memory_there(size_t size)
{
    enum { MOST = 8 << 20 };
    static char *piece;
    if (size > MOST)
        bail_out("a case of %zu bytes", size);
    if (piece == NULL)
        piece = gpu_alloc(GPU_DEVICE, MOST);
    return piece;
}

static bool call_right(const setting *s, const bench *b, char *const *given, const char *expected)
{
    buffers m;
    size_t size = muster_type_size(s->type), sent = size * row_send_count(s, s->rank);
    expect_place(s, &m.places);
    m.received = expect_receives(s) ? size * row_receive_count(s, s->rank) : 0;
    m.there = memory_there(m.places.bytes);
    m.before = need(m.places.bytes);
    m.after = need(m.places.bytes);
    memset(m.before, FILLER, m.places.bytes);
    if (expect_sends(s, s->rank))
        memcpy(m.before + (s->row->traits & ROW_ONE_BUFFER ? m.places.receive : m.places.send),
               given[s->rank], sent);
    gpu_put(m.there, m.before, m.places.bytes);
    muster_status status = s->row->call(s, m.there + m.places.send, m.there + m.places.receive);
    gpu_get(m.after, m.there, m.places.bytes);
    bool right = compare(s, b, &m, expected, status);
    free(m.before);
    free(m.after);
    return right;
}

static bool case_right(const setting *s, bench *b)
{
    char *given[ROWS_MOST_RANKS];
    size_t size = muster_type_size(s->type);
    char *expected = need(size * row_receive_count(s, s->rank));
    for (int r = 0; r < s->n; r++) {
        uint64_t seed = model_hash(s->seed, (uint64_t)r);
        given[r] = need(size * row_send_count(s, r));
        if (is_mild(s, b))
            mild_fill(given[r], s->type, s->kind, seed, row_send_count(s, r));
        else
            model_fill(given[r], s->type, seed, row_send_count(s, r));
    }
    expect_result(s, given, expected);
    bool right = call_right(s, b, given, expected);
    for (int r = 0; r < s->n; r++)
        free(given[r]);
    free(expected);
    b->cases++;
    return right;
}

/* Every reduction of a type, each round with another count, root and place of the buffers; the same
 * on all ranks. */
static bool type_right(setting *s, bench *b)
{
    static const size_t counts[] = {1, 0, 7, 200, 5001, 20000};
    int kinds = s->row->traits & ROW_REDUCES ? MUSTER_NUM_REDUCTIONS : 1;
    int rounds = common_few() ? 1 : ROUNDS;
    bool right = true;
    for (int i = 0; right && i < kinds * rounds; i++) {
        s->kind = (muster_reduction)(i % kinds);
        s->seed = model_hash(model_seed() + (uint64_t)(s->row - rows) * 100 + (uint64_t)s->type,
                             (uint64_t)i);
        s->count = counts[s->seed % (sizeof(counts) / sizeof(*counts))];
        if (i < kinds && s->count == 0) /* not in the only round that there may be */
            s->count = counts[0];
        s->form = (int)(s->seed / 8 % (uint64_t)s->row->forms);
        s->root = (int)(s->seed / 64 % (uint64_t)s->n);
        s->redop = s->kind == MUSTER_PREMUL_SUM ? b->premuls[expect_is_whole(s->type)] : s->kind;
        if (!(s->row->traits & ROW_REDUCES) || model_has(s->type, s->kind))
            right = case_right(s, b);
    }
    return right;
}

/* A ring of single messages waits for itself where they have one order with all else; the row of
 * batches has what it would show. */
static bool row_right(setting *s, bench *b)
{
    bool right = true;
    int types = s->row->send == NONE ? 1 : MUSTER_NUM_TYPES;
    if (b->native && s->row->traits & ROW_FROM_LEFT)
        return true;
    for (int t = 0; right && t < types; t++) {
        s->type = (muster_type)t;
        right = type_right(s, b);
    }
    return right;
}

static void bench_points(bench *b, const char *backend, int rank, int size)
{
    setting s = {.group = b->group, .rank = rank, .n = size};
    bool made = muster_reduction_premul_sum(b->group, expect_scalar(MUSTER_INT8, rank),
                                            &b->premuls[1]) == MUSTER_OK &&
                muster_reduction_premul_sum(b->group, expect_scalar(MUSTER_FLOAT32, rank),
                                            &b->premuls[0]) == MUSTER_OK;
    b->began_ms = now_ms();
    for (int i = 0; i < ROWS; i++) {
        s.row = &rows[i];
        bool skipped = b->native && s.row->traits & ROW_FROM_LEFT;
        ok(made && row_right(&s, b), "%s: %s%s", backend, s.row->name,
           skipped ? " (as a batch)" : "");
    }
}

static void on(const char *backend, int rank, int size, const char *what)
{
    bench b = {.group = common_group(backend)};
    b.native = strstr(backend, "nccl") != NULL;
    is_str(muster_group_backend(b.group), backend, "%s", what);
    bench_points(&b, backend, rank, size);
    ok(group_works(b.group), "%s: host memory too", backend);
    if (rank == 0)
        common_row("%-34s %5ld cases in %5.1f s", what, b.cases,
                   (double)(now_ms() - b.began_ms) / 1000);
    common_leave(b.group);
}

static void one(int rank, int size)
{
    gpu_take(0);
    on("nccl", rank, size, "one rank on nccl");
}

static void staged(int rank, int size)
{
    gpu_take(0);
    on("gloo", rank, size, size == 2 ? "2 ranks of one GPU on gloo" : "4 ranks of one GPU on gloo");
}

static void each(int rank, int size)
{
    gpu_take(rank);
    on("nccl", rank, size, "a GPU each, on nccl");
    on("cpu:gloo,cuda:nccl", rank, size, "a GPU each, on cpu:gloo,cuda:nccl");
}

int main(int argc, char **argv)
{
    if (num_rows != ROWS)
        bail_out("there are %d rows", num_rows);
#define CASE(title, ranks, times, function)                                                        \
    {                                                                                              \
        .name = title, .size = ranks, .points = (times) * (ROWS + 2), .body = function,            \
        .seconds = 40                                                                              \
    }
    static const struct ranks_case cases[] = {
        CASE("one", 1, 1, one),    CASE("staged2", 2, 1, staged), CASE("staged4", 4, 1, staged),
        CASE("each2", 2, 2, each), CASE("each3", 3, 2, each),     CASE("each4", 4, 2, each),
        CASE("each8", 8, 2, each),
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
