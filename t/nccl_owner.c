/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread of a device: turns of its members, being given up, being replaced, and what is known
 * of aborts. Needs no device.
 */
#include "config.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/host.h"
#include "nccl_api.h"
#include "owner.h"
#include "tap.h"

typedef struct member {
    owner_member base; /* first */
    atomic_int steps;
    atomic_int late;
    atomic_bool hang; /* the next step does, until it is false */
    atomic_bool inside;
    bool renew;
    int64_t pause_ns;
    _Atomic pthread_t thread; /* of the last step */
} member;

static atomic_int device_set = -1;

static cuda_error set_device(int device)
{
    atomic_store(&device_set, device);
    return CUDA_OK;
}

static const cuda_api cuda = {.set_device = set_device};

static void nap(int ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

static int64_t step(owner_member *base)
{
    member *me = (member *)base;
    me->thread = pthread_self();
    atomic_store(&me->inside, true);
    while (atomic_load(&me->hang))
        nap(1);
    if (me->renew) {
        me->renew = false;
        owner_renew();
    }
    atomic_fetch_add(&me->steps, 1);
    atomic_store(&me->inside, false);
    return me->pause_ns;
}

static void late(owner_member *base)
{
    atomic_fetch_add(&((member *)base)->late, 1);
}

static const member fresh = {.base = {.step = step, .late = late}, .pause_ns = 3600000000000};

static bool await_steps(member *of, int least)
{
    deadline end = deadline_in(patient(5000));
    while (atomic_load(&of->steps) < least && deadline_left_ms(end) > 0)
        nap(1);
    return atomic_load(&of->steps) >= least;
}

static int count_threads(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

static bool await_threads(int most)
{
    deadline end = deadline_in(patient(5000));
    while (count_threads() > most && deadline_left_ms(end) > 0)
        nap(1);
    return count_threads() <= most;
}

static deadline soon(void)
{
    return deadline_in(patient(5000));
}

/* ---- the tests ---- */

static void test_turns(void)
{
    member a = fresh, b = fresh;
    int before = count_threads();
    owner *of = owner_of(&cuda, 3);
    ok(of != NULL && owner_of(&cuda, 3) == of, "a device has one record");
    ok(owner_of(&cuda, 4) != of, "another one has another");
    is_int(owner_join(of, &a.base), MUSTER_OK, "a member joins");
    ok(await_steps(&a, 1), "and has its turn");
    is_int(atomic_load(&device_set), 3, "on a thread that has the device");
    nap(20);
    is_int(atomic_load(&a.steps), 1, "the next one is when it said");
    owner_poke(&a.base);
    ok(await_steps(&a, 2), "or when it is poked");
    b.pause_ns = 1000000;
    owner_join(of, &b.base);
    ok(await_steps(&b, 5), "another member has its turns");
    ok(pthread_equal(a.thread, b.thread), "on the same thread");
    ok(owner_leave(&b.base, soon()) && owner_leave(&a.base, soon()), "they leave");
    ok(await_threads(before), "and the thread ends");
    int steps = atomic_load(&b.steps);
    nap(10);
    is_int(atomic_load(&b.steps), steps, "who has left has no more turns");
}

static void test_given_up(void)
{
    member stuck = fresh, other = fresh;
    int before = count_threads();
    owner *of = owner_of(&cuda, 3);
    stuck.hang = true;
    other.pause_ns = 1000000;
    owner_join(of, &stuck.base);
    while (!atomic_load(&stuck.inside))
        nap(1);
    owner_join(of, &other.base);
    nap(10);
    is_int(atomic_load(&other.steps), 0, "one that does not come back keeps all others waiting");
    int64_t start = deadline_now_ns();
    ok(!owner_leave(&stuck.base, deadline_in(50)), "it is given up");
    ok(deadline_now_ns() - start < patient(1000) * 1000000, "in time");
    ok(await_steps(&other, 2), "the others go on, on another thread");
    ok(!owner_is_sound(of), "who knows what it still touches");
    is_int(atomic_load(&stuck.late), 0, "it still hangs");
    atomic_store(&stuck.hang, false);
    deadline end = soon();
    while (atomic_load(&stuck.late) == 0 && deadline_left_ms(end) > 0)
        nap(1);
    is_int(atomic_load(&stuck.late), 1, "when it comes back after all it is told");
    ok(pthread_equal(stuck.thread, other.thread) == 0, "it was another thread");
    ok(owner_is_sound(of), "nothing hangs any more");
    ok(owner_leave(&other.base, soon()), "the other one leaves");
    ok(await_threads(before), "and no thread is left");
}

/* Users are counted beyond their leaving. */
static void test_users(void)
{
    member a = fresh, b = fresh;
    owner *of = owner_of(&cuda, 5);
    ok(owner_is_idle(of) && owner_is_sound(of), "nobody makes use of a device");
    owner_join(of, &a.base);
    owner_join(of, &b.base);
    ok(owner_leave(&a.base, soon()) && owner_leave(&b.base, soon()), "two join and leave");
    ok(!owner_is_idle(of), "they may still be busy with it");
    ok(!owner_done(of), "one is done");
    ok(owner_done(of) && owner_is_idle(of), "and the last one");
}

static void *let_go(void *argument)
{
    nap(100);
    atomic_store(&((member *)argument)->hang, false);
    return NULL;
}

/* Leaving waits for the step that runs. */
static void test_patience(void)
{
    member slow = fresh;
    pthread_t thread;
    slow.hang = true;
    owner_join(owner_of(&cuda, 3), &slow.base);
    while (!atomic_load(&slow.inside))
        nap(1);
    pthread_create(&thread, NULL, let_go, &slow);
    ok(owner_leave(&slow.base, soon()), "a step that is slow is waited for");
    ok(!atomic_load(&slow.inside), "until it has ended");
    pthread_join(thread, NULL);
}

static void test_renewed(void)
{
    member a = fresh;
    int before = count_threads();
    owner_join(owner_of(&cuda, 3), &a.base);
    await_steps(&a, 1);
    pthread_t first = a.thread;
    a.renew = true;
    owner_poke(&a.base);
    await_steps(&a, 2);
    owner_poke(&a.base);
    ok(await_steps(&a, 3), "the member has its turns");
    ok(!pthread_equal(first, a.thread), "on a new thread");
    ok(owner_leave(&a.base, soon()) && await_threads(before), "and no thread is left");
}

static void *end_abort(void *argument)
{
    nap(50);
    owner_abort_end(argument);
    return NULL;
}

static void test_aborts(void)
{
    pthread_t thread;
    owner *of = owner_of(&cuda, 3);
    ok(owner_await_aborts(of, deadline_in(0)), "no abort runs");
    owner_abort_begin(of);
    ok(!owner_await_aborts(of, deadline_in(20)), "one does");
    pthread_create(&thread, NULL, end_abort, of);
    ok(owner_await_aborts(of, soon()), "and ends");
    pthread_join(thread, NULL);
}

/* The child has no thread for the device any more, and gets one. */
static int in_child(member *a)
{
    member b = fresh;
    owner *of = owner_of(&cuda, 3);
    if (!owner_leave(&a->base, deadline_in(1000)))
        return 1;
    if (owner_join(of, &b.base) != MUSTER_OK || !await_steps(&b, 1))
        return 2;
    return owner_leave(&b.base, soon()) ? 0 : 3;
}

static void test_fork(void)
{
    member a = fresh;
    owner_join(owner_of(&cuda, 3), &a.base);
    await_steps(&a, 1);
#ifdef __SANITIZE_THREAD__
    (void)in_child;
    skip(1, "ThreadSanitizer lets no child start threads");
#else
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(in_child(&a));
    waitpid(child, &status, 0);
    is_int(status, 0, "a child of fork is not held up");
#endif
    owner_poke(&a.base);
    ok(await_steps(&a, 2), "the parent goes on");
    owner_leave(&a.base, soon());
}

int main(void)
{
    plan(12 + 11 + 5 + 2 + 3 + 3 + 2);
    nccl_host = &host_functions;
    pthread_t first;
    pthread_create(&first, NULL, let_go, &(member){.hang = true});
    pthread_join(first, NULL);
    test_turns();
    test_given_up();
    test_users();
    test_patience();
    test_renewed();
    test_aborts();
    test_fork();
    return done();
}
