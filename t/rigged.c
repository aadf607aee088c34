/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rigged backend itself: what tests of groups stand on must move messages, and fail, as it
 * says.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend_plugin.h"
#include "base/deadline.h"
#include "backend/host.h"
#include "tap.h"

enum { RANKS = 3, PATIENCE_MS = 20000 };

static const muster_backend *rigged;

/* One rank: its side of a communicator, and what it saw. */
typedef struct rank {
    muster_comm_owner owner;
    int number;
    const char *fail;
    muster_comm *comm;
    muster_status status;
    char sentence[256];
    atomic_bool cancelled; /* what host->cancelled says */
    atomic_int broken;     /* times */
    int broken_by;
} rank;

static rank ranks[RANKS];
static char given[RANKS][64];
static muster_blob gathered[RANKS];
static pthread_barrier_t meeting;

static const char *rank_option(const muster_comm_owner *owner, const char *name)
{
    if (strcmp(name, "rigged.fail") == 0)
        return ((const rank *)owner)->fail;
    return "0";
}

static muster_status rank_exchange(muster_comm_owner *owner, muster_blob mine,
                                   const muster_blob **all)
{
    int number = ((rank *)owner)->number;
    memcpy(given[number], mine.data, mine.size); /* what is mine may be gone before others look */
    gathered[number] = (muster_blob){given[number], mine.size};
    pthread_barrier_wait(&meeting);
    *all = gathered;
    return MUSTER_OK;
}

static void rank_broken(muster_comm_owner *owner, int by, muster_status status,
                        const char *sentence)
{
    (void)status, (void)sentence;
    rank *self = (rank *)owner;
    self->broken_by = by;
    atomic_fetch_add(&self->broken, 1);
}

static bool rank_cancelled(const muster_comm_owner *owner)
{
    return atomic_load(&((const rank *)owner)->cancelled);
}

static void *rank_open(void *argument)
{
    rank *self = argument;
    const muster_open_args args = {.size = sizeof(args),
                                   .rank = self->number,
                                   .num_ranks = RANKS,
                                   .group_name = "g",
                                   .timeout_ms = PATIENCE_MS};
    self->status = rigged->open(&self->owner, &args, &self->comm);
    snprintf(self->sentence, sizeof(self->sentence), "%s", muster_last_error());
    return NULL;
}

/* Opens all ranks with the switch, on a thread each, since open is collective. */
static void open_all(const char *fail)
{
    pthread_t threads[RANKS];
    for (int i = 0; i < RANKS; i++) {
        memset(&ranks[i], 0, sizeof(ranks[i]));
        ranks[i].owner = (muster_comm_owner){.option = rank_option,
                                             .exchange = rank_exchange,
                                             .cancelled = rank_cancelled,
                                             .broken = rank_broken};
        ranks[i].number = i;
        ranks[i].fail = fail;
        ranks[i].broken_by = -2;
        pthread_create(&threads[i], NULL, rank_open, &ranks[i]);
    }
    for (int i = 0; i < RANKS; i++)
        pthread_join(threads[i], NULL);
}

static void close_all(void)
{
    for (int i = 0; i < RANKS; i++)
        if (ranks[i].comm != NULL)
            rigged->close(ranks[i].comm);
}

static muster_status send_bytes(int from, int to, uint64_t slot, const char *text)
{
    muster_request *request = NULL;
    muster_status status =
        rigged->post_send(ranks[from].comm, to, slot, text, strlen(text) + 1, &request);
    return status != MUSTER_OK ? status : rigged->wait(ranks[from].comm, request, PATIENCE_MS);
}

static muster_status receive_bytes(int at, int from, uint64_t slot, char *text, size_t size,
                                   int64_t timeout_ms)
{
    muster_request *request = NULL;
    muster_status status = rigged->post_recv(ranks[at].comm, from, slot, text, size, &request);
    return status != MUSTER_OK ? status : rigged->wait(ranks[at].comm, request, timeout_ms);
}

