/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers that lack memory on one rank, each allocation refused in turn, and gathers in which one
 * rank sends lengths that are not those it announced. The linker puts the functions below in place
 * of libc's and the library's own.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster.h"
#include "collective/narrow.h"
#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 20000, VICTIM = 1, LARGE = 100000, NUM_TOKENS = 20000, MOST_REFUSALS = 60 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __real_narrow_write_unsigned(unsigned char *bytes, int width, const size_t *values,
                                  size_t count);
void __wrap_narrow_write_unsigned(unsigned char *bytes, int width, const size_t *values,
                                  size_t count);

/* ---- allocations ---- */

static atomic_int left = -1;       /* allocations until one is refused; negative: none is */
static atomic_size_t smallest = 0; /* those of fewer bytes do not count */

static bool is_refused(size_t size)
{
    return size >= atomic_load(&smallest) && atomic_load(&left) >= 0 &&
           atomic_fetch_sub(&left, 1) == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_refused(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused(count * size) ? NULL : __real_calloc(count, size);
}

/* ---- lengths on the wire ---- */

static int tampering[2];         /* added to the first and to the second length */
static int num_written = 1 << 8; /* lengths; of others than the first two none is changed */

void __wrap_narrow_write_unsigned(unsigned char *bytes, int width, const size_t *values,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t value = values[i];
        if (num_written < 2)
            value += (size_t)tampering[num_written];
        num_written++;
        __real_narrow_write_unsigned(bytes + i * (size_t)width, width, &value, 1);
    }
}

/* ---- the tests ---- */

static muster_group *open_group(const char *kind, int number)
{
    char name[64];
    setenv("MUSTER_BACKEND_PATH", GLOO_FOLDER, 1);
    snprintf(name, sizeof(name), "%s %d", kind, number);
    return shapes_group(name, TIMEOUT_MS);
}

static struct ragged *some_lists(int size)
{
    struct ragged *all = ragged_new();
    for (int r = 0; r < size; r++) {
        ragged_next_rank(all);
        int64_t *ids = ragged_add(all, NUM_TOKENS);
        for (int i = 0; i < NUM_TOKENS; i++)
            ids[i] = i + r - 100;
        for (int i = 0; i < NUM_TOKENS; i++)
            ragged_add(all, 0);
    }
    return all;
}

/* refused counts from 0; negative: no allocation is. */
static muster_status gather_once(muster_group *group, struct ragged *all, bool tokens, int refused,
                                 bool *right)
{
    int rank = muster_group_rank(group);
    muster_token_lists lists = ragged_lists(all, rank);
    muster_object_list list = ragged_objects(all, rank);
    muster_tokens *got_tokens = NULL;
    muster_objects *got = NULL;
    atomic_store(&left, rank == VICTIM ? refused : -1);
    muster_status status = tokens ? muster_all_gather_tokens(group, &lists, &got_tokens)
                                  : muster_all_gather_objects(group, &list, &got);
    int unused = atomic_exchange(&left, -1);
    *right = status != MUSTER_OK ? got_tokens == NULL && got == NULL
             : tokens            ? ragged_same_tokens(all, got_tokens)
                                 : ragged_same_objects(all, got);
    if (rank == VICTIM && refused >= 0 && status == MUSTER_OK && unused < 0)
        diag("an allocation was refused and not missed");
    muster_tokens_free(got_tokens);
    muster_objects_free(got);
    return status;
}

/* Refuses one allocation after the other until none is left to refuse. Counts the groups that
 * failed of it. */
