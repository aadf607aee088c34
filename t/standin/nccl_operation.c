/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how operations of its
 * NCCL are carried out. Everybody sends to everybody what it needs; who reduces does so in pieces,
 * in the order of ranks.
 */
#include "config.h"

#include "nccl_operation.h"

#include <stdlib.h>
#include <string.h>

#include "nccl_meet.h"
#include "nccl_reduce.h"

enum { OPERATION_PIECE = 1 << 16 }; /* elements */

size_t operation_sends(const nccl_comm *comm, const nccl_operation *operation)
{
    bool root = operation->root == comm->rank;
    switch (operation->kind) {
    case OPERATION_BROADCAST:
        return root;
    case OPERATION_SCATTER:
        return root ? (size_t)comm->size : 0;
    case OPERATION_ALL_TO_ALL:
    case OPERATION_REDUCE_SCATTER:
        return (size_t)comm->size;
    case OPERATION_RECV:
        return 0;
    default:
        return 1;
    }
}

size_t operation_receives(const nccl_comm *comm, const nccl_operation *operation)
{
    bool root = operation->root == comm->rank;
    switch (operation->kind) {
    case OPERATION_REDUCE:
        return root;
    case OPERATION_GATHER:
        return root ? (size_t)comm->size : 0;
    case OPERATION_ALL_TO_ALL:
    case OPERATION_ALL_GATHER:
        return (size_t)comm->size;
    case OPERATION_SEND:
        return 0;
    default:
        return 1;
    }
}

static bool operation_reduces(const nccl_operation *operation)
{
    return operation->kind == OPERATION_ALL_REDUCE || operation->kind == OPERATION_REDUCE ||
           operation->kind == OPERATION_REDUCE_SCATTER;
}

/* Unless MUSTER_STANDIN_PEERS is "noticed", nobody finds out that a peer has gone, as between
 * devices of one host. */
static nccl_wire operation_wire(const nccl_comm *comm)
{
    const char *peers = getenv("MUSTER_STANDIN_PEERS");
    nccl_wire wire = meet_wire(comm, comm->data, peers == NULL || strcmp(peers, "noticed") != 0);
    wire.ended = &comm->stopped;
    return wire;
}

/* ---- operations that only move ---- */

/* What of its blocks a rank sends to a peer, as an index; -1: nothing. */
static int operation_sent_block(const nccl_comm *comm, const nccl_operation *operation, int peer)
{
    switch (operation->kind) {
    case OPERATION_BROADCAST:
        return operation->root == comm->rank ? 0 : -1;
    case OPERATION_SCATTER:
        return operation->root == comm->rank ? peer : -1;
    case OPERATION_GATHER:
        return operation->root == peer ? 0 : -1;
    case OPERATION_ALL_TO_ALL:
        return peer;
    default: /* all_gather */
        return 0;
    }
}

/* And where it keeps what comes from the peer. */
static int operation_kept_block(const nccl_comm *comm, const nccl_operation *operation, int peer)
{
    switch (operation->kind) {
    case OPERATION_BROADCAST:
    case OPERATION_SCATTER:
        return operation->root == peer ? 0 : -1;
    case OPERATION_GATHER:
        return operation->root == comm->rank ? peer : -1;
    default:
        return peer;
    }
}

static nccl_result operation_move(nccl_comm *comm, const nccl_operation *operation)
{
    nccl_wire wire = operation_wire(comm);
    size_t size = operation->count * reduce_type_size(operation->type), count = 0;
    /* In place: blocks that are received must not overwrite what is still to be sent. */
    size_t sent = operation_sends(comm, operation) * size;
    char *kept = malloc(sent > 0 ? sent : 1);
    nccl_transfer *transfers = calloc(2 * (size_t)comm->size, sizeof(*transfers));
    nccl_result result = kept && transfers ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
    if (result == NCCL_SUCCESS && sent > 0)
        memcpy(kept, operation->send, sent);
    for (int peer = 0; result == NCCL_SUCCESS && peer < comm->size; peer++) {
        int from = operation_sent_block(comm, operation, peer);
        int to = operation_kept_block(comm, operation, peer);
        if (from >= 0)
            transfers[count++] =
                (nccl_transfer){.peer = peer, .send = kept + (size_t)from * size, .size = size};
        if (to >= 0)
            transfers[count++] =
                (nccl_transfer){.peer = peer,
                                .receive = (char *)operation->receive + (size_t)to * size,
                                .size = size};
    }
    if (result == NCCL_SUCCESS)
        result = wire_move(&wire, transfers, count);
    free(transfers);
    free(kept);
    return result;
}

