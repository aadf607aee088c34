/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster: assembles the ranks of a job into process groups and gathers what they carry.
 *
 * A program that runs on many ranks calls muster_init_process_group() on each of them, gets a
 * muster_group, and calls collectives on it. Groups run on a backend: "local" between the
 * processes of one host, "gloo" between hosts, "nccl" between GPUs. All of it is reached through
 * this header, which is the first page of the manual; the headers that it includes are the others,
 * in the order in which to read them.
 *
 * A first program:
 *
 *     #include <muster.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         muster_group *world;
 *         muster_status status = muster_init_process_group(&world, NULL);
 *         if (status == MUSTER_OK) {
 *             int64_t mine = muster_group_rank(world), sum = 0;
 *             status = muster_all_reduce(world, &mine, &sum, 1, MUSTER_INT64, MUSTER_SUM, NULL);
 *             if (status == MUSTER_OK)
 *                 printf("rank %d of %d: all ranks together are %d\n", (int)mine,
 *                        muster_group_size(world), (int)sum);
 *             muster_group_free(world);
 *         }
 *         if (status != MUSTER_OK)
 *             fprintf(stderr, "%s\n", muster_last_error());
 *         return status != MUSTER_OK;
 *     }
 *
 *     cc first.c -o first $(pkg-config --cflags --libs muster)
 *     muster-run -n 4 ./first
 *
 * Every rank prints a line that ends in 6. Any other launcher will do as well (torchrun, mpirun,
 * srun); without one the program is the one rank of a world of one.
 *
 * Rules that hold for every function:
 *
 * Errors. A function that can fail returns a muster_status. After anything but MUSTER_OK,
 * muster_last_error() gives one sentence for the calling thread: what was wrong, where, and what to
 * do. Nothing is printed, nothing exits. On failure no output argument is written, unless its
 * description says otherwise. A pointer that is NULL where nothing says that it may be, and a
 * number out of its range, is MUSTER_ERR_ARGUMENT; a group that is NULL is MUSTER_ERR_NOT_MEMBER.
 *
 * Ownership. What a function returns through a pointer belongs to the caller, who frees it with the
 * _free function of its type, or with muster_free() where there is none. Every _free function
 * accepts NULL. What a caller passes in stays the caller's and is not needed after the call, except
 * the buffers of an asynchronous operation, which must live until its muster_work is done. Strings
 * that a function returns directly are the library's, and say how long they live.
 *
 * Structs that the caller fills and that begin with struct_size start from the initialiser macro of
 * their type, which sets it and every default, so that a program built against an older header
 * keeps working with a newer library.
 *
 * Threads. Any function may be called from any thread, several at once on one group too.
 * Collectives of one group are carried out one after the other in the order in which they were
 * issued, whatever thread issued them; that order must be the same on all ranks, so threads that
 * share a group agree on it among themselves. Messages between two ranks, and different groups,
 * wait for nothing of that. What frees an object must be the last call on it.
 *
 * Collective calls are made by all ranks of a group, or by those that the description names, in the
 * same order. Roots and peers are ranks of the group itself, from 0 to its size - 1.
 *
 * Time-outs. Every wait is bounded, in milliseconds. Each group has a time-out; a call that exceeds
 * it returns MUSTER_ERR_TIMEOUT and names the ranks that it was waiting for.
 *
 * Fork. In a child process a group of its parent may be freed, which releases memory and sends
 * nothing; every other call on it returns MUSTER_ERR_FORKED. New groups may be made.
 */
#ifndef MUSTER_H
#define MUSTER_H

/* What functions return. */
#include <muster/status.h>

/* A group: the world, and what it tells. */
#include <muster/group.h>

/* What its ranks do together, with elements of which types and which reductions. */
#include <muster/collective.h>
#include <muster/type.h>
#include <muster/reduction.h>

/* Messages between two of them. */
#include <muster/point_to_point.h>

/* Operations that go on meanwhile. */
#include <muster/work.h>

/* Gathers of ragged lists of token ids, and of objects. */
#include <muster/gather_tokens.h>
#include <muster/gather_objects.h>

/* Buffers in the memory of a device. */
#include <muster/device.h>

/* Which GPU and which cores each rank has. */
#include <muster/placement.h>

/* Groups made of a group, and what to do with one that has failed. */
#include <muster/subgroup.h>
#include <muster/failure.h>

/* Where ranks meet, who started them, and with which settings. */
#include <muster/store.h>
#include <muster/launcher.h>
#include <muster/options.h>

/* The rest: bytes, the log, what this machine has, versions. */
#include <muster/blob.h>
#include <muster/log.h>
#include <muster/machine.h>
#include <muster/version.h>

#endif
