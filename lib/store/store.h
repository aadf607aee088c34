/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every kind of key-value store fills in, and what muster_store_* call.
 */
#ifndef MUSTER_LIB_STORE_H
#define MUSTER_LIB_STORE_H

#include <stdatomic.h>

#include "base/deadline.h"
#include "muster.h"

/* Limits that hold for every kind, so that what works on one works on all: those of torch's server,
 * which counts the "/" that goes in front of a key. */
enum { STORE_MAX_KEY = 8191, STORE_MAX_VALUE = 8 << 20, STORE_MAX_KEYS = 131072 };

/* One kind of store. The arguments have been checked against the limits; every slot is filled, but
 * for port, local_address and served_here where there is no such thing. */
typedef struct store_ops {
    muster_status (*set)(muster_store *store, muster_blob key, muster_blob value);
    muster_status (*get)(muster_store *store, muster_blob key, int64_t timeout_ms, void **value,
                         size_t *size);
    muster_status (*add)(muster_store *store, muster_blob key, int64_t delta, int64_t *sum);
    muster_status (*compare_set)(muster_store *store, muster_blob key, muster_blob expected,
                                 muster_blob desired, void **value, size_t *size);
    muster_status (*check)(muster_store *store, const muster_blob *keys, size_t num_keys,
                           bool *all_there);
    muster_status (*wait)(muster_store *store, const muster_blob *keys, size_t num_keys,
                          int64_t timeout_ms);
    muster_status (*delete_key)(muster_store *store, muster_blob key, bool *existed);
    muster_status (*num_keys)(muster_store *store, int64_t *num_keys);
    muster_status (*multi_get)(muster_store *store, const muster_blob *keys, size_t num_keys,
                               int64_t timeout_ms, muster_blob **values);
    muster_status (*multi_set)(muster_store *store, const muster_blob *keys,
                               const muster_blob *values, size_t num_keys);
    const char *(*describe)(const muster_store *store);
    int (*port)(const muster_store *store);
    bool (*local_address)(const muster_store *store, char *address, size_t size);
    bool (*served_here)(const muster_store *store);
    void (*destroy)(muster_store *store);
} store_ops;

/* Every kind's struct begins with this. */
struct muster_store {
    const store_ops *ops;
    atomic_int references;
    atomic_llong operations; /* made through this handle */
};

void store_init(muster_store *store, const store_ops *ops);

/* A further owner; muster_store_free() gives one up. */
muster_store *store_retain(muster_store *store);

/* Operations made through this handle, for what making a group costs. */
long long store_operations(const muster_store *store);

/* The numeric local address from which this process reaches the server of a tcp store, through
 * prefixes too; false for other kinds. */
bool store_local_address(const muster_store *store, char *address, size_t size);

/* The store's server ends with this process, so that others lose it then; through prefixes too. */
bool store_served_here(const muster_store *store);

/* Waits until key is gone, by looks that do not count as operations: what they cost is time. False
 * where it is still there when the time is over, or can't be looked for. */
bool store_wait_gone(muster_store *store, muster_blob key, deadline end);

/* A name for messages: "tcp store 127.0.0.1:29500", "file store /tmp/x". Lives as long as the
 * store. */
const char *store_describe(const muster_store *store);

/* Keys waited for in vain: how many, and the first of them, which a sentence names. */
enum { STORE_MAX_SHOWN = 8 };
typedef struct store_missing {
    size_t count;
    muster_blob first[STORE_MAX_SHOWN];
} store_missing;

void store_missing_add(store_missing *missing, muster_blob key);

/* MUSTER_ERR_TIMEOUT with the sentence that names them. */
muster_status store_missing_error(const muster_store *store, const store_missing *missing,
                                  int64_t timeout_ms);

#endif
