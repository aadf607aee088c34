/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Claiming places of a name: generations, holders that live or are gone, races.
 */
#include "group/claim.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "net/host_identity.h"
#include "group/roster.h"
#include "store/store.h"
#include "tap.h"

enum { PLENTY_MS = 20000, SHORT_MS = 300, RACES = 200 };

static muster_store *store;

/* The record of this process, or of one that is its like. */
static char *record_of(int rank, int world_size, long long pid, unsigned long long start,
                       const char *host_id)
{
    host_identity me;
    host_identity_get(&me);
    rank_record record = {.library = muster_version(),
                          .host = me.host_name,
                          .host_id = host_id != NULL ? host_id : me.host_id,
                          .asked = "auto",
                          .loopback = "",
                          .memory = "",
                          .pid = pid != 0 ? pid : me.pid,
                          .pid_space = me.pid_namespace,
                          .start = pid != 0 ? start : me.start_time,
                          .world_size = world_size,
                          .rank = rank,
                          .cores = 1};
    /* two threads of a process are told apart by what a rank draws at random */
    static _Atomic unsigned long long nonce = 1;
    record.nonce = nonce++;
    char *text = NULL;
    if (rank_record_write(&record, &text) != MUSTER_OK)
        bail_out("no record: %s", muster_last_error());
    return text;
}

static muster_status take(claim *place, exchange *meeting, const char *name, int rank, int size,
                          int64_t timeout_ms)
{
    char *record = record_of(rank, size, 0, 0, NULL);
    *meeting = (exchange){0};
    muster_status status = claim_take(place, store, name, record, rank, size, timeout_ms,
                                      deadline_in(timeout_ms), meeting);
    muster_free(record);
    return status;
}

static void let_go(claim *place, exchange *meeting)
{
    exchange_destroy(meeting);
    claim_clear(place);
}

static long long keys(void)
{
    int64_t number = -1;
    muster_store_num_keys(store, &number);
    return number;
}

static const char *state_of(const char *name, char *text, size_t size)
{
    char key[64];
    void *value = NULL;
    size_t length = 0;
    snprintf(key, sizeof(key), "muster/%s/state", name);
    if (muster_store_get(store, muster_str(key), 0, &value, &length) != MUSTER_OK)
        return "none";
    snprintf(text, size, "%.*s", (int)length, (const char *)value);
    muster_free(value);
    return text;
}

/* A group of two is made and left in order, as often as one likes. */
static void orderly(void)
{
    char text[64];
    for (int turn = 0; turn < 3; turn++) {
        claim places[2];
        exchange meetings[2];
        bool taken = true;
        for (int r = 0; r < 2; r++)
            taken = take(&places[r], &meetings[r], "plain", r, 2, PLENTY_MS) == MUSTER_OK && taken;
        ok(taken && places[0].generation == 0 && places[1].generation == 0,
           "both places are had, turn %d", turn);
        char *prefix = claim_prefix(&places[0]);
        is_str(prefix, "muster/plain/0", "in the first generation");
        muster_free(prefix);
        is_int(claim_formed(&places[0]), MUSTER_OK, "the name is taken");
        is_str(state_of("plain", text, sizeof(text)), "0 open", "for all to see");
        claim_leave(&places[0]);
        is_str(state_of("plain", text, sizeof(text)), "0 open", "also when one of two has left");
        claim_leave(&places[1]);
        is_int(keys(), 0, "when both have left no key is");
        for (int r = 0; r < 2; r++)
            let_go(&places[r], &meetings[r]);
    }
}

