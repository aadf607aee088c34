/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives: operations that every rank of a group takes part in.
 *
 * Every rank of the group makes the same call, with buffers aligned for their type. Counts are
 * numbers of elements; a buffer of which 0 are needed may be NULL. size is the number of ranks, and
 * rank the caller's. Blocks of ranks lie one behind the other in the order of ranks, without gaps.
 * Buffers belong to the caller, and must stay as they are until the operation is done; arrays of
 * counts are copied. work is NULL for a call that blocks, see muster/work.h.
 *
 * In place. send and receive must not overlap, but where a call says so they may be at one place.
 *
 * Errors. A wrong argument is refused before anything moves, and the group goes on working; so is a
 * buffer that is not aligned, whatever the processor bears. Other ranks do not hear of it and wait
 * for this one, but see below. If ranks disagree on the operation, its order, type, count, root or
 * reduction, those that notice get MUSTER_ERR_MISMATCH naming the other, and the group has failed.
 * After a failure what was to be received has no certain content.
 *
 * Checks. Where MUSTER_CHECK=1 is set for any rank of a world, all ranks of it, and of the groups
 * made of it, first compare each collective: operation, number, type, reduction, root and counts.
 * All of them then get MUSTER_ERR_MISMATCH before anything has moved, with the first ranks that
 * differ and what these call; also where a rank refuses its call and others do not. It takes a
 * message more between each two ranks. Messages between two ranks compare themselves; those of
 * device memory over NCCL do so where it is set. Without it a disagreement is found as above: never
 * in silence, but by those alone who have to do with each other, and in the case of a root only
 * after the time-out. There are two exceptions: over NCCL ranks that disagree on device memory get
 * what NCCL makes of it, which may be wrong data and MUSTER_OK; and ranks of one host that name
 * different roots for a small broadcast or scatter find out in the next operation in which all
 * ranks wait for each other.
 *
 * Results. Reductions take the elements of ranks in the order of ranks in every call and for every
 * count: all ranks get the same bits, muster_reduce() those of muster_all_reduce(), and the same
 * call the same again. In groups of several hosts of which some have several ranks, floating types
 * of 32 and 64 bits are summed host by host and then the hosts, by muster_reduce() and
 * muster_all_reduce(); with the option gloo.shared_memory=off all go in the order of ranks.
 */
#ifndef MUSTER_COLLECTIVE_H
#define MUSTER_COLLECTIVE_H

#include <muster/group.h>
#include <muster/reduction.h>
#include <muster/type.h>
#include <muster/work.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- From one to all, and from all to one -------------------------------------------------- */

/* Ends when all ranks have called it. */
MUSTER_API muster_status muster_barrier(muster_group *group, muster_work **work);

/* Copies count elements of root's buffer to the buffer of every rank. */
MUSTER_API muster_status muster_broadcast(muster_group *group, void *buffer, size_t count,
                                          muster_type type, int root, muster_work **work);

/* receive[i] on root becomes the reduction of all ranks' send[i], for count elements; other ranks
 * may give NULL for receive. In place: send == receive on root. */
MUSTER_API muster_status muster_reduce(muster_group *group, const void *send, void *receive,
                                       size_t count, muster_type type, muster_reduction redop,
                                       int root, muster_work **work);

/* receive on root, of size * count elements, becomes all ranks' send, of count elements each; other
 * ranks may give NULL for receive. In place: send == receive + root * count on root. */
MUSTER_API muster_status muster_gather(muster_group *group, const void *send, void *receive,
                                       size_t count, muster_type type, int root,
                                       muster_work **work);

/* The same with as many elements from each rank as its count says; root knows them all, counts[r]
 * from rank r. Other ranks may give NULL for receive and counts. In place: send is root's block of
 * receive on root. */
MUSTER_API muster_status muster_gather_v(muster_group *group, const void *send, size_t count,
                                         void *receive, const size_t *counts, muster_type type,
                                         int root, muster_work **work);

/* receive, of count elements, becomes the caller's block of root's send, of size * count; other
 * ranks may give NULL for send. In place: receive == send + root * count, or send, on root. */
MUSTER_API muster_status muster_scatter(muster_group *group, const void *send, void *receive,
                                        size_t count, muster_type type, int root,
                                        muster_work **work);

/* The same with counts[r] elements for rank r, which that rank gives as its count. Other ranks than
 * root may give NULL for send and counts. In place: receive is root's block of send, or begins
 * where send does, on root. */
MUSTER_API muster_status muster_scatter_v(muster_group *group, const void *send,
                                          const size_t *counts, void *receive, size_t count,
                                          muster_type type, int root, muster_work **work);

/* ---- From all to all ----------------------------------------------------------------------- */

/* receive[i] on every rank becomes the reduction of all ranks' send[i], for count elements. In
 * place: send == receive. */
MUSTER_API muster_status muster_all_reduce(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_reduction redop,
                                           muster_work **work);

/* receive, of size * count elements, becomes all ranks' send, of count elements each. In place:
 * send == receive + rank * count. */
MUSTER_API muster_status muster_all_gather(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_work **work);

/* The same with counts[r] elements from rank r. counts must be the same on all ranks. In place:
 * send is the caller's block of receive. */
MUSTER_API muster_status muster_all_gather_v(muster_group *group, const void *send, void *receive,
                                             const size_t *counts, muster_type type,
                                             muster_work **work);

/* receive, of count elements, becomes the caller's block of the reduction of all ranks' send, of
 * size * count elements each. In place: receive == send + rank * count, or send. */
MUSTER_API muster_status muster_reduce_scatter(muster_group *group, const void *send, void *receive,
                                               size_t count, muster_type type,
                                               muster_reduction redop, muster_work **work);

/* The same with counts[r] elements for rank r. counts must be the same on all ranks. In place:
 * receive is the caller's block of send, or begins where send does. */
MUSTER_API muster_status muster_reduce_scatter_v(muster_group *group, const void *send,
                                                 void *receive, const size_t *counts,
                                                 muster_type type, muster_reduction redop,
                                                 muster_work **work);

/* Block r of receive becomes the caller's block of rank r's send; both have size * count elements.
 * In place, at the price of a copy of send: send == receive. */
MUSTER_API muster_status muster_all_to_all(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_work **work);

/* The same with send_counts[r] elements to rank r and receive_counts[r] from it, which is what it
 * sends to the caller. In place: send == receive, with room for the longer one. */
MUSTER_API muster_status muster_all_to_all_v(muster_group *group, const void *send,
                                             const size_t *send_counts, void *receive,
                                             const size_t *receive_counts, muster_type type,
                                             muster_work **work);

#ifdef __cplusplus
}
#endif
#endif
