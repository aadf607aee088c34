/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every collective, send and receive, with buffers in host memory, device memory and managed
 * memory, in groups of every kind of backend, on the stand-in for hardware, against the plain
 * model. Device memory faults when the host touches it, so whatever is right here went the right
 * way.
 */
#include "config.h"

#include "collective_expect.h"
#include "gpu_memory.h"
#include "grouptest.h"
#include "model.h"
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000, COUNTS = 6, FILLER = 0xa5 };

/* Of how many cases one is drawn; MUSTER_TEST_LARGE=1 makes twelve times as many. */
enum { ONE_OF = 24, ONE_REDUCTION_OF = 120 };

static const struct {
    const char *asked;
    const char *is; /* muster_group_backend() */
    bool native;
} backends[] = {
    {"cpu:gloo,cuda:nccl", "cpu:gloo,cuda:nccl", true},
    {"nccl", "nccl", true},
    {"gloo", "gloo", false},
};
enum { BACKENDS = sizeof(backends) / sizeof(*backends) };

/* What this rank's memory is after the call. */
static bool is_right(const setting *s, const char *got, const char *before,
                     const expect_places *places, const char *expected, muster_status status)
{
    size_t received =
        expect_receives(s) ? muster_type_size(s->type) * row_receive_count(s, s->rank) : 0;
    bool right = status == MUSTER_OK && memcmp(got + places->receive, expected, received) == 0;
    size_t behind = places->receive + received;
    bool kept = memcmp(got, before, places->receive) == 0 &&
                memcmp(got + behind, before + behind, places->bytes - behind) == 0;
    if (!right || !kept)
        diag("rank %d of %d: %s of %zu %s, %s, root %d, form %d: %s", s->rank, s->n, s->row->name,
             s->count, muster_type_name(s->type), muster_reduction_name(s->kind), s->root, s->form,
             status != MUSTER_OK ? muster_last_error()
             : right             ? "it wrote elsewhere"
                                 : "wrong values");
    return right && kept;
}

/* One piece for all cases, which is what takes long. */
static char *memory_of(gpu_place where, size_t bytes)
{
    enum { MOST = 4 << 20 };
    static char *pieces[GPU_PLACES];
    if (bytes > MOST)
        bail_out("a case of %zu bytes", bytes);
    if (pieces[where] == NULL)
        pieces[where] = gpu_alloc(where, MOST);
    return pieces[where];
}

static bool call_right(const setting *s, gpu_place where, char *const *arrays, const char *expected)
{
    expect_places places;
    expect_place(s, &places);
    size_t sent = muster_type_size(s->type) * row_send_count(s, s->rank);
    char *memory = memory_of(where, places.bytes), *before = malloc(places.bytes);
    char *after = malloc(places.bytes);
    if (before == NULL || after == NULL)
        bail_out("no memory");
    memset(before, FILLER, places.bytes);
    if (expect_sends(s, s->rank))
        memcpy(before + (s->row->traits & ROW_ONE_BUFFER ? places.receive : places.send),
               arrays[s->rank], sent);
    gpu_put(memory, before, places.bytes);
    muster_status status = s->row->call(s, memory + places.send, memory + places.receive);
    gpu_get(after, memory, places.bytes);
    bool right = is_right(s, after, before, &places, expected, status);
    free(before);
    free(after);
    return right;
}

static bool case_right(const setting *s, gpu_place where)
{
    char *arrays[ROWS_MOST_RANKS];
    size_t size = muster_type_size(s->type);
    char *expected = malloc(size * row_receive_count(s, s->rank) + 1);
    for (int r = 0; r < s->n; r++) {
        size_t count = row_send_count(s, r);
        arrays[r] = malloc(size * count + 1);
        if (arrays[r] == NULL || expected == NULL)
            bail_out("no memory");
        if (expect_concerns(s, r))
            model_fill(arrays[r], s->type, model_hash(s->seed, (uint64_t)r), count);
    }
    expect_result(s, arrays, expected);
    bool right = call_right(s, where, arrays, expected);
    for (int r = 0; r < s->n; r++)
        free(arrays[r]);
    free(expected);
    return right;
}

/* In a group of a device's communicator operations have one order, so that a ring of single
 * messages would wait for itself: it is made of a batch there. */
