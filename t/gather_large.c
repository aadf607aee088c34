/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user case 40: gathers of more than an int can count. They take 8 GiB of memory, so they only run
 * where MUSTER_TEST_LARGE is set.
 */
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 300000, SECONDS = 300 };

static const size_t GIB_2 = (size_t)1 << 31;

static void only_if_asked_for(void)
{
    if (getenv("MUSTER_TEST_LARGE") == NULL)
        ranks_skip_case("takes 8 GiB; MUSTER_TEST_LARGE=1 runs it");
}

static uint64_t word_at(size_t i)
{
    return i * UINT64_C(0x9e3779b97f4a7c15);
}

/* The last, odd bytes are of the last number. */
static void fill(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = word_at(i);
        memcpy(bytes + i, &word, size - i < sizeof(word) ? size - i : sizeof(word));
    }
}

static bool is_filled(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = word_at(i);
        if (memcmp(bytes + i, &word, size - i < sizeof(word) ? size - i : sizeof(word)) != 0)
            return false;
    }
    return true;
}

static void objects(int rank, int size)
{
    only_if_asked_for();
    muster_group *world = shapes_world(TIMEOUT_MS);
    const int giver = size - 1;
    for (size_t bytes = GIB_2 - 1; bytes <= GIB_2 + 1; bytes++) {
        unsigned char *data = rank == giver ? malloc(bytes) : NULL;
        if (data != NULL)
            fill(data, bytes);
        muster_blob object = {data, rank == giver ? bytes : 0};
        muster_object_list mine = {1, &object};
        muster_objects *got = NULL;
        is_int(muster_gather_objects(world, &mine, 0, &got), MUSTER_OK, "an object of %zu bytes",
               bytes);
        ok(got == NULL
               ? rank != 0
               : got->objects[giver].size == bytes && is_filled(got->objects[giver].data, bytes),
           "is the same on the root");
        muster_objects_free(got);
        free(data);
    }
    muster_group_free(world);
}

static void tokens(int rank, int size)
{
    only_if_asked_for();
    muster_group *world = shapes_world(TIMEOUT_MS);
    const int giver = size - 1;
    size_t length = rank == giver ? GIB_2 / sizeof(int64_t) + 1 : 0;
    int64_t *ids = malloc((length + 1) * sizeof(*ids));
    fill((unsigned char *)ids, length * sizeof(*ids));
    muster_token_lists mine = {1, &length, ids};
    muster_tokens *got = NULL;
    is_int(muster_gather_tokens(world, &mine, 0, &got), MUSTER_OK, "a list of more than 2 GiB");
    ok(got == NULL
           ? rank != 0
           : got->num_tokens == GIB_2 / sizeof(int64_t) + 1 &&
                 is_filled((const unsigned char *)got->tokens, got->num_tokens * sizeof(int64_t)),
       "is the same on the root");
    muster_tokens_free(got);
    free(ids);
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "objects", .size = 2, .points = 6, .body = objects, .seconds = SECONDS},
        {.name = "tokens", .size = 2, .points = 2, .body = tokens, .seconds = SECONDS},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
