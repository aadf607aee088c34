/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A store seen through a prefix: key k is "<prefix>/k" in the store below.
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

typedef struct prefix_store {
    muster_store store;
    muster_store *parent;
    char *description;
    size_t size;   /* of the prefix with its slash */
    char prefix[]; /* ends with the slash; not ended by a zero */
} prefix_store;

static muster_store *parent_of(muster_store *store)
{
    return ((prefix_store *)store)->parent;
}

/*
 * keys with the prefix in front, in one block with their bytes behind them, for free(). That a key
 * has become too long is for the store below to say, but not before it has room here.
 */
static muster_status prefix_keys(muster_store *store, const muster_blob *keys, size_t num_keys,
                                 muster_blob **prefixed)
{
    const prefix_store *prefix = (const prefix_store *)store;
    size_t total = (num_keys + 1) * sizeof(muster_blob);
    for (size_t i = 0; i < num_keys; i++)
        total += prefix->size + keys[i].size;
    muster_blob *block = malloc(total);
    if (block == NULL)
        return error_no_memory(total, "keys with a prefix");
    char *at = (char *)(block + num_keys);
    for (size_t i = 0; i < num_keys; i++) {
        block[i] = (muster_blob){at, prefix->size + keys[i].size};
        memcpy(at, prefix->prefix, prefix->size);
        if (keys[i].size > 0)
            memcpy(at + prefix->size, keys[i].data, keys[i].size);
        at += block[i].size;
    }
    *prefixed = block;
    return MUSTER_OK;
}

static muster_status prefix_set(muster_store *store, muster_blob key, muster_blob value)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, &key, 1, &full);
    if (status == MUSTER_OK)
        status = muster_store_set(parent_of(store), full[0], value);
    free(full);
    return status;
}

static muster_status prefix_get(muster_store *store, muster_blob key, int64_t timeout_ms,
                                void **value, size_t *size)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, &key, 1, &full);
    if (status == MUSTER_OK)
        status = muster_store_get(parent_of(store), full[0], timeout_ms, value, size);
    free(full);
    return status;
}

static muster_status prefix_add(muster_store *store, muster_blob key, int64_t delta, int64_t *sum)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, &key, 1, &full);
    if (status == MUSTER_OK)
        status = muster_store_add(parent_of(store), full[0], delta, sum);
    free(full);
    return status;
}

static muster_status prefix_compare_set(muster_store *store, muster_blob key, muster_blob expected,
                                        muster_blob desired, void **value, size_t *size)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, &key, 1, &full);
    if (status == MUSTER_OK)
        status =
            muster_store_compare_set(parent_of(store), full[0], expected, desired, value, size);
    free(full);
    return status;
}

static muster_status prefix_check(muster_store *store, const muster_blob *keys, size_t num_keys,
                                  bool *all_there)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, keys, num_keys, &full);
    if (status == MUSTER_OK)
        status = muster_store_check(parent_of(store), full, num_keys, all_there);
    free(full);
    return status;
}

static muster_status prefix_wait(muster_store *store, const muster_blob *keys, size_t num_keys,
                                 int64_t timeout_ms)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, keys, num_keys, &full);
    if (status == MUSTER_OK)
        status = muster_store_wait(parent_of(store), full, num_keys, timeout_ms);
    free(full);
    return status;
}

static muster_status prefix_delete(muster_store *store, muster_blob key, bool *existed)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, &key, 1, &full);
    if (status == MUSTER_OK)
        status = muster_store_delete(parent_of(store), full[0], existed);
    free(full);
    return status;
}

static muster_status prefix_num_keys(muster_store *store, int64_t *num_keys)
{
    return muster_store_num_keys(parent_of(store), num_keys);
}

static muster_status prefix_multi_get(muster_store *store, const muster_blob *keys, size_t num_keys,
                                      int64_t timeout_ms, muster_blob **values)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, keys, num_keys, &full);
    if (status == MUSTER_OK)
        status = muster_store_multi_get(parent_of(store), full, num_keys, timeout_ms, values);
    free(full);
    return status;
}

static muster_status prefix_multi_set(muster_store *store, const muster_blob *keys,
                                      const muster_blob *values, size_t num_keys)
{
    muster_blob *full = NULL;
    muster_status status = prefix_keys(store, keys, num_keys, &full);
    if (status == MUSTER_OK)
        status = muster_store_multi_set(parent_of(store), full, values, num_keys);
    free(full);
    return status;
}

static const char *prefix_describe(const muster_store *store)
{
    return ((const prefix_store *)store)->description;
}

static int prefix_port(const muster_store *store)
{
    return muster_store_port(((const prefix_store *)store)->parent);
}

static bool prefix_local_address(const muster_store *store, char *address, size_t size)
{
    return store_local_address(((const prefix_store *)store)->parent, address, size);
}

static bool prefix_served_here(const muster_store *store)
{
    return store_served_here(((const prefix_store *)store)->parent);
}

static void prefix_destroy(muster_store *store)
{
    prefix_store *prefix = (prefix_store *)store;
    muster_store_free(prefix->parent);
    free(prefix->description);
    free(prefix);
}

static const store_ops prefix_ops = {
    .set = prefix_set,
    .get = prefix_get,
    .add = prefix_add,
    .compare_set = prefix_compare_set,
    .check = prefix_check,
    .wait = prefix_wait,
    .delete_key = prefix_delete,
    .num_keys = prefix_num_keys,
    .multi_get = prefix_multi_get,
    .multi_set = prefix_multi_set,
    .describe = prefix_describe,
    .port = prefix_port,
    .local_address = prefix_local_address,
    .served_here = prefix_served_here,
    .destroy = prefix_destroy,
};

muster_status muster_store_prefix(muster_store **store, muster_store *parent, const char *prefix)
{
    if (store == NULL || parent == NULL || prefix == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_store_prefix: %s is NULL",
                         store == NULL    ? "store"
                         : parent == NULL ? "parent"
                                          : "prefix");
    size_t length = strlen(prefix);
    if (length >= STORE_MAX_KEY)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_store_prefix: the prefix has %zu bytes, and keys have at most %d",
                         length, STORE_MAX_KEY);
    const char *words = " with prefix ";
    size_t described = strlen(store_describe(parent)) + strlen(words) + length + 1;
    prefix_store *made = malloc(sizeof(*made) + length + 1);
    char *description = malloc(described);
    if (made == NULL || description == NULL) {
        free(made);
        free(description);
        return error_no_memory(sizeof(*made) + length + described, "a prefix store");
    }
    snprintf(description, described, "%s%s%s", store_describe(parent), words, prefix);
    store_init(&made->store, &prefix_ops);
    made->parent = store_retain(parent);
    made->description = description;
    made->size = length + 1;
    memcpy(made->prefix, prefix, length);
    made->prefix[length] = '/';
    *store = &made->store;
    return MUSTER_OK;
}
