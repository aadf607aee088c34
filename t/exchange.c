/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Meetings through a store, with threads as participants: all of them end alike.
 */
#include "group/exchange.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "mortal_store.h"
#include "store/store.h"
#include "tap.h"

enum { MOST = 32, PLENTY_MS = 20000, SHORT_MS = 400 };

/* One participant, with a handle on the store of its own. */
typedef struct guest {
    pthread_t thread;
    void (*body)(struct guest *self);
    exchange meeting;
    int index;
    int count;
    bool right;
    muster_status status;
    char sentence[ERROR_SIZE];
    long long operations;
} guest;

static muster_store *base;
static guest guests[MOST];

static void keep(guest *self, muster_status status)
{
    self->status = status;
    snprintf(self->sentence, sizeof(self->sentence), "%s",
             status == MUSTER_OK ? "" : muster_last_error());
}

static muster_store *open_handle(void)
{
    muster_store *store = NULL;
    muster_status status = MUSTER_OK;
    if (muster_store_port(base) > 0) {
        muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
        args.host = "127.0.0.1";
        args.port = muster_store_port(base);
        args.timeout_ms = PLENTY_MS;
        status = muster_store_tcp(&store, &args);
    } else {
        status = muster_store_prefix(&store, base, "t");
    }
    if (status != MUSTER_OK)
        bail_out("no store: %s", muster_last_error());
    return store;
}

static void *guest_thread(void *argument)
{
    guest *self = argument;
    self->body(self);
    self->operations = store_operations(self->meeting.store);
    return NULL;
}

/* The participants first..first+running of count meet under a prefix; the others never come. */
static void gather(const char *prefix, int running, int count, int64_t timeout_ms,
                   void (*body)(guest *self))
{
    memset(guests, 0, sizeof(guests));
    for (int i = 0; i < running; i++) {
        muster_store *store = open_handle();
        guests[i].index = i;
        guests[i].count = count;
        guests[i].body = body;
        exchange_init(&guests[i].meeting, store, prefix, i, count, timeout_ms,
                      deadline_in(timeout_ms));
        muster_store_free(store);
    }
    for (int i = 0; i < running; i++)
        pthread_create(&guests[i].thread, NULL, guest_thread, &guests[i]);
    for (int i = 0; i < running; i++)
        pthread_join(guests[i].thread, NULL);
}

static void part(int running)
{
    for (int i = 0; i < running; i++)
        exchange_destroy(&guests[i].meeting);
}

static void clean_and_part(int running, muster_status status)
{
    for (int i = 0; i < running; i++)
        exchange_clean(&guests[i].meeting, status);
    part(running);
}

static bool all_have(int running, muster_status status)
{
    bool alike = true;
    for (int i = 0; i < running; i++)
        alike = alike && guests[i].status == status &&
                strcmp(guests[i].sentence, guests[0].sentence) == 0;
    if (!alike)
        for (int i = 0; i < running; i++)
            diag("%d: status %d, %s", i, guests[i].status, guests[i].sentence);
    return alike;
}

/* A tcp store has a key of its own; what counts is what a meeting leaves. */
static long long keys(void)
{
    int64_t number = -1;
    muster_store_num_keys(base, &number);
    return number;
}

static bool is_text(muster_blob got, const char *format, int round, int index)
{
    char expected[64];
    snprintf(expected, sizeof(expected), format, round, index);
    return got.size == strlen(expected) && memcmp(got.data, expected, got.size) == 0;
}

/* Every round once with everybody, then with the neighbours, then with nobody. */
static void meet_in_rounds(guest *self)
{
    const int wanted[] = {(self->index + 1) % self->count, self->index};
    muster_status status = MUSTER_OK;
    self->right = true;
    for (int round = 0; status == MUSTER_OK && round < 3; round++) {
        const muster_blob *all = NULL;
        char mine[64];
        snprintf(mine, sizeof(mine), "round %d of %d", round, self->index);
        status = exchange_round(&self->meeting, muster_str(mine), false, round == 0 ? NULL : wanted,
                                round == 1 ? 2 : 0, "to meet", &all);
        if (status != MUSTER_OK)
            break;
        for (int i = 0; round == 0 && i < self->count; i++)
            self->right = self->right && is_text(all[i], "round %d of %d", round, i);
        for (int i = 0; round == 1 && i < 2; i++)
            self->right = self->right && is_text(all[i], "round %d of %d", round, wanted[i]);
    }
    keep(self, status);
}

