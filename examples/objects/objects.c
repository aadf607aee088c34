/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathering records: each rank has some, of any size, and all get all of them in order. To muster
 * an object is its bytes; here each is a line of JSON.
 *
 *     muster-run -n 4 ./objects
 */
#include <muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 128 };

static int failed(const char *what)
{
    fprintf(stderr, "objects: %s\n", what);
    muster_report_failure(what);
    return 1;
}

/* Record i of a rank: the more of them a rank has, the longer they are. */
static void write_record(char text[TEXT_MOST], int rank, int i)
{
    snprintf(text, TEXT_MOST, "{\"rank\":%d,\"record\":%d,\"text\":\"%.*s\"}", rank, i,
             3 * rank + i, "to be or not to be");
}

/* Rank r has r records, so rank 0 has none. */
static muster_status gather(muster_group *world, muster_objects **all)
{
    int rank = muster_group_rank(world);
    char(*texts)[TEXT_MOST] = calloc((size_t)rank + 1, sizeof(*texts));
    muster_blob *records = calloc((size_t)rank + 1, sizeof(*records));
    muster_object_list mine = {(size_t)rank, records};
    muster_status status = MUSTER_ERR_NO_MEMORY;
    if (texts != NULL && records != NULL) {
        for (int i = 0; i < rank; i++) {
            write_record(texts[i], rank, i);
            records[i] = muster_str(texts[i]);
        }
        status = muster_all_gather_objects(world, &mine, all);
    }
    free(records);
    free(texts);
    return status;
}

/* Objects have no terminator: their size is all that says where they end. */
static bool in_order(const muster_objects *all)
{
    char expected[TEXT_MOST];
    for (size_t r = 0; r < all->num_ranks; r++)
        for (size_t i = all->rank_offsets[r]; i < all->rank_offsets[r + 1]; i++) {
            write_record(expected, (int)r, (int)(i - all->rank_offsets[r]));
            if (all->objects[i].size != strlen(expected) ||
                memcmp(all->objects[i].data, expected, strlen(expected)) != 0)
                return false;
        }
    return true;
}

int main(void)
{
    muster_group *world;
    muster_objects *all = NULL;
    if (muster_init_process_group(&world, NULL) != MUSTER_OK)
        return failed(muster_last_error());
    muster_status status = gather(world, &all);
    if (status != MUSTER_OK)
        failed(muster_last_error());
    bool right = status == MUSTER_OK && in_order(all);
    if (right && muster_group_rank(world) == 0)
        for (size_t i = 0; i < all->num_objects; i++)
            printf("%.*s\n", (int)all->objects[i].size, (const char *)all->objects[i].data);
    if (right)
        printf("rank %d has %zu records of %zu bytes in order\n", muster_group_rank(world),
               all->num_objects, all->num_bytes);
    muster_objects_free(all);
    muster_group_free(world);
    return right ? 0 : 1;
}
