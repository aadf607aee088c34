/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations for tests of a group's queue.
 */
#include "gated_work.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

muster_group group;

/* A gate that operations wait at. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_open;

void set_gate(bool value)
{
    pthread_mutex_lock(&lock);
    is_open = value;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

atomic_int seen[WORK_MANY];
atomic_int num_seen;

muster_status note(muster_group *of, void *arguments)
{
    int number;
    memcpy(&number, arguments, sizeof(number));
    seen[num_seen++] = number;
    return of == &group ? MUSTER_OK : error_set(MUSTER_ERR_INTERNAL, "another group");
}

muster_status nothing(muster_group *of, void *arguments)
{
    (void)of;
    (void)arguments;
    return MUSTER_OK;
}

muster_status wait_at_gate(muster_group *of, void *arguments)
{
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return note(of, arguments);
}

muster_status fail(muster_group *of, void *arguments)
{
    (void)of;
    return error_set(MUSTER_ERR_PEER_LOST, "it was %s", (const char *)arguments);
}

bool in_order(int count)
{
    bool right = num_seen == count;
    for (int i = 0; i < count && right; i++)
        right = seen[i] == i;
    num_seen = 0;
    return right;
}

void *open_later(void *unused)
{
    struct timespec moment = {0, SHORT_MS * 1000000};
    nanosleep(&moment, NULL);
    set_gate(true);
    return unused;
}
