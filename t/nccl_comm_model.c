/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nccl plugin over the stand-in: every operation with every type and reduction that it says it
 * can do, in and out of place, with awkward counts and any root, against the plain model, in each
 * version of NCCL. What is around a result must stay as it was.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective_expect.h"
#include "model.h"
#include "nccl_ranks.h"

enum { FILLER = 0xa5, MOST_TRANSFERS = 2 * ROWS_MOST_RANKS };

/* The rows of the collectives, in operations of the backend. */
static const struct {
    const char *row;
    muster_operation operation;
    bool uniform;
} operations[] = {
    {"barrier", MUSTER_OPERATION_BARRIER, false},
    {"broadcast", MUSTER_OPERATION_BROADCAST, false},
    {"reduce", MUSTER_OPERATION_REDUCE, false},
    {"all_reduce", MUSTER_OPERATION_ALL_REDUCE, false},
    {"gather", MUSTER_OPERATION_GATHER, true},
    {"gather_v", MUSTER_OPERATION_GATHER, false},
    {"scatter", MUSTER_OPERATION_SCATTER, true},
    {"scatter_v", MUSTER_OPERATION_SCATTER, false},
    {"all_gather", MUSTER_OPERATION_ALL_GATHER, true},
    {"all_gather_v", MUSTER_OPERATION_ALL_GATHER, false},
    {"reduce_scatter", MUSTER_OPERATION_REDUCE_SCATTER, true},
    {"reduce_scatter_v", MUSTER_OPERATION_REDUCE_SCATTER, false},
    {"all_to_all", MUSTER_OPERATION_ALL_TO_ALL, true},
    {"all_to_all_v", MUSTER_OPERATION_ALL_TO_ALL, false},
    {"send and recv", MUSTER_OPERATION_SEND_RECV, false},
    {"batch", MUSTER_OPERATION_SEND_RECV, false},
};
enum { OPERATIONS = sizeof(operations) / sizeof(*operations) };

/* What a call points to. */
typedef struct arrays {
    size_t send_counts[ROWS_MOST_RANKS], send_offsets[ROWS_MOST_RANKS];
    size_t receive_counts[ROWS_MOST_RANKS], receive_offsets[ROWS_MOST_RANKS];
    muster_transfer transfers[MOST_TRANSFERS];
    size_t num_transfers;
} arrays;

static void fill_counts(const setting *s, arrays *a)
{
    for (int r = 0; r < s->n; r++) {
        a->send_counts[r] = row_block(s, s->rank, r);
        a->send_offsets[r] = s->row->send == BLOCKS ? row_send_offset(s, s->rank, r) : 0;
        a->receive_counts[r] = row_block(s, r, s->rank);
        a->receive_offsets[r] = s->row->receive == BLOCKS ? row_receive_offset(s, s->rank, r) : 0;
    }
}

static void add_transfer(arrays *a, const setting *s, muster_direction direction, int peer,
                         size_t count, char *memory)
{
    a->transfers[a->num_transfers++] = (muster_transfer){
        .direction = direction, .peer = peer, .count = count, .receive = memory, .type = s->type};
}

/* Round the ring, or an all_to_all in another order on each rank. */
static void fill_transfers(const setting *s, arrays *a, char *send, char *receive)
{
    size_t size = muster_type_size(s->type);
    if (s->row->traits & ROW_FROM_LEFT) {
        add_transfer(a, s, MUSTER_SENDS, (s->rank + 1) % s->n, s->count, send);
        add_transfer(a, s, MUSTER_RECEIVES, (s->rank + s->n - 1) % s->n, s->count, receive);
        return;
    }
    for (int i = 0; i < s->n; i++) {
        int r = (i * 3 + s->rank) % s->n;
        if (s->n % 3 == 0)
            r = (i + s->rank) % s->n;
        add_transfer(a, s, MUSTER_RECEIVES, r, a->receive_counts[r],
                     receive + size * a->receive_offsets[r]);
        add_transfer(a, s, MUSTER_SENDS, r, a->send_counts[r], send + size * a->send_offsets[r]);
    }
}

