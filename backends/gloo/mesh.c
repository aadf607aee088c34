/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connecting every rank with every other.
 *
 * That Gloo says "connected" does not mean that the peer is there: a kernel accepts connections for
 * a process that hangs, and anybody can connect to a port. So at last each rank sends each other a
 * greeting with a number that only members of the group know. It also makes sure that the watch of
 * each peer is in place before any rank can leave again.
 */
#include "config.h"

#include "mesh.h"

#include <stdio.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "addresses.h"
#include "watch.h"

/* What a rank greets with. */
typedef struct greeting {
    uint64_t nonce; /* of the sender */
    uint64_t rank;
} greeting;

/* A mesh in the making. */
struct mesh {
    muster_comm *comm;
    struct card card;
    uint8_t *prepared;  /* the addresses that the peers are told; ADDRESS_SIZE apart, then packed */
    uint8_t *addresses; /* those of the peers, ADDRESS_SIZE apart */
    uint64_t *nonces;
    greeting *heard;
    greeting mine;
};

static muster_status mesh_new(struct mesh *mesh)
{
    size_t size = (size_t)mesh->comm->size;
    mesh->prepared = calloc(size, ADDRESS_SIZE);
    mesh->addresses = calloc(size, ADDRESS_SIZE);
    mesh->nonces = calloc(size, sizeof(*mesh->nonces));
    mesh->heard = calloc(size, sizeof(*mesh->heard));
    if (mesh->prepared == NULL || mesh->addresses == NULL || mesh->nonces == NULL ||
        mesh->heard == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for the addresses of %zu ranks",
                                size);
    return MUSTER_OK;
}

static void mesh_free(struct mesh *mesh)
{
    free(mesh->prepared);
    free(mesh->addresses);
    free(mesh->nonces);
    free(mesh->heard);
}

static muster_status mesh_nonce(struct mesh *mesh)
{
    if (getrandom(&mesh->mine.nonce, sizeof(mesh->mine.nonce), 0) !=
        (ssize_t)sizeof(mesh->mine.nonce))
        return gloo_host->error(MUSTER_ERR_SYSTEM, "the kernel gives no random numbers");
    mesh->mine.rank = (uint64_t)mesh->comm->rank;
    mesh->card.nonce = mesh->mine.nonce;
    return MUSTER_OK;
}

static muster_status mesh_prepare(struct mesh *mesh, const char *address)
{
    muster_comm *comm = mesh->comm;
    size_t length = 0;
    for (int peer = 0; peer < comm->size; peer++) {
        size_t size = ADDRESS_SIZE;
        gloo_c_why why;
        if (peer == comm->rank)
            continue;
        uint8_t *at = mesh->prepared + (size_t)peer * ADDRESS_SIZE;
        gloo_c_status got = gloo_c_pair_new(comm->context, peer, at, &size, &why);
        if (got != GLOO_C_OK)
            return comm_error(got, &why, "preparing a connection");
        if (length != 0 && size != length)
            return gloo_host->error(MUSTER_ERR_INTERNAL, "Gloo's addresses differ in length");
        length = size;
    }
    for (int peer = 1; peer < comm->size; peer++)
        memmove(mesh->prepared + (size_t)peer * length,
                mesh->prepared + (size_t)peer * ADDRESS_SIZE, length);
    mesh->card.rank = comm->rank;
    mesh->card.size = comm->size;
    mesh->card.family = device_family(address) == AF_INET ? '4' : '6';
    const char *scope = strchr(address, '%');
    mesh->card.scope = scope == NULL ? 0 : if_nametoindex(scope + 1);
    mesh->card.address_size = length;
    mesh->card.addresses = mesh->prepared;
    return MUSTER_OK;
}

static muster_status mesh_exchange(struct mesh *mesh)
{
    muster_comm *comm = mesh->comm;
    muster_blob mine;
    const muster_blob *all;
    muster_status status = card_write(&mesh->card, &mine);
    if (status != MUSTER_OK)
        return status;
    status = gloo_host->exchange(comm->owner, mine, &all);
    free((void *)(uintptr_t)mine.data);
    for (int peer = 0; peer < comm->size && status == MUSTER_OK; peer++)
        if (peer != comm->rank)
            status = card_read(&mesh->card, peer, all[peer], &mesh->nonces[peer],
                               mesh->addresses + (size_t)peer * ADDRESS_SIZE);
    return status;
}

static muster_status mesh_dial(struct mesh *mesh, int64_t timeout_ms, deadline end)
{
    muster_comm *comm = mesh->comm;
    for (int peer = 0; peer < comm->size; peer++) {
        if (peer == comm->rank)
            continue;
        gloo_c_why why = {"the time was over before its turn came"};
        gloo_c_status got = GLOO_C_IO;
        if (deadline_left_ms(end) > 0)
            got = gloo_c_pair_connect(comm->context, peer,
                                      mesh->addresses + (size_t)peer * ADDRESS_SIZE,
                                      mesh->card.address_size, &why);
        if (got == GLOO_C_OK)
            continue;
        if (got == GLOO_C_NO_MEMORY)
            return comm_error(got, &why, "connecting");
        return gloo_host->error(
            deadline_left_ms(end) == 0 ? MUSTER_ERR_TIMEOUT : MUSTER_ERR_PEER_LOST,
            "can't connect to rank %d (of %lld ms %lld ms are left): %s; it may have ended, a "
            "stranger may have taken our place at its port, or a firewall may be between",
            peer, (long long)timeout_ms, (long long)deadline_left_ms(end), why.text);
    }
    return MUSTER_OK;
}

