/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making, finding and laying out the memory that the ranks of a group share.
 */
#include "config.h"

#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shared_memory.h"
#include "comm.h"
#include "hall.h"

/* All rings together take about so much, within the bounds of one. */
enum { RINGS_BYTES = 4 << 20, RING_LEAST = 2048, RING_FEWER = 4096, RING_MOST = 128 << 10 };
enum { PAGE = 4096 };

static size_t up_to(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t choose_ring(int size)
{
    size_t pairs = (size_t)size * (size_t)size, bytes = RING_MOST;
    size_t least = size > 64 ? RING_LEAST : RING_FEWER;
    while (bytes > least && bytes * pairs > RINGS_BYTES)
        bytes /= 2;
    return bytes;
}

static size_t cells_from(void)
{
    return up_to(sizeof(segment_head), PAGE);
}

static size_t rings_from(int size)
{
    return cells_from() + up_to((size_t)size * sizeof(segment_cell), PAGE);
}

static size_t hall_from(int size, size_t ring_bytes)
{
    size_t pairs = (size_t)size * (size_t)(size - 1);
    return rings_from(size) + up_to(pairs * (sizeof(segment_ring) + ring_bytes), PAGE);
}

segment segment_measure(int size)
{
    segment it = {.size = size, .ring_bytes = choose_ring(size)};
    it.bytes = hall_from(size, it.ring_bytes) + up_to(hall_bytes(size), PAGE);
    return it;
}

segment_head *segment_at_head(const segment *of)
{
    return (segment_head *)(void *)of->base;
}

segment_cell *segment_at_cell(const segment *of, int rank)
{
    return (segment_cell *)(void *)(of->base + cells_from()) + rank;
}

segment_ring *segment_at_ring(const segment *of, int from, int to)
{
    size_t index = (size_t)from * (size_t)(of->size - 1) + (size_t)(to > from ? to - 1 : to);
    size_t each = sizeof(segment_ring) + of->ring_bytes;
    return (segment_ring *)(void *)(of->base + rings_from(of->size) + index * each);
}

void *segment_at_hall(const segment *of)
{
    return of->base + hall_from(of->size, of->ring_bytes);
}

/* Others can't make it smaller then, which would kill whoever touches what is gone. */
static void seal(int fd)
{
#ifdef F_ADD_SEALS
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
#else
    (void)fd;
#endif
}

static int reserve(int fd, size_t bytes)
{
    int failed;
    do
        failed = posix_fallocate(fd, 0, (off_t)bytes);
    while (failed == EINTR);
    return failed;
}

static bool map(segment *of, int fd)
{
    void *base = mmap(NULL, of->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return false;
    of->base = base;
    return true;
}

/* Of what did not work for the reason error. */
static muster_status status_of(int error)
{
    if (error == ENOMEM || error == EAGAIN)
        return MUSTER_ERR_NO_MEMORY;
    return error == EMFILE || error == ENFILE ? MUSTER_ERR_SYSTEM : MUSTER_ERR_UNAVAILABLE;
}

muster_status segment_make(segment *of, int *fd)
{
    int made = shared_memory_make();
    if (made < 0)
        return local_host->error(status_of(errno),
                                 "can't make memory to share: %s; memfd_create, or /dev/shm, must "
                                 "be there and allowed",
                                 strerror(errno));
    int failed = reserve(made, of->bytes);
    if (failed != 0) {
        close(made);
        return local_host->error(MUSTER_ERR_NO_MEMORY,
                                 "no room for %zu bytes of memory that %d ranks share: %s; look at "
                                 "the memory limit of the container or service, ulimit -f and df "
                                 "/dev/shm",
                                 of->bytes, of->size, strerror(failed));
    }
    seal(made);
    if (map(of, made)) {
        *fd = made;
        return MUSTER_OK;
    }
    failed = errno;
    close(made);
    return local_host->error(MUSTER_ERR_NO_MEMORY,
                             "can't map %zu bytes of memory that %d ranks share: %s; look at "
                             "ulimit -v",
                             of->bytes, of->size, strerror(failed));
}

static muster_status find_error(const card *first, int rank, const char *doing, const char *why)
{
    return local_host->error(MUSTER_ERR_UNAVAILABLE,
                             "rank %d can't %s the memory that rank 0 (pid %lld) shares: %s; all "
                             "ranks must see each other's files in /proc, as processes of one user "
                             "do; with the option gloo.shared_memory=off they go by sockets",
                             rank, doing, (long long)first->process.pid, why);
}

/* What has to do with limits of this process, and not with the other's files. */
static muster_status limit_error(const segment *of, int rank, const char *doing, int error)
{
    return local_host->error(status_of(error),
                             "rank %d can't %s %zu bytes of memory that %d ranks share: %s; look "
                             "at %s and the memory limit of the container or service",
                             rank, doing, of->bytes, of->size, strerror(error),
                             status_of(error) == MUSTER_ERR_SYSTEM ? "ulimit -n" : "ulimit -v");
}

muster_status segment_find(segment *of, const card *first, int rank)
{
    char path[64];
    struct stat about;
    if (first->bytes != of->bytes)
        return local_host->error(MUSTER_ERR_MISMATCH,
                                 "rank 0 shares %llu bytes and rank %d expects %zu: give all ranks "
                                 "the same version of muster",
                                 (unsigned long long)first->bytes, rank, of->bytes);
    snprintf(path, sizeof(path), "/proc/%lld/fd/%d", (long long)first->process.pid,
             (int)first->segment);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) /* that there is a /proc is known already */
        return local_host->error(MUSTER_ERR_PEER_LOST,
                                 "another rank has failed: rank 0 (pid %lld) does not share its "
                                 "memory any more",
                                 (long long)first->process.pid);
    if (fd < 0 && status_of(errno) != MUSTER_ERR_UNAVAILABLE)
        return limit_error(of, rank, "open", errno);
    if (fd < 0)
        return find_error(first, rank, "open", strerror(errno));
    bool whole =
        fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t)about.st_size == first->bytes;
    bool mapped = whole && map(of, fd);
    int failed = errno;
    close(fd);
    if (whole && !mapped && status_of(failed) != MUSTER_ERR_UNAVAILABLE)
        return limit_error(of, rank, "map", failed);
    if (!mapped)
        return find_error(first, rank, "map", whole ? strerror(failed) : "it is another file");
    if (memcmp(segment_at_head(of)->nonce, first->nonce, CARD_NONCE) == 0)
        return MUSTER_OK;
    segment_unmap(of);
    return find_error(first, rank, "map", "it is of another group");
}

void segment_unmap(segment *of)
{
    if (of->base != NULL)
        munmap(of->base, of->bytes);
    of->base = NULL;
}
