/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how the ranks of a new
 * communicator meet, and what they check. A unique id leaves a socket and a thread behind that wait
 * for all ranks, as NCCL's does.
 */
#include "config.h"

#include "nccl_meet.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the root of a unique id ---- */

/* Takes connections until as many ranks were here as the first one said there are. */
static void *meet_serve(void *argument)
{
    int at = *(int *)argument, left = 1, size = 0;
    free(argument);
    for (bool first = true; left > 0; left--, first = false) {
        struct pollfd waiting = {.fd = at, .events = POLLIN};
        poll(&waiting, 1, -1);
        int from = accept4(at, NULL, NULL, SOCK_CLOEXEC);
        if (recv(from, &size, sizeof(size), MSG_WAITALL) == (ssize_t)sizeof(size) && first)
            left = size;
        close(from);
    }
    close(at);
    return NULL;
}

static bool meet_start_root(const char *name)
{
    pthread_t thread;
    sigset_t all, before;
    int *at = malloc(sizeof(*at));
    if (at == NULL)
        return false;
    *at = wire_listen(name);
    if (*at < 0) {
        free(at);
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, meet_serve, at) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

EXPORT(nccl_result, ncclGetUniqueId, nccl_unique_id *id)
{
    uint64_t numbers[2];
    char name[COMM_KEY];
    int fault = fault_enter("ncclGetUniqueId");
    if (fault != FAULT_NONE)
        return (nccl_result)fault;
    if (id == NULL || getrandom(numbers, sizeof(numbers), 0) != sizeof(numbers))
        return NCCL_INVALID_ARGUMENT;
    memset(id, 0, sizeof(*id));
    snprintf(id->internal, sizeof(id->internal), "muster-standin-%016llx%016llx",
             (unsigned long long)numbers[0], (unsigned long long)numbers[1]);
    snprintf(name, sizeof(name), "%.48s/root", id->internal);
    return meet_start_root(name) ? NCCL_SUCCESS
                                 : comm_fail(NCCL_SYSTEM_ERROR, "Bootstrap : no socket");
}

nccl_result meet_root(nccl_comm *comm, const nccl_unique_id *id)
{
    char name[COMM_KEY];
    snprintf(comm->key, sizeof(comm->key), "%.48s", id->internal);
    snprintf(name, sizeof(name), "%.48s/root", id->internal);
    int to = wire_connect(name, &comm->ended);
    if (to < 0)
        return NCCL_INTERNAL_ERROR;
    bool sent =
        send(to, &comm->size, sizeof(comm->size), MSG_NOSIGNAL) == (ssize_t)sizeof(comm->size);
    close(to);
    return sent ? NCCL_SUCCESS : comm_fail(NCCL_REMOTE_ERROR, "Bootstrap : the root has gone");
}

/* ---- what ranks tell each other ---- */

typedef struct meet_card {
    int version;
    int size;
    char host[64];
    char bus_id[32];
    cu_uuid uuid;
} meet_card;

static void meet_fill_card(const nccl_comm *comm, meet_card *card)
{
    const char *host = getenv("NCCL_HOSTID");
    const standin_device *device = driver_find()->device(comm->device);
    memset(card, 0, sizeof(*card));
    card->version = nccl_version;
    card->size = comm->size;
    card->uuid = device->uuid;
    snprintf(card->bus_id, sizeof(card->bus_id), "%s", device->bus_id);
    if (host != NULL)
        snprintf(card->host, sizeof(card->host), "%s", host);
    else
        gethostname(card->host, sizeof(card->host) - 1);
}

/* Before 2.23 nobody notices, and anything may come of it: here it hangs. */
static nccl_result meet_check_versions(nccl_comm *comm, const meet_card *cards)
{
    for (int i = 0; i < comm->size; i++) {
        if (cards[i].version == nccl_version)
            continue;
        if (nccl_version < 22300 || cards[i].version < 22300)
            comm_wait_ended(comm);
        return comm_fail(NCCL_INVALID_USAGE,
                         "Mismatched NCCL version detected : rank %d version %d rank %d version %d",
                         i, cards[i].version, comm->rank, nccl_version);
    }
    return NCCL_SUCCESS;
}

static bool meet_same_device(const meet_card *a, const meet_card *b)
{
    const char *allowed = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    if (strcmp(a->host, b->host) != 0)
        return false;
    if (nccl_version >= 23003 && allowed != NULL && strcmp(allowed, "1") == 0)
        return false;
    return nccl_version >= 23007 ? memcmp(&a->uuid, &b->uuid, sizeof(a->uuid)) == 0
                                 : strcmp(a->bus_id, b->bus_id) == 0;
}

static nccl_result meet_check_devices(const nccl_comm *comm, const meet_card *cards)
{
    for (int i = 0; i < comm->size; i++)
        if (i != comm->rank && meet_same_device(&cards[i], &cards[comm->rank]))
            return comm_fail(NCCL_INVALID_USAGE,
                             "Duplicate GPU detected : rank %d and rank %d both on CUDA device %s",
                             comm->rank, i, cards[i].bus_id);
    return NCCL_SUCCESS;
}

nccl_wire meet_wire(const nccl_comm *comm, int *sockets, bool patient)
{
    return (nccl_wire){comm->rank, comm->size, sockets, comm->watched, patient};
}

nccl_result meet_all(nccl_comm *comm)
{
    char key[COMM_KEY + 8];
    meet_card mine, *cards = calloc((size_t)comm->size, sizeof(*cards));
    nccl_wire control = meet_wire(comm, comm->control, false);
    nccl_wire data = meet_wire(comm, comm->data, false);
    if (cards == NULL)
        return NCCL_SYSTEM_ERROR;
    meet_fill_card(comm, &mine);
    snprintf(key, sizeof(key), "%s/c", comm->key);
    nccl_result result = wire_open(&control, key);
    if (result == NCCL_SUCCESS)
        result = wire_all_gather(&control, &mine, sizeof(mine), cards);
    if (result == NCCL_SUCCESS)
        result = meet_check_versions(comm, cards);
    if (result == NCCL_SUCCESS)
        result = meet_check_devices(comm, cards);
    snprintf(key, sizeof(key), "%s/d", comm->key);
    if (result == NCCL_SUCCESS)
        result = wire_open(&data, key);
    if (result == NCCL_REMOTE_ERROR)
        comm_fail(result, "Bootstrap : a rank has gone");
    free(cards);
    return result;
}
