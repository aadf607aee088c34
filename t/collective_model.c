/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user case 43: every collective with every type, reduction and way in place, in groups of 1 to 8
 * ranks, with awkward counts and any root, against the plain model, bit by bit.
 *
 * What is around a result must stay as it was. MUSTER_TEST_LARGE=1 makes every case of the product
 * with every root; else as many as fit into seconds are drawn by MUSTER_TEST_SEED.
 */
#include "config.h"

#include "collective_expect.h"
#include "grouptest.h"
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000, ROWS = 16, FILLER = 0xa5 };

static long long checked[ROWS][MUSTER_NUM_TYPES];

/* ---- the call ---- */

/* The buffers of a call: apart, or one within the other. */
typedef struct buffers {
    char *memory;
    size_t bytes;
    char *send;
    char *receive;
    char *before; /* what memory was before the call */
} buffers;

static void place(const setting *s, buffers *b)
{
    expect_places places;
    expect_place(s, &places);
    b->bytes = places.bytes;
    b->memory = malloc(b->bytes);
    b->before = malloc(b->bytes);
    if (b->memory == NULL || b->before == NULL)
        bail_out("no memory");
    memset(b->memory, FILLER, b->bytes);
    b->send = b->memory + places.send;
    b->receive = b->memory + places.receive;
}

static bool call_right(const setting *s, char *const *arrays, const char *expected)
{
    size_t size = muster_type_size(s->type);
    size_t sent = size * row_send_count(s, s->rank);
    size_t received = expect_receives(s) ? size * row_receive_count(s, s->rank) : 0;
    bool one_buffer = s->row->traits & ROW_ONE_BUFFER;
    buffers b;
    place(s, &b);
    if (expect_sends(s, s->rank))
        memcpy(one_buffer ? b.receive : b.send, arrays[s->rank], sent);
    memcpy(b.before, b.memory, b.bytes);
    const char *from = expect_sends(s, s->rank) && sent > 0 ? b.send : NULL;
    muster_status status = s->row->call(s, from, received > 0 ? b.receive : NULL);
    bool right = status == MUSTER_OK && memcmp(b.receive, expected, received) == 0;
    memcpy(b.before + (b.receive - b.memory), b.receive, received);
    bool kept = memcmp(b.before, b.memory, b.bytes) == 0;
    if (!right || !kept)
        diag("rank %d of %d: %s of %zu %s, %s, root %d, form %d: %s", s->rank, s->n, s->row->name,
             s->count, muster_type_name(s->type), muster_reduction_name(s->kind), s->root, s->form,
             status != MUSTER_OK ? muster_last_error()
             : right             ? "it wrote elsewhere"
                                 : "wrong values");
    free(b.memory);
    free(b.before);
    return right && kept;
}

static bool case_right(const setting *s)
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
    bool right = call_right(s, arrays, expected);
    checked[s->row - rows][s->type]++;
    for (int r = 0; r < s->n; r++)
        free(arrays[r]);
    free(expected);
    return right;
}

/* ---- the product ---- */

/* Counts about the number of ranks, about what an envelope holds, and about where a reduction or a
 * broadcast goes another way. */
enum { COUNTS = 14 };
static size_t count_of(int which, int n, size_t size)
{
    const size_t counts[COUNTS] = {0,
                                   1,
                                   2,
                                   (size_t)n - 1,
                                   (size_t)n,
                                   (size_t)n + 1,
                                   7,
                                   200 / size,
                                   200 / size + 1,
                                   1000,
                                   (1 << 20) / (size_t)n / size,
                                   (1 << 20) / (size_t)n / size + 1,
                                   (32 << 20) / size - 1,
                                   (32 << 20) / size};
    return counts[which];
}

/* The long ones only where something goes another way there. */
static bool count_wanted(const row *one, int which)
{
    if (which >= 12)
        return strcmp(one->name, "broadcast") == 0;
    return which < 10 || one->traits & ROW_REDUCES;
}

static bool everything(void)
{
    const char *large = getenv("MUSTER_TEST_LARGE");
    return large != NULL && strcmp(large, "1") == 0;
}

