/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that asks for a backend by name and has it work: small and large collectives, a gather
 * of tokens, and messages around the ring.
 *
 *     MUSTER_BACKEND_PATH=. muster-run -n 4 ./swap sockets
 */
#include <muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 1 << 20 };

static int failed(const char *what)
{
    fprintf(stderr, "swap: %s\n", what);
    muster_report_failure(what);
    return 1;
}

static muster_status sum(muster_group *world, int64_t *errors)
{
    int size = muster_group_size(world);
    int32_t *values = calloc(LARGE, sizeof(*values));
    if (values == NULL)
        return MUSTER_ERR_NO_MEMORY;
    for (int i = 0; i < LARGE; i++)
        values[i] = i % 1000 + muster_group_rank(world);
    muster_status status =
        muster_all_reduce(world, values, values, LARGE, MUSTER_INT32, MUSTER_SUM, NULL);
    for (int i = 0; i < LARGE; i++)
        *errors += values[i] != i % 1000 * size + size * (size - 1) / 2;
    free(values);
    return status;
}

static muster_status gather(muster_group *world, int64_t *errors)
{
    int64_t token = 100 + muster_group_rank(world);
    size_t length = 1;
    muster_token_lists mine = {1, &length, &token};
    muster_tokens *all;
    muster_status status = muster_all_gather_tokens(world, &mine, &all);
    if (status != MUSTER_OK)
        return status;
    for (size_t i = 0; i < all->num_tokens; i++)
        *errors += all->tokens[i] != 100 + (int64_t)i;
    muster_tokens_free(all);
    return MUSTER_OK;
}

static muster_status pass_on(muster_group *world, int64_t *errors)
{
    int rank = muster_group_rank(world), size = muster_group_size(world);
    int32_t mine = rank, theirs = -1;
    muster_transfer both[] = {
        {.direction = MUSTER_SENDS,
         .peer = (rank + 1) % size,
         .count = 1,
         .send = &mine,
         .type = MUSTER_INT32},
        {.direction = MUSTER_RECEIVES,
         .peer = (rank + size - 1) % size,
         .count = 1,
         .receive = &theirs,
         .type = MUSTER_INT32},
    };
    muster_status status = muster_batch_send_recv(world, both, 2, NULL);
    *errors += theirs != (rank + size - 1) % size;
    return status;
}

int main(int argc, char **argv)
{
    muster_group *world;
    int64_t errors = 0;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.backend = argc > 1 ? argv[1] : NULL;
    args.timeout_ms = 20000;
    if (muster_init_process_group(&world, &args) != MUSTER_OK)
        return failed(muster_last_error());
    muster_status status = sum(world, &errors);
    if (status == MUSTER_OK)
        status = gather(world, &errors);
    if (status == MUSTER_OK)
        status = pass_on(world, &errors);
    if (status == MUSTER_OK)
        printf("rank %d of %d on %s: %lld errors\n", muster_group_rank(world),
               muster_group_size(world), muster_group_backend(world), (long long)errors);
    else
        failed(muster_last_error());
    muster_group_free(world);
    return status != MUSTER_OK || errors > 0;
}
