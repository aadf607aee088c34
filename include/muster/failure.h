/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups that fail, are broken off, and go on without the ranks that were lost.
 *
 * A group fails when an operation on it can't be carried out any more: a rank is lost, does not
 * come in time, or makes another call. From then on every operation returns the status and the
 * sentence of the first failure at once, on every rank. A group that has failed stays so; it is
 * freed, and another is made in its place.
 */
#ifndef MUSTER_FAILURE_H
#define MUSTER_FAILURE_H

#include <muster/subgroup.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MUSTER_OK while the group works, else the status of its first failure with its sentence. Asks no
 * other rank. */
MUSTER_API muster_status muster_group_check(muster_group *group);

/*
 * Which ranks of the group are lost: their processes have ended, their connections were closed
 * without a word, or they have freed the group. *ranks has *num_ranks of them in ascending order,
 * and is freed with muster_free(), also where there are none: the group works, or has failed for
 * another reason, such as a rank that hangs, which can't be told from a slow one.
 *
 * What MPI's ULFM calls get_failed and agree in one: in a group that has failed all ranks that are
 * left call it and get the same, for muster_group_shrink(), since what each has seen is put
 * together over the store. A rank that calls it waits for the others, up to two seconds for those
 * that do not. It may be called again, as when a rank was lost during the shrink. A caller that
 * finds itself in the list was cut off, and the others go on without it. In a group that works it
 * tells what is known here and waits for nobody. Where the store is lost each rank is told what it
 * has seen by itself.
 */
MUSTER_API muster_status muster_group_lost_ranks(muster_group *group, int **ranks,
                                                 size_t *num_ranks);

/*
 * Makes a group of the ranks of the parent that are not among failed_ranks, in their order, over
 * the parent's store: what a job goes on with when ranks were lost. The parent may have failed, and
 * stays as it is; whoever hosts its store must be among the survivors. Collective over them, all
 * with the same set; ranks that name others are told so with MUSTER_ERR_MISMATCH, a survivor that
 * does not come is named after the time-out. num_failed may be 0. A caller that is among the failed
 * gets MUSTER_ERR_NOT_MEMBER and *group NULL.
 */
MUSTER_API muster_status muster_group_shrink(muster_group *parent, const int *failed_ranks,
                                             size_t num_failed, const muster_group_args *args,
                                             muster_group **group);

/*
 * Breaks the group off, from any thread: calls on it that wait return at once with
 * MUSTER_ERR_FAILED, here and on the other ranks, whose sentence names this rank. The group has
 * failed from then on and is still to be freed. Takes up to a second where the store does not
 * answer; those that waited are let go before. A group that has failed already stays as it is.
 */
MUSTER_API muster_status muster_group_abort(muster_group *group);

/*
 * The same from a signal handler: muster_group_abort_from_signal() is async-signal-safe, and has
 * the group broken off by a thread that muster_group_allow_abort_from_signal() has started before.
 * Without that it does nothing, as in a fork's child and for NULL. A handler must not run any more
 * for a group that is being freed.
 */
MUSTER_API muster_status muster_group_allow_abort_from_signal(muster_group *group);
MUSTER_API void muster_group_abort_from_signal(muster_group *group);

#ifdef __cplusplus
}
#endif
#endif
