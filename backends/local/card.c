/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cards: written as they lie in memory, since whoever can use one runs on the same kernel.
 */
#include "config.h"

#include "card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/namespace.h"
#include "comm.h"

/* The number goes up when the form of cards or of segments changes. */
static const char magic[8] = "mlocal2";

muster_status card_fill(card *mine, int rank, int size)
{
    memset(mine, 0, sizeof(*mine)); /* gaps too: it goes out as bytes */
    memcpy(mine->magic, magic, sizeof(magic));
    mine->rank = rank;
    mine->size = size;
    mine->process = process_self();
    mine->pid_space = namespace_number("pid");
    mine->net_space = namespace_number("net");
    mine->user = (uint32_t)geteuid();
    mine->segment = -1;
    mine->cpus = process_cpus_self();
    ssize_t got = getrandom(mine->nonce, sizeof(mine->nonce), 0);
    if (got == sizeof(mine->nonce))
        return MUSTER_OK;
    return local_host->error(MUSTER_ERR_SYSTEM, "can't get random bytes: %s",
                             got < 0 ? strerror(errno) : "too few of them");
}

static muster_status card_read(muster_blob blob, int rank, int size, card *to)
{
    if (blob.size < sizeof(magic) || memcmp(blob.data, magic, sizeof(magic)) != 0)
        return local_host->error(MUSTER_ERR_MISMATCH,
                                 "rank %d shares memory in another way than rank 0: give all ranks "
                                 "the same version of muster",
                                 rank);
    if (blob.size != sizeof(*to))
        return local_host->error(MUSTER_ERR_PROTOCOL,
                                 "rank %d tells of itself in %zu bytes and not in %zu", rank,
                                 blob.size, sizeof(*to));
    memcpy(to, blob.data, sizeof(*to));
    if (to->rank == rank && to->size == size && to->ear[sizeof(to->ear) - 1] == '\0')
        return MUSTER_OK;
    return local_host->error(MUSTER_ERR_PROTOCOL,
                             "at the place of rank %d of %d stands rank %d of %d", rank, size,
                             (int)to->rank, (int)to->size);
}

static muster_status card_compare(const card *first, const card *other)
{
    const char *what = NULL;
    if (first->pid_space != other->pid_space || first->pid_space == 0)
        what = "pid namespaces";
    else if (first->net_space != other->net_space || first->net_space == 0)
        what = "network namespaces";
    if (what != NULL)
        return local_host->error(MUSTER_ERR_UNAVAILABLE,
                                 "rank 0 (pid %lld) and rank %d (pid %lld) can't share memory: "
                                 "they run in different %s, or can't read them from /proc/self/ns; "
                                 "run them in one container, or set gloo.shared_memory=off",
                                 (long long)first->process.pid, (int)other->rank,
                                 (long long)other->process.pid, what);
    if (first->user != other->user)
        return local_host->error(MUSTER_ERR_UNAVAILABLE,
                                 "rank 0 runs as user %lu and rank %d as user %lu, so that they "
                                 "can't share memory; run them as one user, or set "
                                 "gloo.shared_memory=off",
                                 (unsigned long)first->user, (int)other->rank,
                                 (unsigned long)other->user);
    return MUSTER_OK;
}

muster_status card_read_all(const muster_blob *blobs, int size, card **all)
{
    card *cards = calloc((size_t)size, sizeof(*cards));
    if (cards == NULL)
        return local_host->error(MUSTER_ERR_NO_MEMORY, "no memory for the cards of %d ranks", size);
    muster_status status = MUSTER_OK;
    for (int r = 0; r < size && status == MUSTER_OK; r++)
        status = card_read(blobs[r], r, size, &cards[r]);
    for (int r = 1; r < size && status == MUSTER_OK; r++)
        status = card_compare(&cards[0], &cards[r]);
    if (status == MUSTER_OK)
        *all = cards;
    else
        free(cards);
    return status;
}

int card_ranks_on_cpus(const card *all, int size, int rank)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        count += process_cpus_meet(&all[r].cpus, &all[rank].cpus);
    return count;
}
