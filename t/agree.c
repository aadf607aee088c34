/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MUSTER_CHECK: ranks that make different calls all hear of it before anything has moved. user
 * case 46.
 */
#include "config.h"

#include "grouptest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 10000, SIZE = 4, CAUSE = 1024, MARK = 77, ENVELOPE = 256 };

static int32_t a[256], b[256];
static const size_t ones[] = {1, 1, 1, 1}, twos[] = {1, 1, 2, 1}, pair[] = {1, 2, 1, 1};

#define I MUSTER_INT32
#define CALL(name, text)                                                                           \
    static muster_status name(muster_group *g, bool odd)                                           \
    {                                                                                              \
        return text;                                                                               \
    }
CALL(count, muster_all_reduce(g, a, b, odd ? 9 : 8, I, MUSTER_SUM, NULL))
CALL(type, muster_all_gather(g, a, b, 4, odd ? MUSTER_FLOAT32 : I, NULL))
CALL(redop, muster_all_reduce(g, a, b, 8, I, odd ? MUSTER_MAX : MUSTER_SUM, NULL))
CALL(operation, odd ? muster_barrier(g, NULL) : muster_broadcast(g, b, 8, I, 0, NULL))
CALL(root, muster_broadcast(g, b, 8, I, odd ? 1 : 0, NULL))
CALL(gather_root, muster_gather(g, a, b, 8, I, odd ? 1 : 0, NULL))
CALL(scatter_root, muster_scatter(g, a, b, 8, I, odd ? 1 : 0, NULL))
CALL(counts, muster_all_gather_v(g, a, b, odd ? twos : ones, I, NULL))
CALL(shape, muster_reduce_scatter_v(g, a, b, odd ? twos : ones, I, MUSTER_SUM, NULL))
CALL(large, muster_all_to_all(g, a, b, odd ? 63 : 64, I, NULL))
CALL(gather_v, muster_gather_v(g, a, odd ? 2 : 1, b, ones, I, 0, NULL))
CALL(scatter_v, muster_scatter_v(g, a, ones, b, odd ? 2 : 1, I, 0, NULL))
CALL(to_all_v, muster_all_to_all_v(g, a, odd ? pair : ones, b, ones, I, NULL))

/* One refuses its call for an argument of its own. */
CALL(refused, muster_broadcast(g, b, 8, I, odd ? -1 : 0, NULL))
CALL(no_counts, muster_all_gather_v(g, a, b, odd ? NULL : ones, I, NULL))
CALL(no_type, muster_all_reduce(g, a, b, 8, odd ? (muster_type)99 : I, MUSTER_SUM, NULL))

static muster_status tokens(muster_group *g, bool odd)
{
    muster_tokens *all = NULL;
    const muster_token_lists mine = {0, NULL, NULL};
    muster_status status = odd ? muster_barrier(g, NULL) : muster_all_gather_tokens(g, &mine, &all);
    muster_tokens_free(all);
    return status;
}

/* Two calls in another order. */
static muster_status order(muster_group *g, bool odd)
{
    muster_status status = odd ? muster_barrier(g, NULL) : count(g, false);
    return status != MUSTER_OK ? status : odd ? count(g, false) : muster_barrier(g, NULL);
}