static bool wait_for_broken(int i)
{
    deadline end = deadline_in(PATIENCE_MS);
    while (atomic_load(&ranks[i].broken) == 0 && deadline_left_ms(end) > 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return atomic_load(&ranks[i].broken) == 1;
}

static void messages(void)
{
    char a[8] = "", b[8] = "", c[8] = "";
    muster_request *first = NULL, *second = NULL;
    open_all(NULL);
    ok(ranks[0].status == MUSTER_OK && ranks[1].status == MUSTER_OK && ranks[2].status == MUSTER_OK,
       "three ranks open");
    has_str(rigged->describe(ranks[0].comm), "of one process", "and can be described");
    send_bytes(0, 1, 5, "one");
    send_bytes(0, 1, 5, "two");
    send_bytes(0, 1, 6, "six");
    send_bytes(2, 1, 5, "2.5");
    is_int(receive_bytes(1, 0, 6, a, 4, PATIENCE_MS), MUSTER_OK, "a message is received");
    is_str(a, "six", "that of its slot");
    receive_bytes(1, 2, 5, a, 4, PATIENCE_MS);
    receive_bytes(1, 0, 5, b, 4, PATIENCE_MS);
    receive_bytes(1, 0, 5, c, 4, PATIENCE_MS);
    is_str(a, "2.5", "and of its sender");
    ok(strcmp(b, "one") == 0 && strcmp(c, "two") == 0, "in the order sent");
    rigged->post_recv(ranks[2].comm, 0, 1, a, 4, &first);
    rigged->post_recv(ranks[2].comm, 0, 1, b, 4, &second);
    send_bytes(0, 2, 1, "1st");
    send_bytes(0, 2, 1, "2nd");
    is_int(rigged->wait(ranks[2].comm, second, PATIENCE_MS), MUSTER_OK, "receives may wait");
    rigged->wait(ranks[2].comm, first, PATIENCE_MS);
    ok(strcmp(a, "1st") == 0 && strcmp(b, "2nd") == 0, "in the order posted");
    send_bytes(0, 1, 9, "longer");
    is_int(receive_bytes(1, 0, 9, a, 4, PATIENCE_MS), MUSTER_ERR_PROTOCOL,
           "another size is refused");
    close_all();
}

static void departures(void)
{
    char a[8] = "";
    muster_request *request = NULL;
    open_all(NULL);
    send_bytes(0, 1, 1, "bye");
    rigged->close(ranks[0].comm);
    ranks[0].comm = NULL;
    is_int(receive_bytes(1, 0, 1, a, 4, PATIENCE_MS), MUSTER_OK,
           "what was sent before leaving arrives");
    is_int(send_bytes(1, 0, 1, "hello"), MUSTER_ERR_PEER_LOST, "nothing goes to who has left");
    is_int(receive_bytes(1, 0, 1, a, 4, PATIENCE_MS), MUSTER_ERR_PEER_LOST, "nor comes from there");
    is_int(send_bytes(2, 1, 1, "hey"), MUSTER_OK, "the others go on");
    is_int(receive_bytes(2, 1, 1, a, 4, 20), MUSTER_ERR_TIMEOUT, "a wait ends in time");
    is_int(rigged->post_recv(ranks[2].comm, 1, 1, a, 4, &request), MUSTER_ERR_PEER_LOST,
           "and breaks the communicator");
    ok(atomic_load(&ranks[1].broken) == 0, "leaving breaks nobody");
    close_all();
}

static void aborts(void)
{
    char a[8];
    muster_request *request = NULL;
    open_all(NULL);
    rigged->post_recv(ranks[1].comm, 0, 1, a, 4, &request);
    rigged->abort(ranks[1].comm);
    rigged->abort(ranks[1].comm);
    is_int(rigged->wait(ranks[1].comm, request, PATIENCE_MS), MUSTER_ERR_FAILED,
           "an abort ends waits");
    is_int(send_bytes(1, 0, 1, "a"), MUSTER_ERR_FAILED, "and all that follows");
    ok(wait_for_broken(0) && wait_for_broken(2), "the others are told once");
    ok(ranks[0].broken_by == 1 && ranks[2].broken_by == 1, "and by whom");
    is_int(atomic_load(&ranks[1].broken), 0, "the one who did is not");
    is_int(send_bytes(0, 2, 1, "a"), MUSTER_ERR_FAILED, "they can't go on");
    close_all();
}

/* One rank that fails before the exchange would leave the others waiting, so it is opened alone. */
static void open_early(void)
{
    muster_comm *comm = NULL;
    const muster_open_args args = {.size = sizeof(args), .rank = 1, .num_ranks = RANKS};
    ranks[1].fail = "open:1";
    is_int(rigged->open(&ranks[1].owner, &args, &comm), MUSTER_ERR_SYSTEM,
           "open fails before its exchange");
    is_str(muster_last_error(), "rank 1 is rigged to fail in open", "and says so");
    ok(comm == NULL, "and hands nothing over");
}

static void open_late(void)
{
    open_all("open_late:1");
    is_int(ranks[1].status, MUSTER_ERR_SYSTEM, "open fails after its exchange, on one rank");
    ok(ranks[0].status == MUSTER_OK && ranks[2].status == MUSTER_OK, "and on no other");
    is_int(send_bytes(0, 1, 1, "a"), MUSTER_ERR_PEER_LOST, "which is then gone");
    close_all();
}

static void failures(void)
{
    char a[8];
    open_all("send:0@2");
    is_int(send_bytes(0, 1, 1, "a"), MUSTER_OK, "the first send works");
    is_int(send_bytes(0, 1, 1, "a"), MUSTER_ERR_SYSTEM, "the second fails");
    is_int(send_bytes(1, 0, 1, "a"), MUSTER_OK, "on that rank alone");
    close_all();
    open_all("recv");
    is_int(receive_bytes(2, 1, 1, a, 2, PATIENCE_MS), MUSTER_ERR_SYSTEM, "a receive fails");
    close_all();
    open_all("wait:1");
    send_bytes(0, 1, 1, "a");
    is_int(receive_bytes(1, 0, 1, a, 2, PATIENCE_MS), MUSTER_ERR_PEER_LOST, "a wait fails");
    is_int(receive_bytes(1, 0, 1, a, 2, PATIENCE_MS), MUSTER_ERR_PEER_LOST, "and stays so");
    close_all();
    open_all("hang:1");
    send_bytes(0, 1, 1, "a");
    is_int(receive_bytes(1, 0, 1, a, 2, 20), MUSTER_ERR_TIMEOUT, "a wait hangs");
    close_all();
    open_all("break:0");
    send_bytes(0, 1, 1, "a");
    ok(wait_for_broken(0) && ranks[0].broken_by == -1, "the core is told of a break by nobody");
    close_all();
}

int main(void)
{
    unsetenv("MUSTER_RIGGED_FAIL");
    plan(36);
    backend_entry *entry = NULL;
    if (backend_plugin_open("rigged", PLUGINS "/.libs/muster_rigged.so", &entry) != MUSTER_OK ||
        !entry->available)
        bail_out("the rigged plugin can't be used: %s", muster_last_error());
    rigged = entry->ops;
    pthread_barrier_init(&meeting, NULL, RANKS);
    messages();
    departures();
    aborts();
    open_early();
    open_late();
    failures();
    pthread_barrier_destroy(&meeting);
    backend_plugin_free(entry);
    return done();
}
