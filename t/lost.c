/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which ranks are lost where not all can be looked at: ranks are threads, and the backend says what
 * the test wants it to.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "group/failure.h"
#include "group/group.h"
#include "group/loss.h"
#include "group/lost.h"
#include "mortal_store.h"
#include "records.h"
#include "tap.h"

enum { RANKS = 4, STORE_MS = 5000 };

struct muster_comm {
    const char *suspects, *left;
};

static bool comm_suspects(muster_comm *comm, int peer)
{
    return records_has(comm->suspects, peer);
}

static bool comm_left(muster_comm *comm, int peer)
{
    return records_has(comm->left, peer);
}

static void comm_abort(muster_comm *comm)
{
    (void)comm;
}

static const muster_backend told = {
    .suspects = comm_suspects, .left = comm_left, .abort = comm_abort};
static const backend_entry told_entry = {.name = "told", .ops = &told, .available = true};

typedef struct story {
    const char *name;
    const char *callers;
    const char *dead;  /* of this host, and ended */
    const char *far;   /* of another host */
    const char *said;  /* have said that they have failed */
    const char *freed; /* have said that they freed the group */
    const char *suspects[RANKS];
    const char *left[RANKS];
    bool works;      /* the group has not failed */
    bool store_gone; /* killed before they call */
    const char *lost;
    int at_most_ms;
} story;

static const story stories[] = {
    {.name = "another host closed its connections, and one rank saw it",
     .callers = "012",
     .far = "3",
     .suspects = {[1] = "3"},
     .lost = "3",
     .at_most_ms = 900},
    {.name = "the other host says that it failed because of others",
     .callers = "0123",
     .far = "3",
     .said = "3",
     .suspects = {"3", "3"},
     .lost = "",
     .at_most_ms = 900},
    {.name = "each has seen another one",
     .callers = "01",
     .far = "23",
     .suspects = {"2", "3"},
     .lost = "23",
     .at_most_ms = 900},
    {.name = "a process of this host that lives and closed its connections",
     .callers = "0123",
     .suspects = {"3"},
     .lost = "",
     .at_most_ms = 900},
    {.name = "it has said that it failed, and has ended",
     .callers = "012",
     .dead = "3",
     .said = "3",
     .suspects = {"3", "3", "3"},
     .lost = "3",
     .at_most_ms = 500},
    {.name = "one has left, as one rank has heard",
     .callers = "012",
     .left = {[2] = "3"},
     .lost = "3",
     .at_most_ms = 500},
    {.name = "one has freed the group while the others needed it",
     .callers = "012",
     .freed = "3",
     .lost = "3",
     .at_most_ms = 500},
    {.name = "a rank that hangs is waited for, and is not lost",
     .callers = "012",
     .lost = "",
     .at_most_ms = 2000},
    {.name = "a group that works waits for nobody",
     .callers = "0",
     .dead = "1",
     .left = {"2"},
     .works = true,
     .lost = "12",
     .at_most_ms = 200},
    {.name = "without a store it is what each sees",
     .callers = "012",
     .dead = "3",
     .store_gone = true,
     .lost = "3",
     .at_most_ms = 2700},
};
enum { STORIES = sizeof(stories) / sizeof(stories[0]) };

typedef struct member {
    pthread_t thread;
    muster_group *group;
    muster_comm comm;
    char got[256];
    int64_t took_ms;
} member;

static void make_group(member *self, muster_store *store, const story *what, int rank)
{
    const group_shape shape = {.name = "g",
                               .prefix = "g",
                               .asked = "told",
                               .store = store,
                               .timeout_ms = STORE_MS,
                               .rank = rank,
                               .size = RANKS,
                               .parent_size = RANKS,
                               .world_size = RANKS};
    *self = (member){.comm = {what->suspects[rank], what->left[rank]}};
    if (group_new(&shape, &self->group) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    records_roster(&self->group->ranks, RANKS, what->dead, what->far);
    self->group->host.backend = &told_entry;
    atomic_store(&self->group->host.comm, &self->comm);
    self->group->failure.status = what->works ? MUSTER_OK : MUSTER_ERR_PEER_LOST;
    self->group->failure.complete = true;
}

static void *call(void *argument)
{
    member *self = argument;
    int *ranks = NULL;
    size_t count = 0;
    int64_t began = deadline_now_ns();
    error_set(MUSTER_ERR_INTERNAL, "before");
    muster_status status = muster_group_lost_ranks(self->group, &ranks, &count);
    self->took_ms = (deadline_now_ns() - began) / 1000000;
    for (size_t i = 0; i < count; i++)
        self->got[i] = (char)('0' + ranks[i]);
    if (status != MUSTER_OK || strcmp(muster_last_error(), "before") != 0)
        snprintf(self->got, sizeof(self->got), "%s", muster_last_error());
    muster_free(ranks);
    return NULL;
}

static void leave_at_work(muster_store *store, const story *what, int rank)
{
    member freed;
    make_group(&freed, store, what, rank);
    lost_say_freed(freed.group);
    atomic_store(&freed.group->host.comm, NULL);
    muster_group_free(freed.group);
}

static void prepare(muster_store *store, const story *what)
{
    for (int r = 0; r < RANKS; r++) {
        loss says = {.store = store, .prefix = "g", .rank = r, .size = RANKS};
        if (records_has(what->said, r))
            loss_say_failed(&says);
        if (records_has(what->freed, r))
            leave_at_work(store, what, r);
    }
}

static void tell(const story *what)
{
    member all[RANKS];
    pid_t host = 0;
    muster_store *store = mortal_store(STORE_MS, &host);
    prepare(store, what);
    if (what->store_gone)
        kill(host, SIGKILL);
    for (int r = 0; r < RANKS; r++) {
        if (!records_has(what->callers, r))
            continue;
        make_group(&all[r], store, what, r);
        if (pthread_create(&all[r].thread, NULL, call, &all[r]) != 0)
            bail_out("no thread");
    }
    bool right = true, soon = true;
    for (int r = 0; r < RANKS; r++) {
        if (!records_has(what->callers, r))
            continue;
        pthread_join(all[r].thread, NULL);
        if (strcmp(all[r].got, what->lost) != 0)
            diag("rank %d: '%s' where '%s' are lost", r, all[r].got, what->lost);
        right = right && strcmp(all[r].got, what->lost) == 0;
        soon = soon && all[r].took_ms < patient(what->at_most_ms);
        atomic_store(&all[r].group->host.comm, NULL);
        muster_group_free(all[r].group);
    }
    ok(right, "%s: all name the same", what->name);
    ok(soon, "in time");
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    muster_store_free(store);
}

int main(void)
{
    plan(2 * STORIES);
    for (int i = 0; i < STORIES; i++)
        tell(&stories[i]);
    return done();
}