static void starve(bool tokens, size_t size_of_refused, int *refusals, int *broken, bool *fair)
{
    int number = 0;
    muster_group *group = open_group(tokens ? "tokens" : "objects", number);
    int size = muster_group_size(group), rank = muster_group_rank(group);
    struct ragged *all = some_lists(size);
    muster_status status = MUSTER_ERR_NO_MEMORY;
    *fair = true;
    for (*refusals = *broken = 0; status != MUSTER_OK && *refusals < MOST_REFUSALS; ++*refusals) {
        bool right;
        ranks_barrier();
        atomic_store(&smallest, size_of_refused);
        status = gather_once(group, all, tokens, *refusals, &right);
        bool as_it_should = right && (status == MUSTER_OK || status == MUSTER_ERR_NO_MEMORY);
        bool named =
            status == MUSTER_OK || rank == VICTIM || strstr(muster_last_error(), "rank 1") != NULL;
        if (!as_it_should || !named)
            diag("refusal %d: %s, %s", *refusals, muster_status_name(status), muster_last_error());
        *fair = *fair && as_it_should && named;
        if (muster_group_check(group) != MUSTER_OK) {
            muster_group_free(group);
            group = open_group(tokens ? "tokens" : "objects", ++number);
            ++*broken;
        }
        *fair = gather_once(group, all, tokens, -1, &right) == MUSTER_OK && right && *fair;
    }
    ragged_free(all);
    muster_group_free(group);
}

static void starved(bool tokens, int rank)
{
    int refusals, broken;
    bool fair;
    const char *what = tokens ? "tokens" : "objects";
    starve(tokens, 0, &refusals, &broken, &fair);
    ok(fair, "%s: every refusal is the same error on all ranks", what);
    ok(refusals > 5 && refusals < MOST_REFUSALS, "%s: and in the end it works", what);
    if (rank == VICTIM)
        diag("%s: %d allocations refused, of which %d failed the group", what, refusals - 1,
             broken);
    starve(tokens, LARGE, &refusals, &broken, &fair);
    ok(fair && refusals > 2, "%s: %d refusals of much memory", what, refusals - 1);
    is_int(broken, 0, "%s: of which no group fails", what);
}

static void starved_everywhere(int rank, int size)
{
    (void)size;
    starved(true, rank);
    starved(false, rank);
}

#ifdef HAVE_GLOO
static void starved_over_gloo(int rank, int size)
{
    over_gloo();
    starved_everywhere(rank, size);
}
#endif

/* Two lists of 5 and of 3, in other lengths on the wire. */
static muster_status tampered(muster_group *world, bool tokens, int first, int second)
{
    static const size_t lengths[] = {5, 3};
    static const int64_t ids[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const muster_blob objects[] = {{"abcde", 5}, {"fgh", 3}};
    muster_token_lists lists = {2, lengths, ids};
    muster_object_list list = {2, objects};
    muster_tokens *got_tokens = NULL;
    muster_objects *got = NULL;
    tampering[0] = first;
    tampering[1] = second;
    num_written = muster_group_rank(world) == VICTIM ? 0 : 2;
    muster_status status = tokens ? muster_all_gather_tokens(world, &lists, &got_tokens)
                                  : muster_all_gather_objects(world, &list, &got);
    if (status != MUSTER_OK && (got_tokens != NULL || got != NULL))
        status = MUSTER_ERR_INTERNAL;
    muster_tokens_free(got_tokens);
    muster_objects_free(got);
    return status;
}

static void odd_lengths(int rank, int size)
{
    (void)rank, (void)size;
    static const struct {
        int first, second;
        const char *name;
    } rows[] = {
        {1, 0, "one more than announced"},
        {0, -1, "one less"},
        {3, 0, "all in the first, and more behind"},
        {100, 0, "far too long"},
        {-5, -3, "none"},
    };
    muster_group *world = open_group("odd", 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int tokens = 0; tokens < 2; tokens++) {
            is_int(tampered(world, tokens, rows[i].first, rows[i].second), MUSTER_ERR_PROTOCOL,
                   "%s of %s", rows[i].name, tokens ? "tokens" : "objects");
            has_str(muster_last_error(), "that rank 1 sent do not add up", "is not believed");
        }
    is_int(tampered(world, true, 0, 0), MUSTER_OK, "true lengths are");
    is_int(tampered(world, false, 0, 0), MUSTER_OK, "and true sizes");
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "starved", .size = 3, .points = 8, .body = starved_everywhere, .host_store = true},
#ifdef HAVE_GLOO
        {.name = "starved over gloo",
         .size = 3,
         .points = 8,
         .body = starved_over_gloo,
         .host_store = true},
#endif
        {.name = "odd lengths", .size = 3, .points = 22, .body = odd_lengths},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