static void rounds(int count)
{
    long long before = keys();
    gather("rounds", count, count, PLENTY_MS, meet_in_rounds);
    bool right = true;
    for (int i = 0; i < count; i++)
        right = right && guests[i].right;
    ok(all_have(count, MUSTER_OK), "%d meet in three rounds", count);
    ok(right, "and get what was wanted, in its order");
    clean_and_part(count, MUSTER_OK);
    is_int(keys(), before, "no key is left");
}

/* Beside what every rank does, the last to arrive opens the gate of a round. */
static void cost(void)
{
    enum { ROUNDS = 3 };
    static const int sizes[] = {2, 8, 32};
    long long each[3];
    bool exact = true;
    for (int s = 0; s < 3; s++) {
        long long total = 0;
        gather("cost", sizes[s], sizes[s], PLENTY_MS, meet_in_rounds);
        for (int i = 0; i < sizes[s]; i++)
            total += guests[i].operations;
        exact = exact && (total - ROUNDS) % sizes[s] == 0;
        each[s] = (total - ROUNDS) / sizes[s];
        clean_and_part(sizes[s], MUSTER_OK);
    }
    diag("operations of a rank in three rounds: %lld of 2, %lld of 8, %lld of 32 ranks", each[0],
         each[1], each[2]);
    ok(exact && each[0] > 0 && each[1] == each[0] && each[2] == each[0],
       "a rank's operations do not grow with the number of ranks");
}

static void meet_once(guest *self)
{
    keep(self, exchange_round(&self->meeting, muster_str("x"), false, NULL, 0, "to meet", NULL));
}

/* One that can't come says so; the others, before and after it, hear the same. */
static void shut_by_2(guest *self)
{
    if (self->index != 2) {
        meet_once(self);
        return;
    }
    muster_status status = error_set(MUSTER_ERR_SYSTEM, "rank 2 has no room: '7 %%s'");
    keep(self, exchange_settle(&self->meeting, status));
}

static void shut(void)
{
    long long before = keys();
    gather("shut", 4, 4, PLENTY_MS, shut_by_2);
    ok(all_have(4, MUSTER_ERR_SYSTEM), "one shuts the gate: all get its sentence");
    is_str(guests[0].sentence, "rank 2 has no room: '7 %s'", "as it was said");
    is_int(exchange_shut(&guests[0].meeting, MUSTER_ERR_MISMATCH, "later"), MUSTER_ERR_SYSTEM,
           "a later reason does not count");
    meet_once(&guests[3]);
    is_str(guests[3].sentence, guests[0].sentence, "who comes late hears it too");
    clean_and_part(4, MUSTER_ERR_FAILED);
    is_int(keys(), before, "no key is left after a failure");
}

/* The gate of this round is open, so the next one is shut. */
static void settle_late(guest *self)
{
    meet_once(self);
    if (self->status != MUSTER_OK)
        return;
    if (self->index == 1)
        self->meeting.round--; /* as one that failed before it saw the gate open */
    if (self->index == 1)
        keep(self, exchange_settle(&self->meeting, error_set(MUSTER_ERR_NO_MEMORY, "too late")));
    else
        meet_once(self);
}

static void late(void)
{
    gather("late", 3, 3, PLENTY_MS, settle_late);
    ok(all_have(3, MUSTER_ERR_NO_MEMORY), "a failure behind an open gate shuts the next");
    is_str(guests[0].sentence, "too late", "with its reason");
    is_int(exchange_settle(&guests[0].meeting, MUSTER_OK), MUSTER_OK, "to settle nothing is fine");
    clean_and_part(3, MUSTER_ERR_FAILED);
}

/* One fails and goes; the other sees it gone before its reason is there. */
static void settle_as_lost(guest *self)
{
    if (self->index == 0) {
        keep(self, exchange_settle(&self->meeting, error_set(MUSTER_ERR_PEER_LOST, "it is gone")));
    } else {
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        keep(self, exchange_settle(&self->meeting, error_set(MUSTER_ERR_SYSTEM, "no memory card")));
    }
}

static void first_word(void)
{
    gather("word", 2, 2, PLENTY_MS, settle_as_lost);
    ok(all_have(2, MUSTER_ERR_SYSTEM), "the first word is left to the one that was lost");
    is_str(guests[0].sentence, "no memory card", "who knows why");
    clean_and_part(2, MUSTER_ERR_FAILED);
    gather("no word", 1, 2, PLENTY_MS, settle_as_lost);
    ok(all_have(1, MUSTER_ERR_PEER_LOST), "if it says nothing it was lost");
    clean_and_part(1, MUSTER_ERR_FAILED);
}