static const struct {
    const char *name;
    muster_status (*call)(muster_group *g, bool odd);
    int odds; /* from rank 2 on */
    const char *says[3];
} rows[] = {
    {"count", count, 1, {"of 8 int32", "of 9 int32", "rank 2 differs from rank 0,"}},
    {"two", count, 2, {"of 8 int32", "of 9 int32", "ranks 2-3 differ from rank 0,"}},
    {"type", type, 1, {"of 4 int32", "of 4 float32", "rank 2 (host"}},
    {"redop", redop, 1, {"sum", "max", "rank 2 (host"}},
    {"operation", operation, 1, {"broadcast #", "barrier #", "rank 2 (host"}},
    {"root", root, 1, {"root 0", "root 1", "rank 2 (host"}},
    {"gather_root", gather_root, 1, {"root 0", "root 1", "rank 2 (host"}},
    {"scatter_root", scatter_root, 2, {"root 0", "root 1", "ranks 2-3"}},
    {"counts", counts, 1, {"counts 1,1,1,1", "counts 1,1,2,1", "rank 2 (host"}},
    {"shape", shape, 1, {"counts 1,1,1,1", "counts 1,1,2,1", "rank 2 (host"}},
    {"large", large, 1, {"of 64 int32", "of 63 int32", "rank 2 (host"}},
    {"tokens", tokens, 1, {"gather_tokens #", "barrier #", "rank 2 (host"}},
    {"order", order, 1, {"all_reduce #", "barrier #", "rank 2 (host"}},
    {"refused",
     refused,
     1,
     {"broadcast #1 of 8 int32, root 0, but", "which is refused there: root -1 is not in 0 to 3",
      "rank 2 differs"}},
    {"no_counts",
     no_counts,
     1,
     {"counts 1,1,1,1", "refused there: counts is NULL", "rank 2 differs"}},
    {"no_type",
     no_type,
     1,
     {"of 8 int32, sum", "refused there: 99 is no element", "rank 2 differs"}},
    {"gather_v", gather_v, 1, {"rank 2 has 2 int32 for rank 0", "expects 1", "gather_v #"}},
    {"scatter_v", scatter_v, 1, {"rank 0 has 1 int32 for rank 2", "expects 2", "scatter_v #"}},
    {"to_all_v", to_all_v, 1, {"rank 2 has 2 int32 for rank 1", "expects 1", "all_to_all_v #"}},
};
enum { ROWS = sizeof(rows) / sizeof(*rows), IN_PAIRS = 16 };

static const char *cause_in(const char *sentence)
{
    const char *cause = strstr(sentence, "the ranks disagree");
    return cause == NULL ? sentence : cause;
}

static bool all_alike(const char (*causes)[CAUSE])
{
    bool alike = true;
    for (int r = 1; r < SIZE; r++)
        alike = alike && strcmp(causes[r], causes[0]) == 0;
    return alike;
}

static void differ(int which, int rank)
{
    char(*causes)[CAUSE] = ranks_shared(SIZE * CAUSE);
    muster_group *group = world_of(rows[which].name, T);
    for (size_t i = 0; i < sizeof(b) / sizeof(*b); i++)
        b[i] = MARK;
    int64_t began = now_ms();
    is_status(rows[which].call(group, rank >= 2 && rank < 2 + rows[which].odds),
              MUSTER_ERR_MISMATCH, "%s", rows[which].name);
    ok(in_time(began, 1500), "soon");
    bool said = true;
    for (int i = 0; i < 3; i++)
        said = said && strstr(muster_last_error(), rows[which].says[i]) != NULL;
    if (!ok(said, "what differs is said"))
        diag("%s", muster_last_error());
    snprintf(causes[rank], CAUSE, "%s", cause_in(muster_last_error()));
    bool kept = true;
    for (size_t i = 0; i < sizeof(b) / sizeof(*b) && which < IN_PAIRS; i++)
        kept = kept && b[i] == MARK;
    ok(kept, "nothing has moved");
    ranks_barrier();
    ok(all_alike((const char(*)[CAUSE])causes), "all say the same");
    ranks_barrier();
    muster_group_free(group);
}
enum { DIFFER = 5 };

static void differences(int rank, int size)
{
    (void)size;
    for (int which = 0; which < ROWS; which++)
        differ(which, rank);
}

