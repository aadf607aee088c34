/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one client of a store does while it is measured. store_torch.py has the same for torch.
 */
#include "config.h"

#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 48 };

const char *const store_task_names[STORE_NUM_TASKS] = {
#define STORE_TASK_NAME(name, word) word,
    STORE_TASK_MAP(STORE_TASK_NAME)
#undef STORE_TASK_NAME
};

typedef struct work {
    muster_store *store;
    const store_crew *crew;
    muster_blob mine, theirs; /* keys */
    muster_blob value;
    long long round;
} work;

static bool work_set(work *one, long long i)
{
    (void)i;
    return muster_store_set(one->store, one->mine, one->value) == MUSTER_OK;
}

static bool work_get(work *one, long long i)
{
    void *value = NULL;
    size_t size;
    (void)i;
    if (muster_store_get(one->store, one->theirs, one->crew->timeout_ms, &value, &size) !=
        MUSTER_OK)
        return false;
    muster_free(value);
    return true;
}

static bool work_add(work *one, long long i)
{
    int64_t sum;
    (void)i;
    return muster_store_add(one->store, muster_str("sum"), 1, &sum) == MUSTER_OK;
}

static bool work_mix(work *one, long long i)
{
    bool there;
    if (i % 2 == 0)
        return muster_store_check(one->store, &one->theirs, 1, &there) == MUSTER_OK;
    return muster_store_wait(one->store, &one->theirs, 1, one->crew->timeout_ms) == MUSTER_OK;
}

static muster_blob work_key(char text[KEY_SIZE], long long round, long long client)
{
    snprintf(text, KEY_SIZE, "share/%lld/%lld", round, client);
    return muster_str(text);
}

static bool work_get_all(work *one)
{
    size_t count = (size_t)one->crew->clients;
    muster_blob *keys = calloc(count, sizeof(*keys)), *values = NULL;
    char(*texts)[KEY_SIZE] = calloc(count, sizeof(*texts));
    bool good = keys != NULL && texts != NULL;
    for (size_t i = 0; good && i < count; i++)
        keys[i] = work_key(texts[i], one->round, (long long)i);
    good = good && muster_store_multi_get(one->store, keys, count, one->crew->timeout_ms,
                                          &values) == MUSTER_OK;
    muster_free(values);
    free(texts);
    free(keys);
    return good;
}

static bool work_share(work *one, long long client)
{
    char text[KEY_SIZE];
    return muster_store_set(one->store, work_key(text, one->round, client), one->value) ==
               MUSTER_OK &&
           work_get_all(one);
}

bool store_work(muster_store *store, const store_crew *crew, long long client, store_task task,
                long long operations, long long round)
{
    static bool (*const tasks[])(work * one, long long i) = {[STORE_SET] = work_set,
                                                             [STORE_GET] = work_get,
                                                             [STORE_ADD] = work_add,
                                                             [STORE_MIX] = work_mix};
    char mine[KEY_SIZE], theirs[KEY_SIZE];
    snprintf(mine, sizeof(mine), "set/%lld", client);
    snprintf(theirs, sizeof(theirs), "set/%lld", (client + 1) % crew->clients);
    void *bytes = calloc(1, (size_t)crew->value_size + 1);
    if (bytes == NULL)
        return false;
    work one = {
        store, crew, muster_str(mine), muster_str(theirs), {bytes, (size_t)crew->value_size},
        round};
    bool good = task != STORE_SHARE || work_share(&one, client);
    for (long long i = 0; good && task != STORE_SHARE && i < operations; i++)
        good = tasks[task](&one, i);
    free(bytes);
    return good;
}
