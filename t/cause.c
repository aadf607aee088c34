/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whom the ranks of a group blame when connections were closed, in orders that the test forces. The
 * ranks are threads, the backend only says whose connections were closed, and what has become of a
 * process is what its record says.
 */
#include "config.h"

#include "group/cause.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "group/failure.h"
#include "group/loss.h"
#include "mortal_store.h"
#include "records.h"
#include "store/store.h"
#include "tap.h"

enum { RANKS = 4, STORE_MS = 5000 };

#define PREFIX "g"
#define FAILURE PREFIX "/failure"

/* ---- groups ---- */

struct muster_comm {
    bool suspects[RANKS];
};

static bool comm_suspects(muster_comm *comm, int peer)
{
    return comm->suspects[peer];
}

static void comm_abort(muster_comm *comm)
{
    (void)comm;
}

static const muster_backend told = {.suspects = comm_suspects, .abort = comm_abort};
static const backend_entry told_entry = {.name = "told", .ops = &told, .available = true};

static void nap(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static muster_group *make_group(muster_store *store, int rank, const char *dead, const char *far)
{
    muster_group *group = NULL;
    const group_shape shape = {.name = "g",
                               .prefix = PREFIX,
                               .asked = "told",
                               .store = store,
                               .timeout_ms = STORE_MS,
                               .rank = rank,
                               .size = RANKS,
                               .parent_size = RANKS,
                               .world_size = RANKS};
    if (group_new(&shape, &group) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    records_roster(&group->ranks, RANKS, dead, far);
    group->host.backend = &told_entry;
    return group;
}

/* ---- who is blamed ---- */

typedef enum fate { WORKS, KILLED, STOPPED } fate;

/* A rank that finds connections closed, so long after the beginning. */
typedef struct finding {
    const char *closed; /* NULL: it finds nothing */
    int after_ms;
} finding;

typedef struct story {
    const char *name;
    const char *dead;
    const char *far;
    const char *said; /* who has said before that it has failed */
    const char *late; /* a cause that comes 300 ms after the beginning */
    fate store;
    finding ranks[RANKS];
    muster_status status;
    const char *words; /* of all that find anything */
    int most_ms;       /* that it takes; 0: a second */
} story;

#define THREE_ENDED "rank 3 was lost: its process has ended"
#define NOT_KNOWN "and the store, which would know why, does not answer"
#define TIMED_OUT "timed out after 100 ms, waiting for rank 2"

static const story stories[] = {
    {.name = "who fails because of another says so later than others look",
     .dead = "3",
     .ranks = {{"3", 150}, {"03", 0}, {"013", 20}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = THREE_ENDED},
    {.name = "it has said so and ended",
     .dead = "03",
     .said = "0",
     .ranks = {[1] = {"03", 0}, [2] = {"013", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = THREE_ENDED},
    {.name = "only it is seen, and it ends without a cause",
     .dead = "0",
     .said = "0",
     .ranks = {[1] = {"0", 0}},
     .status = MUSTER_ERR_REMOTE,
     .words = "rank 0 left after it had failed"},
    {.name = "only it is seen, and the cause comes later",
     .said = "0",
     .late = "3 0 " TIMED_OUT,
     .ranks = {[1] = {"0", 0}, [2] = {"01", 100}},
     .status = MUSTER_ERR_TIMEOUT,
     .words = TIMED_OUT},
    {.name = "two have ended",
     .dead = "23",
     .ranks = {{"23", 0}, {"023", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "ranks 2-3 were lost: their processes have ended"},
    {.name = "only one is suspected",
     .dead = "3",
     .ranks = {{"3", 0}, {"3", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = THREE_ENDED},
    {.name = "a process that lives says nothing",
     .most_ms = 1500,
     .ranks = {[1] = {"0", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "rank 0 closed its connections without a word, though its process is there (closed)"},
    {.name = "a link between two is cut",
     .ranks = {{"1", 0}, {"0", 50}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "have lost their connection, though all were there"},
    {.name = "another host says nothing",
     .far = "3",
     .ranks = {{"3", 0}, {"03", 50}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "rank 3 was lost: it ended, or closed its connections without a word"},
    {.name = "another host says later that it has failed",
     .dead = "3",
     .far = "0",
     .ranks = {{"3", 150}, {"03", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = THREE_ENDED},
    {.name = "nobody is suspected",
     .ranks = {[2] = {"", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "closed"},
    {.name = "the store has gone, and one has ended",
     .dead = "3",
     .store = KILLED,
     .ranks = {{"3", 0}, {"03", 50}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "rank 3 left: its process has ended, " NOT_KNOWN},
    {.name = "the store has gone, and two have ended",
     .dead = "03",
     .store = KILLED,
     .ranks = {[1] = {"03", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "ranks 0,3 left: their processes have ended, " NOT_KNOWN},
    {.name = "the store has gone, and another host says nothing",
     .far = "3",
     .store = KILLED,
     .ranks = {[1] = {"3", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "rank 3 left: it ended, or closed its connections without a word, " NOT_KNOWN},
    {.name = "the store has stopped, and one has ended",
     .dead = "3",
     .store = STOPPED,
     .ranks = {[1] = {"03", 0}},
     .status = MUSTER_ERR_PEER_LOST,
     .words = "rank 3 left: its process has ended, " NOT_KNOWN},
};
enum { STORIES = sizeof(stories) / sizeof(stories[0]) };

typedef struct member {
    pthread_t thread;
    const finding *finds;
    muster_group *group;
    muster_comm comm;
    muster_status status;
    char sentence[ERROR_SIZE];
    int64_t took_ms;
} member;

static void *find_out(void *argument)
{
    member *self = argument;
    nap(self->finds->after_ms);
    int64_t began = deadline_now_ns();
    failure_reported(&self->group->host.owner, -1, MUSTER_ERR_PEER_LOST, "closed");
    self->status = failure_check(self->group);
    snprintf(self->sentence, sizeof(self->sentence), "%s", muster_last_error());
    self->took_ms = (deadline_now_ns() - began) / 1000000;
    return NULL;
}

static void say_failed(muster_store *store, const char *who)
{
    for (int r = 0; r < RANKS; r++) {
        loss says = {.store = store, .prefix = PREFIX, .rank = r, .size = RANKS};
        if (records_has(who, r))
            loss_say_failed(&says);
    }
}

static void begin_finding(const story *what, muster_store *store, member *all)
{
    for (int r = 0; r < RANKS; r++) {
        all[r] = (member){.finds = &what->ranks[r]};
        if (what->ranks[r].closed == NULL)
            continue;
        all[r].group = make_group(store, r, what->dead, what->far);
        for (int other = 0; other < RANKS; other++)
            all[r].comm.suspects[other] = records_has(what->ranks[r].closed, other);
        atomic_store(&all[r].group->host.comm, &all[r].comm);
        if (pthread_create(&all[r].thread, NULL, find_out, &all[r]) != 0)
            bail_out("no thread");
    }
}

static void tell(const story *what)
{
    member all[RANKS];
    pid_t host = 0;
    muster_store *store = mortal_store(STORE_MS, &host);
    say_failed(store, what->said);
    if (what->store != WORKS)
        kill(host, what->store == KILLED ? SIGKILL : SIGSTOP);
    begin_finding(what, store, all);
    nap(300);
    if (what->late != NULL)
        muster_store_set(store, muster_str(FAILURE), muster_str(what->late));
    bool right = true, soon = true;
    for (int r = 0; r < RANKS; r++) {
        if (what->ranks[r].closed == NULL)
            continue;
        pthread_join(all[r].thread, NULL);
        bool same = all[r].status == what->status && strstr(all[r].sentence, what->words) != NULL &&
                    strstr(all[r].sentence, "ended (closed)") == NULL;
        if (!same)
            diag("rank %d: %s: %s", r, muster_status_name(all[r].status), all[r].sentence);
        right = right && same;
        soon = soon && all[r].took_ms < patient(what->most_ms > 0 ? what->most_ms : 1000);
        atomic_store(&all[r].group->host.comm, NULL);
        muster_group_free(all[r].group);
    }
    ok(right, "%s: all say the same, and that it is so", what->name);
    ok(soon, "in time");
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    muster_store_free(store);
}

/* ---- a store that does something in between ---- */

typedef struct hooked {
    muster_store base;
    muster_store *below;
    void (*after_check)(struct hooked *self);
    void (*before_put)(struct hooked *self);
    pid_t ending;
} hooked;

static muster_status hooked_set(muster_store *store, muster_blob key, muster_blob value)
{
    return muster_store_set(((hooked *)store)->below, key, value);
}

static muster_status hooked_get(muster_store *store, muster_blob key, int64_t timeout_ms,
                                void **value, size_t *size)
{
    return muster_store_get(((hooked *)store)->below, key, timeout_ms, value, size);
}

static muster_status hooked_check(muster_store *store, const muster_blob *keys, size_t num_keys,
                                  bool *all_there)
{
    hooked *self = (hooked *)store;
    muster_status status = muster_store_check(self->below, keys, num_keys, all_there);
    if (self->after_check != NULL)
        self->after_check(self);
    return status;
}

static muster_status hooked_compare_set(muster_store *store, muster_blob key, muster_blob expected,
                                        muster_blob desired, void **value, size_t *size)
{
    hooked *self = (hooked *)store;
    if (self->before_put != NULL)
        self->before_put(self);
    return muster_store_compare_set(self->below, key, expected, desired, value, size);
}

static void hooked_destroy(muster_store *store)
{
    muster_store_free(((hooked *)store)->below);
}

static const store_ops hooked_ops = {.set = hooked_set,
                                     .get = hooked_get,
                                     .check = hooked_check,
                                     .compare_set = hooked_compare_set,
                                     .destroy = hooked_destroy};

static void hooked_init(hooked *store)
{
    *store = (hooked){.below = NULL};
    store_init(&store->base, &hooked_ops);
    if (muster_store_hash(&store->below) != MUSTER_OK)
        bail_out("%s", muster_last_error());
}

/* Between the look at the store and the next it says that it has failed and ends. */
static void say_and_end(hooked *self)
{
    say_failed(self->below, "0");
    kill(self->ending, SIGKILL);
    waitpid(self->ending, NULL, 0);
    self->after_check = NULL;
}

static void ends_while_looked_at(void)
{
    hooked store;
    suspect zero = {.rank = 0, .visible = true};
    loss all = {&store.base, PREFIX, 1, RANKS, 1, &zero, false};
    hooked_init(&store);
    store.after_check = say_and_end;
    store.ending = fork();
    if (store.ending == 0)
        for (;;)
            pause();
    zero.pid = store.ending;
    host_identity me;
    host_identity_get(&me);
    zero.pid_space = me.pid_namespace;
    ok(!loss_review(&all), "one that ends while it is looked for is not taken for lost");
    ok(loss_review(&all) && loss_all_said(&all), "but for one that has failed");
    muster_store_free(store.below);
}

/* ---- breaking off ---- */

static atomic_bool put;

static void put_late(hooked *self)
{
    (void)self;
    nap(100);
    atomic_store(&put, true);
}

static void put_never(hooked *self)
{
    (void)self;
    nap(600);
    atomic_store(&put, true);
}

static void *break_off(void *group)
{
    failure_break_off(group, "it wants to");
    return NULL;
}

/* Whether the others could know when a call that waits is let go; *took_ms is when that is. */
static bool let_go_after_telling(void (*before_put)(hooked *self), int64_t *took_ms)
{
    hooked store;
    pthread_t thread;
    hooked_init(&store);
    store.before_put = before_put;
    atomic_store(&put, false);
    muster_group *group = make_group(&store.base, 0, "", "");
    if (pthread_create(&thread, NULL, break_off, group) != 0)
        bail_out("no thread");
    int64_t began = deadline_now_ns();
    while (failure_check(group) == MUSTER_OK)
        nap(1);
    *took_ms = (deadline_now_ns() - began) / 1000000;
    bool told_them = atomic_load(&put);
    pthread_join(thread, NULL);
    muster_group_free(group);
    muster_store_free(store.below);
    return told_them;
}

static void breaks_off(void)
{
    int64_t took_ms = 0;
    ok(let_go_after_telling(put_late, &took_ms), "calls end when the others have been told why");
    ok(!let_go_after_telling(put_never, &took_ms) && took_ms < patient(500),
       "but do not wait long for that");
}

/* ---- a store that ends with its rank ---- */

static void *hear_late(void *store)
{
    nap(100);
    for (int r = 1; r < RANKS; r++) {
        loss hears = {.store = store, .prefix = PREFIX, .rank = r, .size = RANKS};
        if (r != 3)
            loss_say_heard(&hears);
    }
    return NULL;
}

static int64_t free_group(muster_store *store, const char *dead)
{
    muster_group *group = make_group(store, 0, dead, "");
    failure_break_off(group, "it wants to");
    int64_t began = deadline_now_ns();
    muster_group_free(group);
    return (deadline_now_ns() - began) / 1000000;
}

static void store_stays(void)
{
    muster_store *store = NULL;
    pthread_t thread;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = "127.0.0.1";
    args.listen = true;
    if (muster_store_tcp(&store, &args) != MUSTER_OK ||
        pthread_create(&thread, NULL, hear_late, store) != 0)
        bail_out("%s", muster_last_error());
    int64_t took_ms = free_group(store, "3");
    bool heard = false;
    muster_blob keys[] = {muster_str(PREFIX "/heard/1"), muster_str(PREFIX "/heard/2")};
    muster_store_check(store, keys, 2, &heard);
    ok(heard, "who hosts the store waits for those who have yet to hear (%lld ms)",
       (long long)took_ms);
    pthread_join(thread, NULL);
    took_ms = free_group(store, "3");
    ok(took_ms < 100 * patient(1), "and no longer (%lld ms), nor for one that has ended",
       (long long)took_ms);
    took_ms = free_group(store, "");
    ok(took_ms >= 250 && took_ms < patient(1000), "and for one that never hears a moment (%lld ms)",
       (long long)took_ms);
    muster_store_free(store);
}

int main(void)
{
    plan(2 * STORIES + 2 + 2 + 3);
    for (int i = 0; i < STORIES; i++)
        tell(&stories[i]);
    ends_while_looked_at();
    breaks_off();
    store_stays();
    return done();
}
