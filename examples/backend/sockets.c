/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table that muster finds, and what the backend says of itself.
 */
#include "sockets.h"

#include <stdio.h>
#include <time.h>

const muster_host *sockets_host;

uint64_t sockets_time(int64_t in_ms)
{
    struct timespec now;
    const int64_t ages = INT64_C(1) << 40; /* no time-out overflows */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec +
           (uint64_t)(in_ms < ages ? in_ms : ages) * 1000000;
}

static muster_status sockets_probe(const muster_host *host, muster_backend_info *info)
{
    sockets_host = host;
    snprintf(info->version, sizeof(info->version), "1.0");
    snprintf(info->details, sizeof(info->details), "sockets between processes, an example");
    return MUSTER_OK;
}

static const char *sockets_describe(muster_comm *comm)
{
    (void)comm;
    return "a socket to each rank of this host";
}

static bool sockets_suspects(muster_comm *comm, int number)
{
    const peer *peer = &comm->peers[number];
    pthread_mutex_lock(&comm->lock);
    bool suspected = peer->lost && !peer->left && !peer->failed;
    pthread_mutex_unlock(&comm->lock);
    return suspected;
}

static bool sockets_left(muster_comm *comm, int number)
{
    pthread_mutex_lock(&comm->lock);
    bool left = comm->peers[number].left;
    pthread_mutex_unlock(&comm->lock);
    return left;
}

static const muster_option sockets_options[] = {
    {.name = "sockets.piece",
     .type = MUSTER_OPTION_INTEGER,
     .default_value = "65536",
     .help = "the most bytes of a message in one packet, up to 65536"},
    {.name = NULL},
};

extern MUSTER_API const muster_backend muster_backend_1;

const muster_backend muster_backend_1 = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_backend),
    .name = "sockets",
    .priority = -1, /* "auto" takes what muster brings */
    .options = sockets_options,
    .probe = sockets_probe,
    .open = sockets_open,
    .post_send = sockets_post_send,
    .post_recv = sockets_post_recv,
    .wait = sockets_wait,
    .abort = sockets_abort,
    .close = sockets_close,
    .forget = sockets_free,
    .describe = sockets_describe,
    .suspects = sockets_suspects,
    .left = sockets_left,
};
