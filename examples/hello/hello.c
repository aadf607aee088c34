/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every rank gives two lists of token ids and receives those of its sub-group.
 */
#include <muster.h>
#include <stdio.h>

static int failed(void)
{
    fprintf(stderr, "hello: %s\n", muster_last_error());
    muster_report_failure(NULL); /* to the launcher */
    return 1;
}

int main(void)
{
    muster_group *world, *regular, *orthogonal;
    if (muster_init_process_group(&world, NULL) != MUSTER_OK)
        return failed();
    int rank = muster_group_rank(world), size = muster_group_size(world);
    if (muster_create_sub_group(world, size % 2 == 0 ? 2 : 1, NULL, &regular, &orthogonal))
        return failed();

    int64_t ids[] = {rank, 100 + rank, -1};
    size_t lengths[] = {1, 2};
    muster_token_lists mine = {2, lengths, ids};
    muster_tokens *all;
    if (muster_all_gather_tokens(regular, &mine, &all) != MUSTER_OK)
        return failed();

    printf("rank %d of %d on %s received:", rank, size, muster_group_backend(regular));
    for (size_t i = 0; i < all->num_lists; i++)
        for (size_t t = all->list_offsets[i]; t < all->list_offsets[i + 1]; t++)
            printf("%s%lld", t == all->list_offsets[i] ? " | " : " ", (long long)all->tokens[t]);
    printf("\n");
    muster_tokens_free(all);
    muster_group_free(orthogonal);
    muster_group_free(regular);
    muster_group_free(world);
    return 0;
}
