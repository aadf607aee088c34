/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Key-value stores: how ranks find each other before they are connected, and where programs may
 * leave each other small values.
 *
 * Keys and values are bytes, zeros included: muster_str("key") is a C string as such. A store may
 * be shared by threads; a group that is made over a store keeps it alive by itself, so the caller
 * may free it at any time.
 *
 * Limits, the same for every kind: keys up to 8,191 bytes, prefixes included; values up to 8 MiB;
 * 131,072 keys in one call. What is over them is MUSTER_ERR_ARGUMENT.
 *
 * timeout_ms says how long to wait for keys, in milliseconds; 0 looks once. Never negative. Who
 * waits in vain gets MUSTER_ERR_TIMEOUT with the keys that nobody has set. Where the server of a
 * tcp store is gone every call is MUSTER_ERR_PEER_LOST, and where a file store's file has been
 * removed MUSTER_ERR_NOT_FOUND.
 */
#ifndef MUSTER_STORE_H
#define MUSTER_STORE_H

#include <muster/blob.h>
#include <muster/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_store muster_store;

/* ---- Opening one --------------------------------------------------------------------------- */

/* A store inside this process, for groups whose ranks are threads. */
MUSTER_API muster_status muster_store_hash(muster_store **store);

/* A store in one file on a folder that all ranks share, in the format of torch's FileStore. The
 * file is created where it is missing, for its user alone (mode 600), and stays; remove it when the
 * job is over. */
MUSTER_API muster_status muster_store_file(muster_store **store, const char *path);

typedef struct muster_tcp_store_args {
    size_t struct_size;
    /* Name or numeric address, IPv4 or IPv6; where to listen, and to connect to. */
    const char *host;
    int port;      /* 0 with listen: any free port, see muster_store_port */
    bool listen;   /* host the server in this process, on exactly that address; of a name on
                      all of its addresses that this host has, with one port */
    int listen_fd; /* a socket that listens already, or -1; a store that is made takes it over */
    int64_t timeout_ms; /* for connecting, and for each answer; > 0 */
    const char *secret; /* the job's, in place of MUSTER_JOB_SECRET; NULL: that, where it is set */
} muster_tcp_store_args;
#define MUSTER_TCP_STORE_ARGS_INIT                                                                 \
    {                                                                                              \
        sizeof(muster_tcp_store_args), NULL, 0, false, -1, 300000, NULL                            \
    }

/*
 * A store on a TCP server that speaks the protocol of torch's TCPStore. The server of a store that
 * is freed goes on in the background while other clients are connected, and ends with the last of
 * them or with the process.
 *
 * Torch has changed the protocol with 2.1 and with 2.2. Clients of every torch since 1.13 may come
 * to one server of muster at the same time. A client of muster finds out what the server speaks;
 * the environment variable MUSTER_STORE_FAMILY tells it instead (a version of torch: 1.13, 2.1,
 * 2.2), and is read when a store is opened. Who answers as no store does is MUSTER_ERR_PROTOCOL,
 * with what was answered. Each store that is opened counts itself in the server's key "init/", as
 * torch's clients do: a rank of torch that hosts waits until its world has come.
 *
 * Where there is a job secret, which is the argument secret, or else the environment variable
 * MUSTER_JOB_SECRET, client and server prove to each other that they know it before anything else
 * is said, and whoever does not, every client of torch included, is turned away;
 * MUSTER_ERR_MISMATCH for a client that has another one, or none, or one where the server has none.
 * It is read when a store is opened, and no copy of it is kept: 16 to 1,024 characters.
 * MUSTER_ERR_UNSUPPORTED where muster was built without libsodium. Nothing is encrypted by this;
 * README.md says under "Who gets in" what it protects and what not.
 */
MUSTER_API muster_status muster_store_tcp(muster_store **store, const muster_tcp_store_args *args);

/* The same store seen through a prefix: key k is "<prefix>/k" in parent. Keeps parent alive. */
MUSTER_API muster_status muster_store_prefix(muster_store **store, muster_store *parent,
                                             const char *prefix);

MUSTER_API void muster_store_free(muster_store *store);

/* The port of a tcp store (through prefixes too), or -1. */
MUSTER_API int muster_store_port(const muster_store *store);

/* ---- One key ------------------------------------------------------------------------------- */

/* Stores a copy of value at key, in place of what was there. */
MUSTER_API muster_status muster_store_set(muster_store *store, muster_blob key, muster_blob value);

/* Waits for key and returns its value, of *size bytes, in memory that muster_free() frees; *value
 * is never NULL. */
MUSTER_API muster_status muster_store_get(muster_store *store, muster_blob key, int64_t timeout_ms,
                                          void **value, size_t *size);

/* Adds delta to the decimal number at key, which counts as 0 where it is missing; *sum, where sum
 * is not NULL, is the result. MUSTER_ERR_ARGUMENT where key holds something else, or the sum does
 * not fit 64 bits. */
MUSTER_API muster_status muster_store_add(muster_store *store, muster_blob key, int64_t delta,
                                          int64_t *sum);

/*
 * Stores desired where key holds expected, or is missing and expected is empty. *value then is what
 * key holds afterwards (memory for muster_free), so the call changed something if that is desired.
 * Where key is missing and expected is not empty nothing is stored and *value is expected, as with
 * torch.
 */
MUSTER_API muster_status muster_store_compare_set(muster_store *store, muster_blob key,
                                                  muster_blob expected, muster_blob desired,
                                                  void **value, size_t *size);

/* Deletes key; *existed, where existed is not NULL, tells whether it was there. */
MUSTER_API muster_status muster_store_delete(muster_store *store, muster_blob key, bool *existed);

/* ---- Many keys ----------------------------------------------------------------------------- */

/* *all_there tells whether every one of the keys exists; true for none. */
MUSTER_API muster_status muster_store_check(muster_store *store, const muster_blob *keys,
                                            size_t num_keys, bool *all_there);

/* Waits until all keys exist; the sentence after MUSTER_ERR_TIMEOUT names those that are not
 * there. */
MUSTER_API muster_status muster_store_wait(muster_store *store, const muster_blob *keys,
                                           size_t num_keys, int64_t timeout_ms);

/* Waits for all keys and returns their values in one block of memory: values[i] points into it. The
 * one muster_free(*values) frees all of it. */
MUSTER_API muster_status muster_store_multi_get(muster_store *store, const muster_blob *keys,
                                                size_t num_keys, int64_t timeout_ms,
                                                muster_blob **values);

/* Stores values[i] at keys[i], for each of the num_keys. */
MUSTER_API muster_status muster_store_multi_set(muster_store *store, const muster_blob *keys,
                                                const muster_blob *values, size_t num_keys);

/* The number of keys in the store as a whole, also when asked through a prefix. */
MUSTER_API muster_status muster_store_num_keys(muster_store *store, int64_t *num_keys);

#ifdef __cplusplus
}
#endif
#endif
