/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups made of a group: of any of its ranks, of lists, by color, and the regular and orthogonal
 * ones; and what a rank of one is called in another.
 *
 * The parent may be any group that works, and stays as it is. The new group meets over the parent's
 * store. In a call of all ranks of the parent a rank with wrong arguments, or with other lists,
 * another size or another backend than the others, makes all of them return the same error.
 *
 * Several threads may make groups of one parent at once. The calls that are collective over the
 * parent are made one after the other, in the order in which they were issued, and so are
 * muster_new_group() calls of the same members and name: that order must be the same on all of
 * them. A call whose turn does not come within its time-out fails on all. Groups without a
 * group_name are called by their members: where two threads make groups of the same members by
 * different functions at once one of them may get MUSTER_ERR_EXISTS, so these are given names.
 *
 * A caller that is in no group of those that are made has *group NULL, which every function that
 * returns a status answers with MUSTER_ERR_NOT_MEMBER, and which muster_group_free() accepts. In a
 * call of all ranks that is MUSTER_OK, since it did its part (split, by enumeration); in a call of
 * the members alone it is MUSTER_ERR_NOT_MEMBER (muster_new_group, muster_group_shrink).
 */
#ifndef MUSTER_SUBGROUP_H
#define MUSTER_SUBGROUP_H

#include <muster/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What groups made of groups have in common. NULL where one is asked for takes every default. */
typedef struct muster_group_args {
    size_t struct_size;
    const char *backend;    /* NULL: the parent's */
    int64_t timeout_ms;     /* MUSTER_TIMEOUT_DEFAULT: the parent's */
    const char *group_name; /* the same on all members; NULL: made from parent, members and a count
                               that they share; else as in muster_init_args, and MUSTER_ERR_EXISTS
                               while the parent has another one of that name */
    union {
        const muster_options *backend_options; /* on top of the parent's */
        const muster_options *pg_options;      /* what backend_options was called before */
    };
    const char *options; /* as for muster_options_parse, or NULL */
} muster_group_args;
#define MUSTER_GROUP_ARGS_INIT                                                                     \
    {                                                                                              \
        sizeof(muster_group_args), NULL, MUSTER_TIMEOUT_DEFAULT, NULL, {NULL}, NULL                \
    }

/*
 * Makes a group of the parent's ranks ranks[0..num_ranks), in that order: ranks[i] becomes rank i.
 * Collective over its members, who alone need to call; a caller that is not among them gets
 * MUSTER_ERR_NOT_MEMBER and *group NULL, and nobody waits for it. Members that give one group_name
 * and other ranks than the others, or another order, get MUSTER_ERR_MISMATCH with them; where no
 * name is given, other ranks are another group, which is waited for.
 */
MUSTER_API muster_status muster_new_group(muster_group *parent, const int *ranks, size_t num_ranks,
                                          const muster_group_args *args, muster_group **group);

/*
 * Makes num_lists disjoint groups at once; collective over the parent, with the same lists
 * everywhere. lists[i] has sizes[i] ranks of the parent. *group is the one that the caller is in; a
 * caller in none gets MUSTER_OK with *group NULL.
 */
MUSTER_API muster_status muster_new_subgroups_by_enumeration(muster_group *parent,
                                                             const int *const *lists,
                                                             const size_t *sizes, size_t num_lists,
                                                             const muster_group_args *args,
                                                             muster_group **group);

#define MUSTER_NO_COLOR (-1)

/*
 * Splits the parent: ranks of one color (>= 0) form a group, ordered by key, then by rank in the
 * parent. Collective over the parent. A caller of MUSTER_NO_COLOR gets MUSTER_OK with *group NULL.
 */
MUSTER_API muster_status muster_group_split(muster_group *parent, int color, int key,
                                            const muster_group_args *args, muster_group **group);

/*
 * Makes the two families of sub-groups that tensor and data parallelism need: with size 4 in a
 * world of 8, regular are {0,1,2,3} and {4,5,6,7}, orthogonal are {0,4}, {1,5}, {2,6} and {3,7}.
 * *regular and *orthogonal are those that the caller is in. Collective over world, which may be any
 * group. backend NULL is that of world. size must be at least 1 and divide the size of world. Both
 * groups are tested before they are handed over; all ranks succeed or none does.
 */
MUSTER_API muster_status muster_create_sub_group(muster_group *world, size_t size,
                                                 const char *backend, muster_group **regular,
                                                 muster_group **orthogonal);

/*
 * Translate ranks. Roots and peers are ranks of the group in every call of this library. The parent
 * is the group that this one was made of, the world the one at the top; a group made by
 * muster_init_process_group is its own parent and world. Both may have been freed.
 * MUSTER_ERR_NOT_FOUND: no such member.
 */
MUSTER_API muster_status muster_group_rank_to_parent(const muster_group *group, int rank,
                                                     int *parent_rank);
MUSTER_API muster_status muster_group_rank_from_parent(const muster_group *group, int parent_rank,
                                                       int *rank);
MUSTER_API muster_status muster_group_rank_to_world(const muster_group *group, int rank,
                                                    int *world_rank);
MUSTER_API muster_status muster_group_rank_from_world(const muster_group *group, int world_rank,
                                                      int *rank);

#ifdef __cplusplus
}
#endif
#endif