/* What went wrong first is said, not that it could not be told. */
static void unheard(void)
{
    pid_t host;
    exchange meeting;
    muster_store *store = mortal_store(PLENTY_MS, &host);
    exchange_init(&meeting, store, "unheard", 0, 2, PLENTY_MS, deadline_in(PLENTY_MS));
    muster_store_free(store);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    is_int(exchange_settle(&meeting, error_set(MUSTER_ERR_TIMEOUT, "rank 1 is late")),
           MUSTER_ERR_TIMEOUT, "without its store a meeting fails as it did before");
    is_str(muster_last_error(), "rank 1 is late", "in the same words");
    exchange_destroy(&meeting);
}

static void missing(void)
{
    int64_t began = deadline_now_ns();
    gather("missing", 3, 6, SHORT_MS, meet_once);
    ok(all_have(3, MUSTER_ERR_TIMEOUT), "who waits in vain times out, all alike");
    has_str(guests[0].sentence, "after 400 ms waiting for ranks 3-5 of 6 to meet",
            "and names the missing ones");
    ok((deadline_now_ns() - began) / 1000000 < SHORT_MS + 2000, "in time");
    guest *comer = &guests[3];
    muster_store *store = open_handle();
    exchange_init(&comer->meeting, store, "missing", 4, 6, SHORT_MS, deadline_in(SHORT_MS));
    muster_store_free(store);
    meet_once(comer);
    ok(comer->status == MUSTER_ERR_TIMEOUT && strcmp(comer->sentence, guests[0].sentence) == 0,
       "one that comes late to a shut gate is told at once");
    part(4);
    has_str(guests[0].sentence, "; see whether they run and call this for the same group",
            "several are they");
    gather("one missing", 2, 3, SHORT_MS, meet_once);
    has_str(guests[0].sentence,
            "waiting for rank 2 of 3 to meet; see whether it runs and calls this for the same",
            "and one is it");
    part(2);
}

/* ---- looking out while waiting ---- */

static muster_status see_nothing(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
    return MUSTER_OK;
}

static muster_status see_end(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
    return error_set(MUSTER_ERR_PEER_LOST, "rank 1 has ended");
}

static atomic_int looks;

/* Participant 0 looks out, the others wait as ever; nobody waits for the last one, who is missing.
 */
static void look_out_at_0(guest *self)
{
    if (self->index == 0) {
        self->meeting.lookout = see_end;
        self->meeting.lookout_user = &looks;
    }
    meet_once(self);
}

static void look_out_in_vain(guest *self)
{
    self->meeting.lookout = see_nothing;
    self->meeting.lookout_user = &looks;
    meet_once(self);
}

static void looked_out(void)
{
    bool same = true;
    atomic_store(&looks, 0);
    gather("looks", 3, 4, PLENTY_MS, look_out_at_0);
    for (int i = 0; i < 3; i++)
        same = same && guests[i].status == MUSTER_ERR_PEER_LOST &&
               strcmp(guests[i].sentence, "rank 1 has ended") == 0;
    ok(same && atomic_load(&looks) == 1, "one sees that another has ended, and all are told");
    clean_and_part(3, MUSTER_ERR_PEER_LOST);

    atomic_store(&looks, 0);
    gather("vain", 2, 3, 2 * SHORT_MS, look_out_in_vain);
    ok(guests[0].status == MUSTER_ERR_TIMEOUT && guests[1].status == MUSTER_ERR_TIMEOUT &&
           atomic_load(&looks) >= 2,
       "who sees nothing waits for the time-out");
    clean_and_part(2, MUSTER_ERR_TIMEOUT);
}

static void look_first(guest *self)
{
    self->meeting.lookout = self->index == 0 ? see_nothing : see_end;
    self->meeting.lookout_user = &looks;
    keep(self, exchange_look(&self->meeting));
}

static void looks_at_gate(void)
{
    gather("look", 2, 2, PLENTY_MS, look_first);
    is_int(guests[0].status, MUSTER_OK, "before anybody has failed there is nothing to see");
    is_int(guests[1].status, MUSTER_ERR_PEER_LOST, "but what the lookout sees");
    exchange_shut(&guests[0].meeting, MUSTER_ERR_SYSTEM, "it rains");
    is_int(exchange_look(&guests[1].meeting), MUSTER_ERR_SYSTEM, "a gate that is shut is seen");
    is_str(muster_last_error(), "it rains", "and why; that counts more");
    clean_and_part(2, MUSTER_ERR_SYSTEM);
}

static void void_by_0(guest *self)
{
    if (self->index == 0)
        exchange_void(&self->meeting);
    meet_once(self);
}