/* The greetings that have not come, or that are not what they should be. */
static muster_status greeting_error(const struct mesh *mesh, deadline end, const char *why)
{
    char missing[160] = "";
    size_t used = 0;
    int first = -1;
    for (int peer = 0; peer < mesh->comm->size; peer++) {
        const greeting *heard = &mesh->heard[peer];
        if (peer == mesh->comm->rank ||
            (heard->nonce == mesh->nonces[peer] && heard->rank == (uint64_t)peer))
            continue;
        if (used < sizeof(missing))
            used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%d",
                                     first < 0 ? "" : ", ", peer);
        first = peer;
    }
    if (first < 0)
        return gloo_host->error(MUSTER_ERR_PEER_LOST,
                                "all ranks have greeted, but not all could be greeted: %s", why);
    return gloo_host->error(deadline_left_ms(end) == 0 ? MUSTER_ERR_TIMEOUT : MUSTER_ERR_PEER_LOST,
                            "connected, but no right greeting came from rank %s: %s", missing, why);
}

static gloo_c_status greet_all(struct mesh *mesh, gloo_c_buffer *ears, gloo_c_buffer *mouth,
                               deadline end, gloo_c_why *why)
{
    muster_comm *comm = mesh->comm;
    gloo_c_status got = GLOO_C_OK;
    for (int peer = 0; peer < comm->size && got == GLOO_C_OK; peer++) {
        if (peer == comm->rank)
            continue;
        got = gloo_c_recv(ears, peer, SLOT_HELLO, (size_t)peer * sizeof(greeting), sizeof(greeting),
                          why);
        if (got == GLOO_C_OK)
            got = gloo_c_send(mouth, peer, SLOT_HELLO, 0, sizeof(greeting), why);
    }
    for (int i = 1; i < comm->size && got == GLOO_C_OK; i++)
        got = gloo_c_wait_recv(ears, deadline_left_ms(end), why);
    for (int i = 1; i < comm->size && got == GLOO_C_OK; i++)
        got = gloo_c_wait_send(mouth, deadline_left_ms(end), why);
    return got;
}

static muster_status mesh_greet(struct mesh *mesh, deadline end)
{
    muster_comm *comm = mesh->comm;
    gloo_c_buffer *ears = NULL;
    gloo_c_buffer *mouth = NULL;
    gloo_c_why why;
    gloo_c_status got = gloo_c_buffer_new(comm->context, mesh->heard,
                                          (size_t)comm->size * sizeof(greeting), &ears, &why);
    if (got == GLOO_C_OK)
        got = gloo_c_buffer_new(comm->context, &mesh->mine, sizeof(mesh->mine), &mouth, &why);
    if (got == GLOO_C_OK)
        got = greet_all(mesh, ears, mouth, end, &why);
    bool right = got == GLOO_C_OK;
    for (int peer = 0; peer < comm->size && right; peer++)
        right = peer == comm->rank || (mesh->heard[peer].nonce == mesh->nonces[peer] &&
                                       mesh->heard[peer].rank == (uint64_t)peer);
    if (got != GLOO_C_OK)
        gloo_c_context_shut(comm->context); /* nothing writes into heard any more */
    if (ears != NULL)
        gloo_c_buffer_free(ears);
    if (mouth != NULL)
        gloo_c_buffer_free(mouth);
    if (right)
        return MUSTER_OK;
    if (got != GLOO_C_OK && got != GLOO_C_IO)
        return comm_error(got, &why, "greeting the peers");
    return greeting_error(mesh, end, got == GLOO_C_OK ? "a stranger has connected" : why.text);
}

muster_status mesh_connect(muster_comm *comm, const muster_open_args *args, deadline end,
                           const descriptors *before)
{
    struct mesh mesh = {.comm = comm};
    muster_status status = mesh_new(&mesh);
    if (status == MUSTER_OK)
        status = mesh_nonce(&mesh);
    if (status == MUSTER_OK)
        status = mesh_prepare(&mesh, args->address);
    descriptors_close_on_exec(before);
    if (status == MUSTER_OK)
        status = mesh_exchange(&mesh);
    if (status == MUSTER_OK)
        status = mesh_dial(&mesh, args->timeout_ms, end);
    descriptors_close_on_exec(before);
    if (status == MUSTER_OK)
        status = watch_prepare(comm);
    if (status == MUSTER_OK)
        status = mesh_greet(&mesh, end);
    mesh_free(&mesh);
    return status;
}
