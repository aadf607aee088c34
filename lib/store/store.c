/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_store_*: checks arguments against the limits, counts operations and calls the kind of
 * store at hand.
 */
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/blobs.h"
#include "base/error.h"

void store_init(muster_store *store, const store_ops *ops)
{
    store->ops = ops;
    atomic_init(&store->references, 1);
    atomic_init(&store->operations, 0);
}

muster_store *store_retain(muster_store *store)
{
    atomic_fetch_add(&store->references, 1);
    return store;
}

void muster_store_free(muster_store *store)
{
    if (store != NULL && atomic_fetch_sub(&store->references, 1) == 1)
        store->ops->destroy(store);
}

void muster_free(void *data)
{
    free(data);
}

long long store_operations(const muster_store *store)
{
    return atomic_load(&store->operations);
}

bool store_local_address(const muster_store *store, char *address, size_t size)
{
    return store->ops->local_address != NULL && store->ops->local_address(store, address, size);
}

bool store_served_here(const muster_store *store)
{
    return store->ops->served_here != NULL && store->ops->served_here(store);
}

bool store_wait_gone(muster_store *store, muster_blob key, deadline end)
{
    bool there = true;
    for (int64_t nap_us = 100; store->ops->check(store, &key, 1, &there) == MUSTER_OK && there;) {
        if (deadline_left_ms(end) == 0)
            return false;
        struct timespec nap = {0, (long)(nap_us * 1000)};
        nanosleep(&nap, NULL);
        nap_us = nap_us < 20000 ? nap_us * 2 : nap_us;
    }
    return !there;
}

int muster_store_port(const muster_store *store)
{
    return store == NULL || store->ops->port == NULL ? -1 : store->ops->port(store);
}

const char *store_describe(const muster_store *store)
{
    return store->ops->describe(store);
}

void store_missing_add(store_missing *missing, muster_blob key)
{
    if (missing->count < STORE_MAX_SHOWN)
        missing->first[missing->count] = key;
    missing->count++;
}

muster_status store_missing_error(const muster_store *store, const store_missing *missing,
                                  int64_t timeout_ms)
{
    char list[STORE_MAX_SHOWN * (BLOB_TEXT_SIZE + 4) + 32], name[BLOB_TEXT_SIZE];
    size_t used = 0, count = missing->count;
    for (size_t i = 0; i < count && i < STORE_MAX_SHOWN; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s'%s'", i == 0 ? "" : ", ",
                                 blob_text(missing->first[i], name));
    if (count > STORE_MAX_SHOWN)
        snprintf(list + used, sizeof(list) - used, " and %zu more", count - STORE_MAX_SHOWN);
    return error_set(MUSTER_ERR_TIMEOUT,
                     "%s: timed out after %" PRId64 " ms waiting for %s %s, which nobody has set",
                     store_describe(store), timeout_ms, count == 1 ? "key" : "keys", list);
}

/* ---- Checks -------------------------------------------------------------------------------- */

static muster_status check_pointers(const char *function, const muster_store *store, bool others)
{
    if (store == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: store is NULL", function);
    if (!others)
        return error_set(MUSTER_ERR_ARGUMENT, "%s on %s: a pointer for a result is NULL", function,
                         store_describe(store));
    return MUSTER_OK;
}

static muster_status check_blob(const char *function, const muster_store *store, const char *what,
                                muster_blob blob, size_t limit)
{
    if (blob.data == NULL && blob.size > 0)
        return error_set(MUSTER_ERR_ARGUMENT, "%s on %s: the %s has %zu bytes at NULL", function,
                         store_describe(store), what, blob.size);
    if (blob.size > limit)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s on %s: the %s has %zu bytes, and the most that a store takes is %zu",
                         function, store_describe(store), what, blob.size, limit);
    return MUSTER_OK;
}

static muster_status check_key(const char *function, const muster_store *store, muster_blob key)
{
    return check_blob(function, store, "key", key, STORE_MAX_KEY);
}

static muster_status check_value(const char *function, const muster_store *store, muster_blob value)
{
    return check_blob(function, store, "value", value, STORE_MAX_VALUE);
}

static muster_status check_keys(const char *function, const muster_store *store,
                                const muster_blob *keys, size_t num_keys)
{
    if (keys == NULL && num_keys > 0)
        return error_set(MUSTER_ERR_ARGUMENT, "%s on %s: %zu keys at NULL", function,
                         store_describe(store), num_keys);
    if (num_keys > STORE_MAX_KEYS)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s on %s: %zu keys, and the most that one call takes is %d", function,
                         store_describe(store), num_keys, STORE_MAX_KEYS);
    muster_status status = MUSTER_OK;
    for (size_t i = 0; i < num_keys && status == MUSTER_OK; i++)
        status = check_key(function, store, keys[i]);
    return status;
}

static muster_status check_timeout(const char *function, const muster_store *store,
                                   int64_t timeout_ms)
{
    if (timeout_ms < 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s on %s: the time-out is %" PRId64 " ms, which is negative", function,
                         store_describe(store), timeout_ms);
    return MUSTER_OK;
}