static void voided(void)
{
    gather("void", 3, 4, PLENTY_MS, void_by_0);
    ok(all_have(3, MUSTER_ERR_FAILED), "a void meeting is left by all");
    ok(guests[0].meeting.retry && guests[1].meeting.retry && guests[2].meeting.retry,
       "who shall try anew");
    part(3);
}

static void agree_then_meet(guest *self)
{
    keep(self, exchange_agree(&self->meeting,
                              self->index % 2 == 0 ? "size 4\nrank even" : "size 4\nrank odd"));
    if (self->status == MUSTER_OK)
        meet_once(self);
}

static void agree_or_not(guest *self)
{
    keep(self, exchange_agree(&self->meeting,
                              self->index == 1 ? "size 5\nrank one" : "size 4\nthe others"));
    if (self->status == MUSTER_OK)
        meet_once(self);
}

static void agreement(void)
{
    long long before = keys();
    gather("agree", 4, 4, PLENTY_MS, agree_then_meet);
    ok(all_have(4, MUSTER_OK), "all say the same, whoever says it");
    clean_and_part(4, MUSTER_OK);
    gather("disagree", 4, 4, PLENTY_MS, agree_or_not);
    ok(all_have(4, MUSTER_ERR_MISMATCH), "one says something else: all are told the same");
    has_str(guests[0].sentence, "size 5", "what one said");
    has_str(guests[0].sentence, "size 4", "what the others said");
    has_str(guests[0].sentence, "rank one", "who that was");
    has_str(guests[0].sentence, "the others", "and who they were");
    clean_and_part(4, MUSTER_ERR_FAILED);
    is_int(keys(), before, "no key is left");
}

static void agree_on_count(guest *self)
{
    self->meeting.count = self->meeting.most = self->index == 1 ? 3 : 4;
    keep(self,
         exchange_agree(&self->meeting, self->index == 1 ? "size 3\nrank one" : "size 4\nothers"));
    if (self->status == MUSTER_OK)
        meet_once(self);
}

static bool gate_stands(void)
{
    bool there = false;
    muster_blob key = muster_str("counts/0/gate"), prefixed = muster_str("t/counts/0/gate");
    muster_store_check(base, muster_store_port(base) > 0 ? &key : &prefixed, 1, &there);
    return there;
}

/* One says that there are 3, and is the third to leave: the fourth, who is late, must still learn
 * what went wrong. */
static void fewer(void)
{
    long long before = keys();
    gather("counts", 4, 4, PLENTY_MS, agree_on_count);
    ok(all_have(4, MUSTER_ERR_MISMATCH), "one counts fewer ranks: all are told the same");
    exchange_clean(&guests[0].meeting, MUSTER_ERR_MISMATCH);
    exchange_clean(&guests[3].meeting, MUSTER_ERR_MISMATCH);
    exchange_clean(&guests[1].meeting, MUSTER_ERR_MISMATCH);
    ok(gate_stands(), "and leaves the gate to the others");
    exchange_clean(&guests[2].meeting, MUSTER_ERR_MISMATCH);
    is_int(keys(), before, "no key is left");
    part(4);
}

static void *leave_later(void *argument)
{
    guest *self = argument;
    struct timespec nap = {0, 100 * 1000000L};
    nanosleep(&nap, NULL);
    self->right = true;
    exchange_clean(&self->meeting, MUSTER_OK);
    return NULL;
}

/* user case 4: whoever serves the store sees the others leave before its process may end. */
static void server_stays(void)
{
    gather("stays", 2, 2, PLENTY_MS, meet_once);
    muster_store_free(guests[0].meeting.store);
    guests[0].meeting.store = store_retain(base);
    ok(store_served_here(base) && !store_served_here(guests[1].meeting.store),
       "one of two serves the store");
    pthread_create(&guests[1].thread, NULL, leave_later, &guests[1]);
    exchange_clean(&guests[0].meeting, MUSTER_OK);
    ok(guests[1].right, "it leaves after the other");
    pthread_join(guests[1].thread, NULL);
    part(2);
    gather("fails", 1, 2, SHORT_MS, meet_once);
    muster_store_free(guests[0].meeting.store);
    guests[0].meeting.store = store_retain(base);
    deadline enough = deadline_in(PLENTY_MS / 2);
    exchange_clean(&guests[0].meeting, guests[0].status);
    ok(deadline_left_ms(enough) > 0, "it does not wait long for those who never came");
    part(1);
}

/* How long the one that serves the store stays for another that never leaves. */
static int64_t stay_ms(int64_t timeout_ms, exchange_lookout lookout, muster_status status)
{
    gather("stay", 2, 2, timeout_ms, meet_once);
    muster_store_free(guests[0].meeting.store);
    guests[0].meeting.store = store_retain(base);
    guests[0].meeting.lookout = lookout;
    guests[0].meeting.lookout_user = &looks;
    int64_t began = deadline_now_ns();
    exchange_clean(&guests[0].meeting, status);
    int64_t stayed = (deadline_now_ns() - began) / 1000000;
    exchange_clean(&guests[1].meeting, status);
    part(2);
    return stayed;
}