static uint64_t sent_by_barrier(muster_group *group)
{
    uint64_t before = 0, after = 0, received;
    muster_group_traffic(group, &before, &received);
    if (muster_barrier(group, NULL) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    muster_group_traffic(group, &after, &received);
    return after - before;
}

/* Ranks that call alike, each operation of the table and the gathers. */
static int calls_that_agree(muster_group *group)
{
    int good = 0;
    for (int which = 0; which < ROWS; which++)
        good += rows[which].call(group, false) == MUSTER_OK;
    return good;
}

/* One rank asks for it, so all do it, in groups made of the world too. */
static void asked_by_one(int rank, int size)
{
    (void)size;
    muster_group *plain = world_of("plain", T);
    if (rank == 1)
        setenv("MUSTER_CHECK", "yes", 1);
    muster_group *group = world_of("world", T), *part = NULL;
    uint64_t usual = sent_by_barrier(plain);
    is_int(sent_by_barrier(group), usual + (SIZE - 1) * ENVELOPE, "a word more to each rank");
    is_int(calls_that_agree(plain), ROWS, "without it calls go well");
    is_int(calls_that_agree(group), ROWS, "and with it");
    is_status(muster_group_split(group, rank / 2, 0, NULL, &part), MUSTER_OK, "a part of it");
    /* where memory is shared the barrier itself sends nothing */
    is_int(sent_by_barrier(part), usual == 0 ? ENVELOPE : 2 * ENVELOPE, "compares too");
    char *text = NULL;
    muster_group_describe(part, false, &text);
    has_str(text, "calls are compared", "and says so");
    muster_free(text);
    muster_group_describe(plain, false, &text);
    ok(strstr(text, "calls are compared") == NULL, "what does not compare does not");
    muster_free(text);
    ranks_barrier();
    muster_group_free(part);
    muster_group_free(group);
    muster_group_free(plain);
    ranks_barrier();
}

/* A root that is none, and roots of a gather that differ, are refused, and the group goes on. */
static void refusals(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    muster_tokens *all = NULL;
    const muster_token_lists mine = {0, NULL, NULL};
    is_status(muster_gather_tokens(group, &mine, rank == 2 ? 1 : 0, &all), MUSTER_ERR_MISMATCH,
              "roots of a gather that differ");
    is_status(muster_gather_tokens(group, &mine, rank == 2 ? 9 : 0, &all), MUSTER_ERR_ARGUMENT,
              "a root that is none");
    ok(group_works(group), "the group works after it");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* A rank that does not come is named as without it, with the call that waits. */
static void absent(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", 1000);
    muster_status status = MUSTER_ERR_TIMEOUT;
    if (rank != 3)
        status = count(group, false);
    while (rank == 3 && muster_group_check(group) == MUSTER_OK)
        sleep_ms(5);
    is_status(status, MUSTER_ERR_TIMEOUT, "one does not come");
    ok(rank == 3 || (strstr(muster_last_error(), "rank 3") != NULL &&
                     strstr(muster_last_error(), "of 8 int32") != NULL),
       "it is named: %s", rank == 3 ? "" : muster_last_error());
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

static void wrong(int rank, int size)
{
    (void)rank;
    (void)size;
    muster_group *group = NULL;
    is_status(muster_init_process_group(&group, NULL), MUSTER_ERR_ARGUMENT, "a wrong value");
    has_str(muster_last_error(), "MUSTER_CHECK is 'perhaps'", "is quoted");
    has_str(muster_last_error(), "1 (or yes, true, on)", "beside those that will do");
    setenv("MUSTER_CHECK", "", 1);
    is_status(muster_init_process_group(&group, NULL), MUSTER_OK, "an empty one is none");
    muster_group_free(group);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const char *const on[] = {"MUSTER_CHECK=1", NULL}, *const off[] = {"MUSTER_CHECK", NULL};
    static const char *const perhaps[] = {"MUSTER_CHECK=perhaps", NULL};
    static const struct ranks_case cases[] = {
        {.name = "differences",
         .size = SIZE,
         .points = ROWS * DIFFER,
         .body = differences,
         .silent = true,
         .environment = on},
        {.name = "asked_by_one",
         .size = SIZE,
         .points = 7,
         .body = asked_by_one,
         .silent = true,
         .environment = off},
        {.name = "refusals",
         .size = SIZE,
         .points = 3,
         .body = refusals,
         .silent = true,
         .environment = on},
        {.name = "absent",
         .size = SIZE,
         .points = 2,
         .body = absent,
         .silent = true,
         .environment = on},
        {.name = "wrong",
         .size = 1,
         .points = 4,
         .body = wrong,
         .silent = true,
         .environment = perhaps},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