/* Of how many cases one is drawn; long ones take long. */
static uint64_t one_of(const row *one, int n, int which)
{
    uint64_t usual = (uint64_t)(one->traits & ROW_REDUCES ? 3 * n : (n + 1) * 2 / 3);
    return everything() ? 1 : which < 10 ? usual : 8 * usual;
}

/* Every root, or the one that was drawn. */
static bool roots_right(setting *s, uint64_t pick)
{
    bool all = everything() && s->row->traits & ROW_ROOTED, right = true;
    int first = all ? 0 : (int)(pick % (uint64_t)s->n), last = all ? s->n - 1 : first;
    for (s->root = first; right && s->root <= last; s->root++)
        right = case_right(s);
    return right;
}

/* All cases of one row and type; the draw is the same on every rank. */
static bool type_right(setting *s, const muster_reduction *premuls)
{
    const row *one = s->row;
    int kinds = one->traits & ROW_REDUCES ? MUSTER_NUM_REDUCTIONS : 1;
    uint64_t seed = model_hash(model_seed(), (uint64_t)(one - rows) * 100 + (uint64_t)s->type);
    bool right = true;
    for (int i = 0; right && i < kinds * COUNTS * one->forms; i++) {
        int which = i / one->forms % COUNTS;
        uint64_t pick = model_hash(seed + (uint64_t)s->n, (uint64_t)i);
        s->kind = (muster_reduction)(i / one->forms / COUNTS);
        s->form = i % one->forms;
        s->count = count_of(which, s->n, muster_type_size(s->type));
        s->seed = pick;
        s->redop = s->kind == MUSTER_PREMUL_SUM ? premuls[expect_is_whole(s->type)] : s->kind;
        if (!(one->traits & ROW_REDUCES) || model_has(s->type, s->kind))
            if (count_wanted(one, which) && pick % one_of(one, s->n, which) == 0)
                right = roots_right(s, pick / 64);
    }
    return right;
}

/* The cases of a row by type, in the order of enum muster_type; returns their sum. */
static long long show_cases(int which, int rank)
{
    char text[16 * MUSTER_NUM_TYPES] = "";
    long long all = 0;
    for (int t = 0; t < MUSTER_NUM_TYPES; t++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, " %lld", checked[which][t]);
        all += checked[which][t];
    }
    if (rank == 0)
        diag("%s:%s", rows[which].name, text);
    return all;
}

static void every_collective(int rank, int size)
{
    muster_group *group = world_of("world", T);
    muster_reduction premuls[2];
    is_status(muster_reduction_premul_sum(group, expect_scalar(MUSTER_INT8, rank), &premuls[1]),
              MUSTER_OK, "a sum of whole multiples");
    is_status(muster_reduction_premul_sum(group, expect_scalar(MUSTER_FLOAT32, rank), &premuls[0]),
              MUSTER_OK, "a sum of others");
    long long all = 0;
    for (int i = 0; i < num_rows; i++) {
        setting s = {.group = group, .row = &rows[i], .rank = rank, .n = size};
        bool right = true;
        int types = rows[i].send == NONE ? 1 : MUSTER_NUM_TYPES;
        for (int t = 0; right && t < types; t++) {
            s.type = (muster_type)t;
            right = type_right(&s, premuls);
        }
        long long cases = show_cases(i, rank);
        ok(right && cases > 0, "%s", rows[i].name);
        all += cases;
    }
    if (rank == 0)
        diag("MUSTER_TEST_SEED=%llu: %lld cases with %d ranks", (unsigned long long)model_seed(),
             all, size);
    muster_reduction_free(group, premuls[0]);
    ok(group_works(group), "the group works");
    ranks_barrier();
    muster_group_free(group);
}

int main(int argc, char **argv)
{
#ifdef OVER_GLOO
    over_gloo();
#endif
    static const struct ranks_case cases[] = {
#define EVERY(count)                                                                               \
    {.name = "ranks " #count,                                                                      \
     .size = count,                                                                                \
     .points = ROWS + 3,                                                                           \
     .body = every_collective,                                                                     \
     .silent = true,                                                                               \
     .seconds = 300}
        EVERY(1), EVERY(2), EVERY(3), EVERY(4), EVERY(5), EVERY(6), EVERY(7), EVERY(8),
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