static muster_status call(const setting *s, nccl_group *group, int which, char *send, char *receive)
{
    arrays a = {.num_transfers = 0};
    fill_counts(s, &a);
    if (operations[which].operation == MUSTER_OPERATION_SEND_RECV)
        fill_transfers(s, &a, send, receive);
    const muster_call made = {.size = sizeof(made),
                              .operation = operations[which].operation,
                              .type = s->type,
                              .redop = s->kind,
                              .scalar = expect_scalar(s->type, s->rank),
                              .root = s->root,
                              .count = s->count,
                              .send = send,
                              .receive = receive,
                              .uniform = operations[which].uniform,
                              .send_counts = a.send_counts,
                              .send_offsets = a.send_offsets,
                              .receive_counts = a.receive_counts,
                              .receive_offsets = a.receive_offsets,
                              .transfers = a.transfers,
                              .num_transfers = a.num_transfers,
                              .stream = nccl_stream(group)};
    return nccl_run(group, &made, patient(20000));
}

static bool can(nccl_group *group, const setting *s, int which)
{
    const muster_call asked = {.size = sizeof(asked),
                               .operation = operations[which].operation,
                               .type = s->type,
                               .redop = s->kind};
    return nccl_plugin()->can(group->comm, &asked);
}

/* ---- one case ---- */

typedef struct buffers {
    expect_places places;
    char *memory; /* of the device */
    char *before, *after;
} buffers;

static bool compare(const setting *s, const buffers *b, const char *expected, muster_status status)
{
    size_t received =
        expect_receives(s) ? muster_type_size(s->type) * row_receive_count(s, s->rank) : 0;
    const char *result = b->after + b->places.receive;
    bool right = status == MUSTER_OK && memcmp(result, expected, received) == 0;
    memcpy(b->before + b->places.receive, result, received);
    bool kept = memcmp(b->before, b->after, b->places.bytes) == 0;
    if (!right || !kept)
        diag("rank %d of %d: %s of %zu %s, %s, root %d, form %d: %s", s->rank, s->n, s->row->name,
             s->count, muster_type_name(s->type), muster_reduction_name(s->kind), s->root, s->form,
             status != MUSTER_OK ? muster_last_error()
             : right             ? "it wrote elsewhere"
                                 : "wrong values");
    return right && kept;
}

static bool run_case(const setting *s, nccl_group *group, int which, char *const *given,
                     const char *expected)
{
    buffers b;
    expect_place(s, &b.places);
    size_t sent = muster_type_size(s->type) * row_send_count(s, s->rank);
    bool one_buffer = s->row->traits & ROW_ONE_BUFFER;
    b.memory = nccl_memory(group, b.places.bytes);
    b.before = malloc(b.places.bytes);
    b.after = malloc(b.places.bytes);
    memset(b.before, FILLER, b.places.bytes);
    if (expect_sends(s, s->rank))
        memcpy(b.before + (one_buffer ? b.places.receive : b.places.send), given[s->rank], sent);
    nccl_put(group, b.memory, b.before, b.places.bytes);
    char *receive = b.memory + b.places.receive;
    muster_status status =
        call(s, group, which, one_buffer ? receive : b.memory + b.places.send, receive);
    nccl_get(group, b.after, b.memory, b.places.bytes);
    bool right = compare(s, &b, expected, status);
    nccl_plugin()->devices->free_memory(group->device, b.memory);
    free(b.before);
    free(b.after);
    return right;
}

static bool case_right(const setting *s, nccl_group *group, int which)
{
    char *given[ROWS_MOST_RANKS];
    size_t size = muster_type_size(s->type);
    char *expected = malloc(size * row_receive_count(s, s->rank) + 1);
    for (int r = 0; r < s->n; r++) {
        size_t count = row_send_count(s, r);
        given[r] = malloc(size * count + 1);
        if (expect_concerns(s, r))
            model_fill(given[r], s->type, model_hash(s->seed, (uint64_t)r), count);
    }
    expect_result(s, given, expected);
    bool right = run_case(s, group, which, given, expected);
    for (int r = 0; r < s->n; r++)
        free(given[r]);
    free(expected);
    return right;
}