/* One that fails moves on; the next begins where it may not meet what was left. */
static void failed(void)
{
    claim first, second, third;
    exchange meeting[3];
    char text[64];
    is_int(take(&first, &meeting[0], "moves", 0, 2, PLENTY_MS), MUSTER_OK, "a place is had");
    claim_give_up(&first);
    is_str(state_of("moves", text, sizeof(text)), "1", "given up: the next generation");
    is_int(take(&second, &meeting[1], "moves", 0, 2, PLENTY_MS), MUSTER_OK, "the place is free");
    is_int(second.generation, 1, "in that generation");
    claim_give_up(&first);
    is_str(state_of("moves", text, sizeof(text)), "1", "an earlier one can't move it again");
    is_int(claim_formed(&second), MUSTER_OK, "it forms");
    is_str(state_of("moves", text, sizeof(text)), "1 open", "and has the name");
    claim_give_up(&second);
    is_str(state_of("moves", text, sizeof(text)), "2", "an open one may be given up too");
    is_int(take(&third, &meeting[2], "moves", 0, 1, PLENTY_MS), MUSTER_OK, "and the next");
    claim_formed(&third);
    claim_leave(&third);
    is_str(state_of("moves", text, sizeof(text)), "2", "leaves its number");
    let_go(&first, &meeting[0]);
    let_go(&second, &meeting[1]);
    let_go(&third, &meeting[2]);
}

/* A child takes the place and is killed. user case: a job is started again after a crash. */
static void dead_holder(void)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        bail_out("no pipe");
    pid_t child = fork();
    if (child == 0) {
        host_identity me;
        if (host_identity_get(&me) == MUSTER_OK)
            (void)!write(pipes[1], &me.start_time, sizeof(me.start_time));
        for (;;)
            pause();
    }
    unsigned long long start = 0;
    bool told = read(pipes[0], &start, sizeof(start)) == sizeof(start);
    close(pipes[0]);
    close(pipes[1]);
    char *record = record_of(0, 2, child, start, NULL);
    muster_store_set(store, muster_str("muster/crash/0/0/0"), muster_str(record));
    muster_free(record);

    claim place;
    exchange meeting;
    is_int(take(&place, &meeting, "crash", 0, 2, PLENTY_MS), MUSTER_ERR_EXISTS,
           "a place that a living child holds is refused");
    char words[64];
    snprintf(words, sizeof(words), "the process %lld on host", (long long)child);
    ok(told && strstr(muster_last_error(), words) != NULL, "naming the child: %s",
       muster_last_error());
    snprintf(words, sizeof(words), "the process %lld on host", (long long)getpid());
    has_str(muster_last_error(), words, "and this process");
    has_str(muster_last_error(), "rank 0 of 2 is claimed twice", "and the place");

    record = record_of(1, 2, child, start, NULL);
    muster_store_set(store, muster_str("muster/crash/0/0/1"), muster_str(record));
    muster_free(record);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    is_int(take(&place, &meeting, "crash", 1, 2, PLENTY_MS), MUSTER_OK,
           "one whose holder is gone is passed over");
    is_int(place.generation, 1, "in a new generation");
    let_go(&place, &meeting);

    record = record_of(0, 2, child, start, "another host");
    muster_store_set(store, muster_str("muster/far/0/0/0"), muster_str(record));
    muster_free(record);
    is_int(take(&place, &meeting, "far", 0, 2, PLENTY_MS), MUSTER_ERR_EXISTS,
           "of a process of another host nobody knows that it is gone");
}

/* All who wait in a meeting in which a place is claimed twice are told. */
static void told_twice(void)
{
    claim first, twice;
    exchange meeting, other;
    is_int(take(&first, &meeting, "twice", 1, 2, PLENTY_MS), MUSTER_OK, "a place is had");
    is_int(take(&twice, &other, "twice", 1, 2, PLENTY_MS), MUSTER_ERR_EXISTS, "but once");
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    is_int(exchange_round(&meeting, muster_str(""), true, NULL, 0, "", NULL), MUSTER_ERR_EXISTS,
           "who had it can't go on either");
    is_str(muster_last_error(), sentence, "for the same reason");
    int64_t began = deadline_now_ns();
    claim_linger(&first, deadline_in(SHORT_MS));
    int64_t took = (deadline_now_ns() - began) / 1000000;
    ok(took >= SHORT_MS - 1 && took < PLENTY_MS, "it lingers for those who come late");
    claim_give_up(&first);
    began = deadline_now_ns();
    claim_linger(&first, deadline_in(PLENTY_MS));
    ok((deadline_now_ns() - began) / 1000000 < patient(500), "but not where the name has moved on");
    let_go(&first, &meeting);
    is_int(take(&first, &meeting, "twice", 1, 2, PLENTY_MS), MUSTER_OK, "the next generation can");
    let_go(&first, &meeting);
}

