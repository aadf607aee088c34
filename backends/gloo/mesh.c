/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connecting every rank with every other.
 *
 * The connections are made without Gloo, which can't tell a peer from a stranger, and handed to it.
 * At last each rank sends each other a greeting through Gloo: that shows that Gloo works on all of
 * them, and makes sure that the watch of each peer is in place before any rank can leave again.
 */
#include "config.h"

#include "mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handover.h"
#include "links.h"
#include "watch.h"

/* What a rank greets with. */
typedef struct greeting {
    uint64_t rank; /* and 1 */
} greeting;

/* A mesh in the making. */
struct mesh {
    muster_comm *comm;
    links *links;
    greeting *heard;
    greeting mine;
};

static muster_status mesh_exchange(struct mesh *mesh)
{
    uint8_t card[CARD_SIZE];
    const muster_blob *all;
    card_write(links_card(mesh->links), card);
    muster_status status =
        gloo_host->exchange(mesh->comm->owner, (muster_blob){card, sizeof(card)}, &all);
    return status == MUSTER_OK ? links_take_cards(mesh->links, all) : status;
}

static bool is_greeted(const struct mesh *mesh, int peer)
{
    return mesh->heard[peer].rank == (uint64_t)peer + 1;
}

/* The greetings that have not come, or that are not what they should be. */
static muster_status greeting_error(const struct mesh *mesh, deadline end, const char *why)
{
    char missing[160] = "";
    size_t used = 0;
    int count = 0;
    for (int peer = 0; peer < mesh->comm->size; peer++) {
        if (peer == mesh->comm->rank || is_greeted(mesh, peer))
            continue;
        if (used < sizeof(missing))
            used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%d",
                                     count == 0 ? "" : ", ", peer);
        count++;
    }
    if (count == 0)
        return gloo_host->error(MUSTER_ERR_PEER_LOST,
                                "all ranks have greeted, but not all could be greeted: %s", why);
    return gloo_host->error(deadline_left_ms(end) == 0 ? MUSTER_ERR_TIMEOUT : MUSTER_ERR_PEER_LOST,
                            "connected, but no right greeting came from rank%s %s: %s",
                            count == 1 ? "" : "s", missing, why);
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
        right = peer == comm->rank || is_greeted(mesh, peer);
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
    return greeting_error(mesh, end, got == GLOO_C_OK ? "another rank has answered" : why.text);
}

muster_status mesh_connect(muster_comm *comm, const muster_open_args *args, deadline end,
                           const descriptors *before)
{
    struct mesh mesh = {.comm = comm, .mine = {(uint64_t)comm->rank + 1}};
    mesh.heard = calloc((size_t)comm->size, sizeof(*mesh.heard));
    if (mesh.heard == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for the greetings of %d ranks",
                                comm->size);
    muster_status status = links_new(comm, args->address, &mesh.links);
    descriptors_close_on_exec(before);
    if (status == MUSTER_OK)
        status = mesh_exchange(&mesh);
    if (status == MUSTER_OK)
        status = links_connect(mesh.links, args->timeout_ms, end);
    if (status == MUSTER_OK)
        status = handover(comm, links_fds(mesh.links), args->address, end);
    if (mesh.links != NULL)
        links_free(mesh.links);
    if (status == MUSTER_OK)
        status = watch_prepare(comm);
    if (status == MUSTER_OK)
        status = mesh_greet(&mesh, end);
    free(mesh.heard);
    return status;
}