/* ---- the product ---- */

static const size_t counts[] = {0, 1, 3, 200, 5001};
enum { COUNTS = sizeof(counts) / sizeof(*counts) };

/* NCCL takes scalars in the type of the elements, so that they must be numbers that it has: that
 * of the model are not, for small floating types. */
static bool is_comparable(const setting *s)
{
    return s->kind != MUSTER_PREMUL_SUM ||
           (s->type != MUSTER_FLOAT16 && s->type != MUSTER_BFLOAT16);
}

/* Of how many cases one is drawn: with MUSTER_TEST_LARGE=1 all. Round a ring of one goes nothing.
 */
static uint64_t one_of(const setting *s)
{
    const char *large = getenv("MUSTER_TEST_LARGE");
    if (s->row->traits & ROW_FROM_LEFT && s->n == 1)
        return UINT64_MAX;
    if (large != NULL && strcmp(large, "1") == 0)
        return 1;
    return s->row->traits & ROW_REDUCES ? 8 : 2;
}

static bool type_right(setting *s, nccl_group *group, int which, int *cases)
{
    bool right = true;
    int kinds = s->row->traits & ROW_REDUCES ? MUSTER_NUM_REDUCTIONS : 1;
    for (int i = 0; right && i < kinds * COUNTS * s->row->forms; i++) {
        uint64_t pick =
            model_hash(model_seed() + (uint64_t)which * 100 + (uint64_t)s->type, (uint64_t)i);
        s->kind = (muster_reduction)(i / s->row->forms / COUNTS);
        s->form = i % s->row->forms;
        s->count = counts[i / s->row->forms % COUNTS];
        s->seed = pick;
        s->root = (int)(pick % (uint64_t)s->n);
        if (pick / 8 % one_of(s) != 0 || !can(group, s, which) || !is_comparable(s))
            continue;
        right = case_right(s, group, which);
        ++*cases;
    }
    return right;
}

static const row *row_called(const char *name)
{
    for (int i = 0; i < num_rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void every_operation(int rank, int size)
{
    nccl_group group;
    int cases = 0;
    nccl_group_init(&group, rank, size);
    if (!nccl_open(&group))
        return;
    for (int i = 0; i < OPERATIONS; i++) {
        setting s = {.row = row_called(operations[i].row), .rank = rank, .n = size};
        bool right = true;
        int types = s.row->send == NONE ? 1 : MUSTER_NUM_TYPES;
        for (int t = 0; right && t < types; t++) {
            s.type = (muster_type)t;
            right = type_right(&s, &group, i, &cases);
        }
        ok(right, "%s", operations[i].row);
    }
    if (rank == 0)
        diag("%d cases", cases);
    ok(group.broken_count == 0, "nothing broke");
    ranks_barrier();
    nccl_close(&group);
}

#define IN_VERSION(version, ranks)                                                                 \
    {                                                                                              \
        .name = "NCCL " version " with " #ranks, .size = ranks, .points = OPERATIONS + 2,          \
        .body = every_operation, .silent = true, .environment = (const char *const[])              \
        {                                                                                          \
            "T_NCCL=" version, NULL                                                                \
        }                                                                                          \
    }
static const struct ranks_case cases[] = {
    IN_VERSION("2.28", 1), IN_VERSION("2.14", 2), IN_VERSION("2.14", 3),
    IN_VERSION("2.18", 3), IN_VERSION("2.23", 2), IN_VERSION("2.28", 2),
    IN_VERSION("2.28", 3), IN_VERSION("2.28", 4), IN_VERSION("2.30", 2),
};

int main(int argc, char **argv)
{
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