static void nobody_leaves(void)
{
    const int64_t soon = 800;
    int64_t stayed = stay_ms(PLENTY_MS, see_end, MUSTER_OK);
    ok(stayed < soon, "who has ended after all met is not waited for (%lld ms)", (long long)stayed);
    stayed = stay_ms(PLENTY_MS, NULL, MUSTER_ERR_PEER_LOST);
    ok(stayed < soon, "nor is one that was lost before (%lld ms)", (long long)stayed);
    stayed = stay_ms(2 * SHORT_MS, see_nothing, MUSTER_OK);
    ok(stayed < 2 * SHORT_MS + soon && stayed >= 250,
       "one of which nothing is known is waited for until the time-out (%lld ms)",
       (long long)stayed);
}

/* What is no verdict on a gate. */
static void hostile(void)
{
    static const char *const texts[] = {"",
                                        "o",
                                        "okay",
                                        "0 fine",
                                        "17 beyond",
                                        "-1 below",
                                        "99999999999999999999 ",
                                        "3",
                                        "retry ",
                                        "\n\n\n\n\n\n\n\n\n\n"};
    char key[32];
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        guest *self = &guests[0];
        exchange_init(&self->meeting, base, "hostile", 0, 2, SHORT_MS, deadline_in(SHORT_MS));
        snprintf(key, sizeof(key), "hostile/0/gate");
        muster_store_set(base, muster_str(key), muster_str(texts[i]));
        meet_once(self);
        is_int(self->status, MUSTER_ERR_PROTOCOL, "a gate without a verdict, number %zu", i);
        exchange_destroy(&self->meeting);
    }
    muster_store_set(base, muster_str(key), muster_str("3 2"));
    exchange_init(&guests[0].meeting, base, "hostile", 0, 2, SHORT_MS, deadline_in(SHORT_MS));
    meet_once(&guests[0]);
    is_int(guests[0].status, MUSTER_ERR_TIMEOUT, "a status without a sentence is a status");
    exchange_destroy(&guests[0].meeting);
    muster_store_set(base, muster_str(key), muster_str("3 2147483647 so many"));
    exchange_init(&guests[0].meeting, base, "hostile", 0, 2, SHORT_MS, deadline_in(SHORT_MS));
    meet_once(&guests[0]);
    is_int(guests[0].meeting.most, 2, "more ranks than a world can have are not counted up to");
    exchange_destroy(&guests[0].meeting);
}

static void published(void)
{
    guest *self = &guests[0];
    exchange_init(&self->meeting, base, "published", 0, 1, SHORT_MS, deadline_in(SHORT_MS));
    char *key = exchange_key(&self->meeting, 0, 0);
    is_str(key, "published/0/0", "the key of a participant");
    muster_store_set(base, muster_str(key), muster_str("before"));
    const muster_blob *all = NULL;
    is_int(exchange_round(&self->meeting, muster_str("not this"), true, NULL, 0, "", &all),
           MUSTER_OK, "what is published already stays");
    ok(all != NULL && is_text(all[0], "before", 0, 0), "and is what all get");
    self->meeting.keep_rounds = 1;
    exchange_clean(&self->meeting, MUSTER_OK);
    bool there = false;
    muster_blob keys_of = muster_str(key);
    muster_store_check(base, &keys_of, 1, &there);
    ok(there, "a round that is to be kept is not cleaned");
    muster_free(key);
    exchange_destroy(&self->meeting);
}

enum { POINTS = 61 };

static void over(muster_store *store, const char *name)
{
    base = store;
    diag("over a %s store", name);
    rounds(1);
    rounds(2);
    rounds(8);
    cost();
    shut();
    late();
    first_word();
    missing();
    looked_out();
    looks_at_gate();
    voided();
    agreement();
    fewer();
    hostile();
    published();
}

int main(void)
{
    plan(2 + 2 * POINTS + 6);
    unheard();
    muster_store *store = NULL;
    muster_store_hash(&store);
    over(store, "hash");
    muster_store_free(store);
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = "127.0.0.1";
    args.listen = true;
    if (muster_store_tcp(&store, &args) != MUSTER_OK)
        bail_out("no tcp store: %s", muster_last_error());
    over(store, "tcp");
    server_stays();
    nobody_leaves();
    muster_store_free(store);
    return done();
}