typedef struct leaver {
    claim place;
    int64_t after_ms;
} leaver;

static void *leave_later(void *argument)
{
    leaver *one = argument;
    nanosleep(&(struct timespec){0, (long)(one->after_ms * 1000000)}, NULL);
    claim_leave(&one->place);
    return NULL;
}

/* Rank 0 has left a group of two and comes again; rank 1 is slower. */
static void open_name(void)
{
    claim zero, again;
    exchange meetings[3];
    leaver one = {.after_ms = 100};
    pthread_t thread;
    take(&zero, &meetings[0], "open", 0, 2, PLENTY_MS);
    take(&one.place, &meetings[1], "open", 1, 2, PLENTY_MS);
    claim_formed(&zero);
    claim taken;
    exchange unused;
    is_int(take(&taken, &unused, "open", 0, 2, PLENTY_MS), MUSTER_ERR_EXISTS,
           "an open group's place is held");
    has_str(muster_last_error(), "free it there first", "says what to do");
    claim_leave(&zero);
    is_int(take(&taken, &unused, "open", 0, 2, SHORT_MS), MUSTER_ERR_TIMEOUT,
           "who has left waits for the others, no longer than its time-out");
    has_str(muster_last_error(), "timed out after 300 ms waiting for the other ranks to free",
            "and says for what");
    pthread_create(&thread, NULL, leave_later, &one);
    is_int(take(&again, &meetings[2], "open", 0, 2, PLENTY_MS), MUSTER_OK,
           "when they have left the name is free");
    pthread_join(thread, NULL);
    claim_give_up(&again);
    let_go(&again, &meetings[2]);
    let_go(&one.place, &meetings[1]);
    let_go(&zero, &meetings[0]);
}

static void hostile(void)
{
    static const char *const states[] = {"x", "-1", "1 closed", "1 open ",
                                         "0123456789012345678901234567890123456789"};
    claim place;
    exchange meeting;
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        muster_store_set(store, muster_str("muster/hostile/state"), muster_str(states[i]));
        is_int(take(&place, &meeting, "hostile", 0, 1, SHORT_MS), MUSTER_ERR_PROTOCOL,
               "a state of '%s'", states[i]);
    }
    muster_store_set(store, muster_str("muster/hostile/state"), muster_str("9223372036854775807"));
    is_int(take(&place, &meeting, "hostile", 0, 1, SHORT_MS), MUSTER_ERR_PROTOCOL,
           "the last number there is");
    muster_store_delete(store, muster_str("muster/hostile/state"), NULL);
    muster_store_set(store, muster_str("muster/hostile/0/0/0"), muster_str("not a record"));
    is_int(take(&place, &meeting, "hostile", 0, 1, SHORT_MS), MUSTER_ERR_PROTOCOL,
           "a holder that is no record");
}

/* Two claim one place at the same moment. */
typedef struct racer {
    pthread_barrier_t *start;
    char name[32];
    muster_status status;
    claim place;
    exchange meeting;
} racer;

static void *race(void *argument)
{
    racer *self = argument;
    pthread_barrier_wait(self->start);
    self->status = take(&self->place, &self->meeting, self->name, 0, 2, PLENTY_MS);
    return NULL;
}

static void races(void)
{
    int right = 0;
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < RACES; i++) {
        racer two[2];
        pthread_t threads[2];
        for (int t = 0; t < 2; t++) {
            two[t].start = &start;
            snprintf(two[t].name, sizeof(two[t].name), "race %d", i);
            pthread_create(&threads[t], NULL, race, &two[t]);
        }
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        int won = 0, lost = 0;
        for (int t = 0; t < 2; t++) {
            won += two[t].status == MUSTER_OK;
            lost += two[t].status == MUSTER_ERR_EXISTS;
            if (two[t].status == MUSTER_OK)
                let_go(&two[t].place, &two[t].meeting);
        }
        right += won == 1 && lost == 1;
    }
    pthread_barrier_destroy(&start);
    is_int(right, RACES, "of two that claim one place at once one has it");
}

int main(void)
{
    plan(55);
    muster_store_hash(&store);
    orderly();
    failed();
    dead_holder();
    told_twice();
    open_name();
    hostile();
    races();
    muster_store_free(store);
    return done();
}