static bool waits_for_itself(const setting *s, bool native, gpu_place where)
{
    bool by_messages =
        !native || (where == GPU_HOST && strstr(muster_group_backend(s->group), "gloo") != NULL);
    return s->row->traits & ROW_FROM_LEFT && !by_messages;
}

/* How a device rounds what has fewer than 32 bits is its own affair. */
static bool is_exact(const setting *s, bool native, gpu_place where)
{
    return !native || where == GPU_HOST || expect_is_whole(s->type) ||
           muster_type_size(s->type) >= 4;
}

static uint64_t one_of(const row *one)
{
    const char *large = getenv("MUSTER_TEST_LARGE");
    uint64_t number = one->traits & ROW_REDUCES ? ONE_REDUCTION_OF : ONE_OF;
    return large != NULL && strcmp(large, "1") == 0 ? number / 12 : number;
}

/* All cases of one row and type that are drawn; the same on every rank. */
static bool type_right(setting *s, bool native, gpu_place where, const muster_reduction *premuls)
{
    static const size_t counts[COUNTS] = {0, 1, 7, 51, 1000, 20000};
    int kinds = s->row->traits & ROW_REDUCES ? MUSTER_NUM_REDUCTIONS : 1;
    uint64_t seed = model_hash(model_seed(), (uint64_t)(s->row - rows) * 100 + (uint64_t)s->type);
    bool right = true;
    for (int i = 0; right && i < kinds * COUNTS * s->row->forms; i++) {
        uint64_t pick = model_hash(seed + (uint64_t)where, (uint64_t)i);
        s->kind = (muster_reduction)(i / s->row->forms / COUNTS);
        s->form = i % s->row->forms;
        s->count = counts[i / s->row->forms % COUNTS];
        s->root = (int)(pick / 64 % (uint64_t)s->n);
        s->seed = pick;
        s->redop = s->kind == MUSTER_PREMUL_SUM ? premuls[expect_is_whole(s->type)] : s->kind;
        bool has = !(s->row->traits & ROW_REDUCES) ||
                   (model_has(s->type, s->kind) && is_exact(s, native, where));
        if (has && pick % one_of(s->row) == 0 && !waits_for_itself(s, native, where))
            right = case_right(s, where);
    }
    return right;
}

static bool place_right(setting *s, bool native, gpu_place where, const muster_reduction *premuls)
{
    bool right = true;
    for (int i = 0; right && i < num_rows; i++) {
        s->row = &rows[i];
        int types = s->row->send == NONE ? 1 : MUSTER_NUM_TYPES;
        for (int t = 0; right && t < types; t++) {
            s->type = (muster_type)t;
            right = type_right(s, native, where, premuls);
        }
    }
    return right;
}

static void every_place(int rank, int size)
{
    gpu_take(rank);
    for (int b = 0; b < BACKENDS; b++) {
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        args.group_name = backends[b].asked;
        args.backend = backends[b].asked;
        args.timeout_ms = T;
        muster_group *group = group_of(&args);
        is_str(muster_group_backend(group), backends[b].is, "'%s'", backends[b].asked);
        muster_reduction premuls[2];
        bool made = muster_reduction_premul_sum(group, expect_scalar(MUSTER_INT8, rank),
                                                &premuls[1]) == MUSTER_OK &&
                    muster_reduction_premul_sum(group, expect_scalar(MUSTER_FLOAT32, rank),
                                                &premuls[0]) == MUSTER_OK;
        setting s = {.group = group, .rank = rank, .n = size};
        for (gpu_place where = 0; where < GPU_PLACES; where++)
            ok(made && place_right(&s, backends[b].native, where, premuls),
               "'%s', buffers in %s memory", backends[b].asked, gpu_place_names[where]);
        ok(group_works(group), "'%s' works", backends[b].asked);
        ranks_barrier();
        muster_group_free(group);
    }
}

int main(int argc, char **argv)
{
    needs_gloo();
    standin_use("2.28");
    static const struct ranks_case cases[] = {
#define EVERY(count)                                                                               \
    {.name = "ranks " #count,                                                                      \
     .size = count,                                                                                \
     .points = BACKENDS * (2 + GPU_PLACES),                                                        \
     .body = every_place,                                                                          \
     .silent = true,                                                                               \
     .seconds = 120}
        EVERY(1),
        EVERY(2),
        EVERY(3),
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
