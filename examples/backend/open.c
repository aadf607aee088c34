/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From nothing to a connection with every rank: each listens under a name that it has drawn, all
 * hear of the names through the core, and the higher rank of two calls the lower one.
 */
#include "sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SLICE_MS = 100, HELLO_MS = 1000, NAME_BYTES = 16 };

/* An abstract name, without a file; others of the host see it, so it is no secret. */
typedef struct sockaddr_un name;

typedef struct opening {
    muster_comm_owner *owner;
    const muster_open_args *args;
    muster_comm *comm;
    uint64_t end_ns;
    int listener;
} opening;

static muster_status refused(const char *what)
{
    return sockets_host->error(MUSTER_ERR_SYSTEM, "%s: %s", what, strerror(errno));
}

static muster_status begin_to_listen(opening *me, name *drawn)
{
    *drawn = (name){.sun_family = AF_UNIX}; /* an abstract name begins with a zero */
    if (getrandom(drawn->sun_path + 1, NAME_BYTES, 0) != NAME_BYTES)
        return refused("no random bytes");
    me->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (me->listener < 0 || bind(me->listener, (struct sockaddr *)drawn, sizeof(*drawn)) != 0 ||
        listen(me->listener, me->args->num_ranks) != 0)
        return refused("no socket to listen at");
    return MUSTER_OK;
}

/* Returns false where the time is over, or another rank has failed. */
static bool wait_readable(const opening *me, int fd, uint64_t end_ns)
{
    struct pollfd one = {fd, POLLIN, 0};
    while (poll(&one, 1, SLICE_MS) <= 0)
        if (sockets_time(0) >= end_ns || sockets_host->cancelled(me->owner))
            return false;
    return true;
}

/* A listener that has room takes a call at once; who calls says which rank it is. */
static muster_status call(opening *me, int number, muster_blob theirs)
{
    uint32_t rank = (uint32_t)me->args->rank;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    me->comm->peers[number].fd = fd;
    if (fd < 0)
        return refused("no socket");
    if (connect(fd, theirs.data, (socklen_t)theirs.size) != 0 ||
        send(fd, &rank, sizeof(rank), MSG_NOSIGNAL) != sizeof(rank))
        return sockets_host->error(MUSTER_ERR_PEER_LOST, "no connection to rank %d: %s", number,
                                   strerror(errno));
    return MUSTER_OK;
}

/* Which rank has called; NOBODY for who is of another user, or silent. */
static int who_called(opening *me, int fd)
{
    uint32_t rank = 0;
    struct ucred caller = {.uid = (uid_t)-1};
    socklen_t size = sizeof(caller);
    uint64_t patience_ns = sockets_time(HELLO_MS);
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &caller, &size);
    if (caller.uid != geteuid() ||
        !wait_readable(me, fd, patience_ns < me->end_ns ? patience_ns : me->end_ns) ||
        recv(fd, &rank, sizeof(rank), 0) != sizeof(rank) || rank >= (uint32_t)me->args->num_ranks)
        return NOBODY;
    return me->comm->peers[rank].fd < 0 ? (int)rank : NOBODY;
}

static muster_status answer_all(opening *me)
{
    int missing = me->args->num_ranks - 1 - me->args->rank;
    while (missing > 0) {
        if (!wait_readable(me, me->listener, me->end_ns))
            return sockets_host->error(MUSTER_ERR_TIMEOUT, "%d ranks have not called", missing);
        int fd = accept4(me->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        int caller = fd >= 0 ? who_called(me, fd) : NOBODY;
        if (caller > me->args->rank) {
            me->comm->peers[caller].fd = fd;
            missing--;
        } else if (fd >= 0) {
            close(fd);
        }
    }
    return MUSTER_OK;
}

static muster_status connect_all(opening *me)
{
    name drawn;
    const muster_blob *names;
    muster_status status = begin_to_listen(me, &drawn);
    if (status == MUSTER_OK)
        status = sockets_host->exchange(me->owner, (muster_blob){&drawn, sizeof(drawn)}, &names);
    for (int r = 0; r < me->args->rank && status == MUSTER_OK; r++)
        status = call(me, r, names[r]);
    return status == MUSTER_OK ? answer_all(me) : status;
}

static muster_status begin_thread(muster_comm *comm)
{
    comm->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (comm->bell < 0)
        return refused("no eventfd");
    errno = pthread_create(&comm->thread, NULL, thread_run, comm); /* signals are blocked here */
    return errno == 0 ? MUSTER_OK : refused("no thread");
}

static muster_status take_options(muster_comm *comm)
{
    long piece = atol(sockets_host->option(comm->owner, "sockets.piece"));
    comm->piece = (size_t)piece;
    if (piece >= 1 && piece <= PIECE_MOST)
        return MUSTER_OK;
    return sockets_host->error(MUSTER_ERR_ARGUMENT, "sockets.piece is %ld, not 1 to %d", piece,
                               PIECE_MOST);
}

static muster_comm *make_comm(muster_comm_owner *owner, const muster_open_args *args)
{
    size_t num_ranks = (size_t)args->num_ranks;
    muster_comm *comm = calloc(1, sizeof(*comm) + num_ranks * sizeof(peer));
    struct pollfd *polled = calloc(num_ranks + 1, sizeof(*polled));
    pthread_condattr_t monotonic;
    if (comm == NULL || polled == NULL) {
        free(comm);
        free(polled);
        return NULL;
    }
    comm->owner = owner;
    comm->rank = args->rank;
    comm->num_ranks = args->num_ranks;
    comm->bell = -1;
    comm->polled = polled;
    for (size_t r = 0; r < num_ranks; r++)
        comm->peers[r].fd = -1;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&comm->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return comm;
}

muster_status sockets_open(muster_comm_owner *owner, const muster_open_args *args,
                           muster_comm **comm)
{
    if (!args->one_host)
        return sockets_host->error(MUSTER_ERR_UNSUPPORTED,
                                   "the ranks are on several hosts; take gloo for those");
    opening me = {owner, args, make_comm(owner, args), sockets_time(args->timeout_ms), -1};
    if (me.comm == NULL)
        return sockets_host->error(MUSTER_ERR_NO_MEMORY, "no memory for %d ranks", args->num_ranks);
    muster_status status = take_options(me.comm);
    if (status == MUSTER_OK)
        status = connect_all(&me);
    if (me.listener >= 0)
        close(me.listener);
    if (status == MUSTER_OK)
        status = begin_thread(me.comm);
    if (status == MUSTER_OK)
        *comm = me.comm;
    else
        sockets_free(me.comm);
    return status;
}

/* Also in a child of fork, where the locks may be held for ever. */
void sockets_free(muster_comm *comm)
{
    for (int r = 0; r < comm->num_ranks; r++)
        if (comm->peers[r].fd >= 0)
            close(comm->peers[r].fd);
    if (comm->bell >= 0)
        close(comm->bell);
    while (comm->first != NULL)
        message_remove(comm, comm->first);
    free(comm->polled);
    free(comm);
}