static const store_ops *operation(muster_store *store)
{
    atomic_fetch_add_explicit(&store->operations, 1, memory_order_relaxed);
    return store->ops;
}

/* ---- Operations ---------------------------------------------------------------------------- */

muster_status muster_store_set(muster_store *store, muster_blob key, muster_blob value)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, true);
    if (status == MUSTER_OK)
        status = check_key(__func__, store, key);
    if (status == MUSTER_OK)
        status = check_value(__func__, store, value);
    if (status == MUSTER_OK)
        status = operation(store)->set(store, key, value);
    return error_settle(&before, status);
}

muster_status muster_store_get(muster_store *store, muster_blob key, int64_t timeout_ms,
                               void **value, size_t *size)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, value != NULL && size != NULL);
    if (status == MUSTER_OK)
        status = check_key(__func__, store, key);
    if (status == MUSTER_OK)
        status = check_timeout(__func__, store, timeout_ms);
    if (status == MUSTER_OK)
        status = operation(store)->get(store, key, timeout_ms, value, size);
    return error_settle(&before, status);
}

muster_status muster_store_add(muster_store *store, muster_blob key, int64_t delta, int64_t *sum)
{
    int64_t unwanted;
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, true);
    if (status == MUSTER_OK)
        status = check_key(__func__, store, key);
    if (status == MUSTER_OK)
        status = operation(store)->add(store, key, delta, sum == NULL ? &unwanted : sum);
    return error_settle(&before, status);
}

muster_status muster_store_compare_set(muster_store *store, muster_blob key, muster_blob expected,
                                       muster_blob desired, void **value, size_t *size)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, value != NULL && size != NULL);
    if (status == MUSTER_OK)
        status = check_key(__func__, store, key);
    if (status == MUSTER_OK)
        status = check_value(__func__, store, expected);
    if (status == MUSTER_OK)
        status = check_value(__func__, store, desired);
    if (status == MUSTER_OK)
        status = operation(store)->compare_set(store, key, expected, desired, value, size);
    return error_settle(&before, status);
}

muster_status muster_store_check(muster_store *store, const muster_blob *keys, size_t num_keys,
                                 bool *all_there)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, all_there != NULL);
    if (status == MUSTER_OK)
        status = check_keys(__func__, store, keys, num_keys);
    if (status == MUSTER_OK)
        status = operation(store)->check(store, keys, num_keys, all_there);
    return error_settle(&before, status);
}

muster_status muster_store_wait(muster_store *store, const muster_blob *keys, size_t num_keys,
                                int64_t timeout_ms)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, true);
    if (status == MUSTER_OK)
        status = check_keys(__func__, store, keys, num_keys);
    if (status == MUSTER_OK)
        status = check_timeout(__func__, store, timeout_ms);
    if (status == MUSTER_OK)
        status = operation(store)->wait(store, keys, num_keys, timeout_ms);
    return error_settle(&before, status);
}

muster_status muster_store_delete(muster_store *store, muster_blob key, bool *existed)
{
    bool unwanted;
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, true);
    if (status == MUSTER_OK)
        status = check_key(__func__, store, key);
    if (status == MUSTER_OK)
        status = operation(store)->delete_key(store, key, existed == NULL ? &unwanted : existed);
    return error_settle(&before, status);
}

muster_status muster_store_num_keys(muster_store *store, int64_t *num_keys)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, num_keys != NULL);
    if (status == MUSTER_OK)
        status = operation(store)->num_keys(store, num_keys);
    return error_settle(&before, status);
}

muster_status muster_store_multi_get(muster_store *store, const muster_blob *keys, size_t num_keys,
                                     int64_t timeout_ms, muster_blob **values)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, values != NULL);
    if (status == MUSTER_OK)
        status = check_keys(__func__, store, keys, num_keys);
    if (status == MUSTER_OK)
        status = check_timeout(__func__, store, timeout_ms);
    if (status == MUSTER_OK)
        status = operation(store)->multi_get(store, keys, num_keys, timeout_ms, values);
    return error_settle(&before, status);
}

muster_status muster_store_multi_set(muster_store *store, const muster_blob *keys,
                                     const muster_blob *values, size_t num_keys)
{
    error_kept before;
    error_keep(&before);
    muster_status status = check_pointers(__func__, store, true);
    if (status == MUSTER_OK)
        status = check_keys(__func__, store, keys, num_keys);
    if (status == MUSTER_OK && values == NULL && num_keys > 0)
        status = error_set(MUSTER_ERR_ARGUMENT, "%s on %s: %zu values at NULL", __func__,
                           store_describe(store), num_keys);
    for (size_t i = 0; i < num_keys && status == MUSTER_OK; i++)
        status = check_value(__func__, store, values[i]);
    if (status == MUSTER_OK)
        status = operation(store)->multi_set(store, keys, values, num_keys);
    return error_settle(&before, status);
}