/* ---- reductions ---- */

/* The part of the elements [from, from + count) that the peer is sent, or that is reduced here. */
typedef struct operation_piece {
    size_t from;
    size_t count;
    char *arrays;    /* of all ranks, behind each other */
    double *scalars; /* likewise */
    double scalar;   /* this rank's */
} operation_piece;

static nccl_result operation_exchange(nccl_comm *comm, const nccl_operation *operation,
                                      operation_piece *piece)
{
    nccl_wire wire = operation_wire(comm);
    nccl_transfer *transfers = calloc(4 * (size_t)comm->size, sizeof(*transfers));
    size_t size = reduce_type_size(operation->type), count = 0;
    if (transfers == NULL)
        return NCCL_SYSTEM_ERROR;
    for (int peer = 0; peer < comm->size; peer++) {
        bool scatter = operation->kind == OPERATION_REDUCE_SCATTER;
        size_t from = piece->from + (scatter ? (size_t)peer * operation->count : 0);
        const char *sent = (const char *)operation->send + from * size;
        char *kept = piece->arrays + (size_t)peer * piece->count * size;
        if (operation->kind != OPERATION_REDUCE || operation->root == peer) {
            transfers[count++] = (nccl_transfer){peer, &piece->scalar, NULL, sizeof(double), 0};
            transfers[count++] = (nccl_transfer){peer, sent, NULL, piece->count * size, 0};
        }
        if (operation->kind != OPERATION_REDUCE || operation->root == comm->rank) {
            transfers[count++] =
                (nccl_transfer){peer, NULL, &piece->scalars[peer], sizeof(double), 0};
            transfers[count++] = (nccl_transfer){peer, NULL, kept, piece->count * size, 0};
        }
    }
    nccl_result result = wire_move(&wire, transfers, count);
    free(transfers);
    return result;
}

static nccl_result operation_reduce_piece(nccl_comm *comm, const nccl_operation *operation,
                                          operation_piece *piece)
{
    size_t size = reduce_type_size(operation->type);
    nccl_result result = operation_exchange(comm, operation, piece);
    if (result != NCCL_SUCCESS || operation_receives(comm, operation) == 0)
        return result;
    return reduce_run(operation->type, operation->op,
                      (char *)operation->receive + piece->from * size, piece->arrays,
                      piece->scalars, comm->size, piece->count);
}

static nccl_result operation_reduce(nccl_comm *comm, const nccl_operation *operation)
{
    size_t most = operation->count < OPERATION_PIECE ? operation->count : OPERATION_PIECE;
    size_t size = reduce_type_size(operation->type), ranks = (size_t)comm->size;
    operation_piece piece = {.arrays = malloc(most * size * ranks + 1),
                             .scalars = calloc(ranks, sizeof(double)),
                             .scalar = operation->own.scalar};
    nccl_result result = piece.arrays && piece.scalars ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
    if (operation->own.place != NULL)
        piece.scalar = reduce_read_scalar(operation->own.place, operation->type);
    while (result == NCCL_SUCCESS && piece.from < operation->count) {
        size_t left = operation->count - piece.from;
        piece.count = left < most ? left : most;
        result = operation_reduce_piece(comm, operation, &piece);
        piece.from += piece.count;
    }
    free(piece.arrays);
    free(piece.scalars);
    return result;
}

/* ---- messages ---- */

static nccl_result operation_messages(nccl_comm *comm, const nccl_operation *operations,
                                      size_t count)
{
    nccl_wire wire = operation_wire(comm);
    nccl_transfer *transfers = calloc(count, sizeof(*transfers));
    if (transfers == NULL)
        return NCCL_SYSTEM_ERROR;
    for (size_t i = 0; i < count; i++)
        transfers[i] =
            (nccl_transfer){.peer = operations[i].root,
                            .send = operations[i].send,
                            .receive = operations[i].receive,
                            .size = operations[i].count * reduce_type_size(operations[i].type)};
    nccl_result result = wire_move(&wire, transfers, count);
    free(transfers);
    return result;
}

nccl_result operation_run(nccl_comm *comm, nccl_operation *operations, size_t count)
{
    if (operations->kind == OPERATION_SEND || operations->kind == OPERATION_RECV)
        return operation_messages(comm, operations, count);
    return operation_reduces(operations) ? operation_reduce(comm, operations)
                                         : operation_move(comm, operations);
}
