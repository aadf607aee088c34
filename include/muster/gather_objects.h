/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathering objects: byte strings, any number of them on any rank, of any size.
 */
#ifndef MUSTER_GATHER_OBJECTS_H
#define MUSTER_GATHER_OBJECTS_H

#include <muster/blob.h>
#include <muster/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Objects as a rank gives them: byte strings of any size, 0 included. */
typedef struct muster_object_list {
    size_t num_objects;
    const muster_blob *objects; /* num_objects; may be NULL where that is 0 */
} muster_object_list;

/* Objects of all ranks in rank order, and in each rank's own order. Read only. */
typedef struct muster_objects {
    size_t num_ranks;
    size_t num_objects;
    size_t num_bytes; /* of all objects together */
    /* num_ranks + 1: the objects of rank r are those from rank_offsets[r] to before
     * rank_offsets[r+1]. */
    const size_t *rank_offsets;
    const muster_blob *objects; /* num_objects; their bytes live as long as this struct */
} muster_objects;

/*
 * Gathers the objects of all ranks on all ranks; collective, and blocks until done. A rank that
 * can't contribute (wrong arguments, no memory) makes all ranks return the same error naming it;
 * the group goes on working.
 */
MUSTER_API muster_status muster_all_gather_objects(muster_group *group,
                                                   const muster_object_list *mine,
                                                   muster_objects **all);

/* The same to one rank: *all is NULL on the others. Ranks that name different roots all get
 * MUSTER_ERR_MISMATCH, and the group goes on working. */
MUSTER_API muster_status muster_gather_objects(muster_group *group, const muster_object_list *mine,
                                               int root, muster_objects **all);
MUSTER_API void muster_objects_free(muster_objects *objects);

#ifdef __cplusplus
}
#endif
#endif
