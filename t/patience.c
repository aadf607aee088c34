/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What becomes of those who ask a store that has stopped: their own time-out ends them.
 */
#include "config.h"

#include "base/patience.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mortal_store.h"
#include "tap.h"

enum { ANSWER_MS = 1200, LONG_MS = 60000, GROUP_MS = 1000, LATE_MS = 1500 };

#define CUT_OFF "it has answered before; the store's host is stopped, overloaded or cut off"

static int64_t ms_since(int64_t began_ns)
{
    return (deadline_now_ns() - began_ns) / 1000000;
}

static void limits(void)
{
    ok(deadline_left_ms(patience_for(LONG_MS)) > LONG_MS - 1000, "usually an answer has its time");
    patience_until(deadline_in(10000));
    int64_t left = deadline_left_ms(patience_for(LONG_MS));
    ok(left > 9000 && left <= 10000, "in a call it has that of the call");
    left = deadline_left_ms(patience_for(200));
    ok(left > 0 && left <= 200, "or its own if that is shorter");
    patience_until(deadline_in(0));
    left = deadline_left_ms(patience_for(LONG_MS));
    ok(left > 0 && left < 1000, "after the end there is a moment left: %lld ms", (long long)left);
    patience_usual();
    ok(deadline_left_ms(patience_for(LONG_MS)) > LONG_MS - 1000, "later it is as before");
}

/* Returns when it stands. */
static void stop(pid_t host)
{
    kill(host, SIGSTOP);
    waitpid(host, NULL, WUNTRACED);
}

static muster_status ask(muster_store *store, int64_t *took_ms)
{
    int64_t sum, began = deadline_now_ns();
    muster_status status = muster_store_add(store, muster_str("n"), 1, &sum);
    *took_ms = ms_since(began);
    return status;
}

static void silence(void)
{
    pid_t host;
    int64_t took_ms;
    muster_store *store = mortal_store(ANSWER_MS, &host);
    is_int(ask(store, &took_ms), MUSTER_OK, "a store answers");
    stop(host);
    is_int(ask(store, &took_ms), MUSTER_ERR_TIMEOUT, "stopped it does not");
    has_str(muster_last_error(), "no answer to ADD in time", "the question is named");
    has_str(muster_last_error(), CUT_OFF, "and what may be the matter");
    ok(took_ms >= ANSWER_MS && took_ms < ANSWER_MS + 500, "which takes what an answer may take");
    int64_t began = deadline_now_ns();
    for (int i = 0; i < 3; i++)
        ask(store, &took_ms);
    has_str(muster_last_error(), "no answer to the greeting in time", "a new connection neither");
    has_str(muster_last_error(), CUT_OFF, "which is no sign of a stranger");
    ok(ms_since(began) < ANSWER_MS, "the next ones are not waited for as long: %lld ms",
       (long long)ms_since(began));
    kill(host, SIGCONT);
    muster_status status = MUSTER_ERR_TIMEOUT;
    for (int i = 0; i < 20 && status != MUSTER_OK; i++)
        status = ask(store, &took_ms);
    is_int(status, MUSTER_OK, "it goes on when the store does");
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    muster_store_free(store);
}

/* User case: the process that hosts the store is stopped, and the job's time-out is short. */
static void stopped_meeting(void)
{
    pid_t host;
    muster_group *group = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = mortal_store(LONG_MS, &host);
    args.world_size = 2;
    args.rank = 1;
    args.timeout_ms = GROUP_MS;
    stop(host);
    int64_t began = deadline_now_ns();
    is_int(muster_init_process_group(&group, &args), MUSTER_ERR_TIMEOUT,
           "no group is made over a store that is stopped");
    ok(ms_since(began) < GROUP_MS + LATE_MS, "by the time-out of the group: %lld ms",
       (long long)ms_since(began));
    has_str(muster_last_error(), "tcp store 127.0.0.1", "the store is named");
    ok(deadline_left_ms(patience_for(LONG_MS)) > LONG_MS - 1000, "and all is as before");
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    muster_store_free(args.store);
}

/* The other one comes, and the store stops while they wait for the third. */
static void stopped_later(void)
{
    pid_t host;
    muster_group *group = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = mortal_store(LONG_MS, &host);
    args.world_size = 2;
    args.rank = 0;
    args.timeout_ms = GROUP_MS;
    pid_t stopper = fork();
    if (stopper == 0) {
        nanosleep(&(struct timespec){0, 300000000}, NULL);
        _exit(kill(host, SIGSTOP) != 0);
    }
    int64_t began = deadline_now_ns();
    is_int(muster_init_process_group(&group, &args), MUSTER_ERR_TIMEOUT,
           "a store that stops under way ends it too");
    ok(ms_since(began) < GROUP_MS + LATE_MS, "in time: %lld ms", (long long)ms_since(began));
    has_str(muster_last_error(), "tcp store 127.0.0.1", "naming the store");
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    waitpid(stopper, NULL, 0);
    muster_store_free(args.store);
}

int main(void)
{
    plan(21);
    limits();
    silence();
    stopped_meeting();
    stopped_later();
    return done();
}
