/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what the other ranks of a gather announce and send. The first byte says what is
 * gathered, by which of up to four ranks, and to whom; the rest is what comes from the others.
 */
#include <stdlib.h>
#include <string.h>

#include "collective/gather.h"
#include "fuzz.h"
#include "group/failure.h"

enum { MOST_RANKS = 4, MOST_BYTES = 1 << 20 };

static fuzz_bytes wire;

/* Fills the blocks of all other ranks, with zeros behind the input's end. So much that no machine
 * needs to have it never comes. */
static muster_status receive(const muster_group *group, unsigned char *place, const layout *blocks)
{
    for (int r = 0; r < group->size; r++)
        if (blocks->bytes[r] > MOST_BYTES)
            return MUSTER_ERR_TIMEOUT;
    for (int r = 0; r < group->size; r++) {
        if (r == group->rank)
            continue;
        fuzz_bytes now = fuzz_take(&wire, blocks->bytes[r]);
        memset(place + blocks->offsets[r], 0, blocks->bytes[r]);
        if (now.size > 0)
            memcpy(place + blocks->offsets[r], now.data, now.size);
    }
    return MUSTER_OK;
}

muster_status __wrap_compose_all_gather_equal(muster_group *group, const message_label *label,
                                              void *place, size_t bytes, deadline end);
muster_status __wrap_compose_all_gather_equal(muster_group *group, const message_label *label,
                                              void *place, size_t bytes, deadline end)
{
    size_t sizes[MOST_RANKS], offsets[MOST_RANKS];
    (void)label, (void)end;
    for (int r = 0; r < group->size; r++) {
        sizes[r] = bytes;
        offsets[r] = (size_t)r * bytes;
    }
    return receive(group, place, &(layout){sizes, offsets, sizes});
}

muster_status __wrap_compose_all_gather(muster_group *group, const message_label *label,
                                        void *place, const layout *blocks, deadline end);
muster_status __wrap_compose_all_gather(muster_group *group, const message_label *label,
                                        void *place, const layout *blocks, deadline end)
{
    (void)label, (void)end;
    return receive(group, place, blocks);
}

muster_status __wrap_compose_gather(muster_group *group, const message_label *label, void *place,
                                    const void *mine, const layout *blocks, double *scalars,
                                    deadline end);
muster_status __wrap_compose_gather(muster_group *group, const message_label *label, void *place,
                                    const void *mine, const layout *blocks, double *scalars,
                                    deadline end)
{
    (void)label, (void)mine, (void)scalars, (void)end;
    return label->root == group->rank ? receive(group, place, blocks) : MUSTER_OK;
}

muster_status __wrap_failure_raise(muster_group *group, muster_status status);
muster_status __wrap_failure_raise(muster_group *group, muster_status status)
{
    (void)group;
    return status;
}

muster_status __wrap_group_ready(muster_group *group, const char *function);
muster_status __wrap_group_ready(muster_group *group, const char *function)
{
    (void)group, (void)function;
    return MUSTER_OK;
}

muster_status __wrap_group_error(const muster_group *group, const char *function,
                                 muster_status status);
muster_status __wrap_group_error(const muster_group *group, const char *function,
                                 muster_status status)
{
    (void)group, (void)function;
    return status;
}

static void tokens(muster_group *group, int root)
{
    static const size_t lengths[] = {2, 0, 1};
    static const int64_t ids[] = {7, -1, 70000};
    const muster_token_lists mine = {.num_lists = 3, .lengths = lengths, .tokens = ids};
    muster_tokens *all = NULL;
    muster_status status = root < 0 ? muster_all_gather_tokens(group, &mine, &all)
                                    : muster_gather_tokens(group, &mine, root, &all);
    if (status == MUSTER_OK && all != NULL)
        fuzz_hold(all->list_offsets[all->num_lists] == all->num_tokens &&
                      all->rank_offsets[all->num_ranks] == all->num_lists,
                  "the lists have all tokens, and the ranks all lists");
    muster_tokens_free(all);
}

static void objects(muster_group *group, int root)
{
    const muster_blob blobs[] = {muster_str("object"), muster_str("")};
    const muster_object_list mine = {.num_objects = 2, .objects = blobs};
    muster_objects *all = NULL;
    size_t sum = 0;
    muster_status status = root < 0 ? muster_all_gather_objects(group, &mine, &all)
                                    : muster_gather_objects(group, &mine, root, &all);
    if (status == MUSTER_OK && all != NULL) {
        for (size_t i = 0; i < all->num_objects; i++)
            sum += all->objects[i].size;
        fuzz_hold(sum == all->num_bytes && all->rank_offsets[all->num_ranks] == all->num_objects,
                  "the objects have all bytes, and the ranks all objects");
    }
    muster_objects_free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rank_record records[MOST_RANKS] = {{.host = "a"},
                                              {.host = "b", .rank = 1},
                                              {.host = "c", .rank = 2},
                                              {.host = "d", .rank = 3}};
    static muster_group group = {.timeout_ms = 1000};
    fuzz_bytes input = {data, size};
    int mode = fuzz_byte(&input);
    group.size = 2 + mode % (MOST_RANKS - 1);
    group.rank = (mode >> 2) % group.size;
    group.ranks = (roster){.count = group.size, .hosts = group.size, .ranks = records};
    int root = (mode >> 4 & 7) - 1;
    wire = input;
    if (mode & 128)
        objects(&group, root < group.size ? root : 0);
    else
        tokens(&group, root < group.size ? root : 0);
    return 0;
}
