/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store inside one process: a map, a lock, and a condition that every change signals.
 */
#include "store/store.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/blobs.h"
#include "base/deadline.h"
#include "base/error.h"
#include "store/value_map.h"

typedef struct hash_store {
    muster_store store;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on CLOCK_MONOTONIC */
    value_map values;
} hash_store;

static hash_store *hash_lock(muster_store *store)
{
    hash_store *hash = (hash_store *)store;
    pthread_mutex_lock(&hash->lock);
    return hash;
}

static muster_status hash_unlock(hash_store *hash, muster_status status)
{
    pthread_mutex_unlock(&hash->lock);
    return status;
}

static muster_status hash_unlock_changed(hash_store *hash, muster_status status)
{
    pthread_cond_broadcast(&hash->changed);
    return hash_unlock(hash, status);
}

static muster_status hash_missing(hash_store *hash, const muster_blob *keys, size_t num_keys,
                                  int64_t timeout_ms)
{
    store_missing missing = {0};
    for (size_t i = 0; i < num_keys; i++)
        if (value_map_missing(&hash->values, keys, i, i + 1) == i)
            store_missing_add(&missing, keys[i]);
    return store_missing_error(&hash->store, &missing, timeout_ms);
}

/* Called and returns with the lock held. */
static muster_status hash_wait_locked(hash_store *hash, const muster_blob *keys, size_t num_keys,
                                      int64_t timeout_ms)
{
    struct timespec end = deadline_timespec(deadline_in(timeout_ms));
    while (value_map_missing(&hash->values, keys, 0, num_keys) < num_keys)
        if (pthread_cond_timedwait(&hash->changed, &hash->lock, &end) == ETIMEDOUT &&
            value_map_missing(&hash->values, keys, 0, num_keys) < num_keys)
            return hash_missing(hash, keys, num_keys, timeout_ms);
    return MUSTER_OK;
}

static muster_status hash_set(muster_store *store, muster_blob key, muster_blob value)
{
    hash_store *hash = hash_lock(store);
    return hash_unlock_changed(hash, value_map_set(&hash->values, key, value));
}

static muster_status hash_get(muster_store *store, muster_blob key, int64_t timeout_ms,
                              void **value, size_t *size)
{
    hash_store *hash = hash_lock(store);
    muster_blob found;
    muster_status status = hash_wait_locked(hash, &key, 1, timeout_ms);
    if (status == MUSTER_OK && value_map_get(&hash->values, key, &found))
        status = blob_copy(found, value, size);
    return hash_unlock(hash, status);
}

static muster_status hash_add(muster_store *store, muster_blob key, int64_t delta, int64_t *sum)
{
    hash_store *hash = hash_lock(store);
    return hash_unlock_changed(hash, value_map_add(&hash->values, key, delta, sum));
}

static muster_status hash_compare_set(muster_store *store, muster_blob key, muster_blob expected,
                                      muster_blob desired, void **value, size_t *size)
{
    hash_store *hash = hash_lock(store);
    muster_blob now;
    bool changed;
    muster_status status =
        value_map_compare_set(&hash->values, key, expected, desired, &now, &changed);
    if (status == MUSTER_OK)
        status = blob_copy(now, value, size);
    return hash_unlock_changed(hash, status);
}

static muster_status hash_check(muster_store *store, const muster_blob *keys, size_t num_keys,
                                bool *all_there)
{
    hash_store *hash = hash_lock(store);
    *all_there = value_map_missing(&hash->values, keys, 0, num_keys) == num_keys;
    return hash_unlock(hash, MUSTER_OK);
}

static muster_status hash_wait(muster_store *store, const muster_blob *keys, size_t num_keys,
                               int64_t timeout_ms)
{
    hash_store *hash = hash_lock(store);
    return hash_unlock(hash, hash_wait_locked(hash, keys, num_keys, timeout_ms));
}

static muster_status hash_delete(muster_store *store, muster_blob key, bool *existed)
{
    hash_store *hash = hash_lock(store);
    *existed = value_map_delete(&hash->values, key);
    return hash_unlock(hash, MUSTER_OK);
}

static muster_status hash_num_keys(muster_store *store, int64_t *num_keys)
{
    hash_store *hash = hash_lock(store);
    *num_keys = (int64_t)value_map_count(&hash->values);
    return hash_unlock(hash, MUSTER_OK);
}

static muster_status hash_multi_get(muster_store *store, const muster_blob *keys, size_t num_keys,
                                    int64_t timeout_ms, muster_blob **values)
{
    hash_store *hash = hash_lock(store);
    muster_status status = hash_wait_locked(hash, keys, num_keys, timeout_ms);
    if (status == MUSTER_OK)
        status = value_map_pack(&hash->values, keys, num_keys, values);
    return hash_unlock(hash, status);
}

static muster_status hash_multi_set(muster_store *store, const muster_blob *keys,
                                    const muster_blob *values, size_t num_keys)
{
    hash_store *hash = hash_lock(store);
    muster_status status = MUSTER_OK;
    for (size_t i = 0; i < num_keys && status == MUSTER_OK; i++)
        status = value_map_set(&hash->values, keys[i], values[i]);
    return hash_unlock_changed(hash, status);
}

static const char *hash_describe(const muster_store *store)
{
    (void)store;
    return "hash store";
}

static void hash_destroy(muster_store *store)
{
    hash_store *hash = (hash_store *)store;
    value_map_free(&hash->values);
    pthread_cond_destroy(&hash->changed);
    pthread_mutex_destroy(&hash->lock);
    free(hash);
}

static const store_ops hash_ops = {
    .set = hash_set,
    .get = hash_get,
    .add = hash_add,
    .compare_set = hash_compare_set,
    .check = hash_check,
    .wait = hash_wait,
    .delete_key = hash_delete,
    .num_keys = hash_num_keys,
    .multi_get = hash_multi_get,
    .multi_set = hash_multi_set,
    .describe = hash_describe,
    .destroy = hash_destroy,
};

muster_status muster_store_hash(muster_store **store)
{
    if (store == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_store_hash: store is NULL");
    hash_store *hash = calloc(1, sizeof(*hash));
    if (hash == NULL)
        return error_no_memory(sizeof(*hash), "a hash store");
    pthread_mutex_init(&hash->lock, NULL);
    thread_condition_init(&hash->changed);
    store_init(&hash->store, &hash_ops);
    *store = &hash->store;
    return MUSTER_OK;
}
