/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what a client of a tcp store is answered. The first byte is the family, and whether
 * there is a job secret; the second says how many operations there are, each a byte. Then comes
 * what is sent on each connection: two bytes for its size, and its bytes. A connection is a pair of
 * sockets here, whose other end has said all that it is going to say.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "fuzz.h"
#include "net/socket.h"
#include "tcp_store/job_secret.h"
#include "tcp_store/store_tcp.h"

enum { CONNECTIONS = 6, OPERATIONS = 8, PATIENCE_MS = 2000 };

static fuzz_bytes answers;
static int far_ends[CONNECTIONS], connections;

void __wrap_job_secret_draw(unsigned char nonce[JOB_SECRET_NONCE]);
void __wrap_job_secret_draw(unsigned char nonce[JOB_SECRET_NONCE])
{
    memset(nonce, 'n', JOB_SECRET_NONCE);
}

void __wrap_socket_back_off(int *delay_ms, deadline end);
void __wrap_socket_back_off(int *delay_ms, deadline end)
{
    (void)delay_ms;
    (void)end;
}

muster_status __wrap_socket_connect(const socket_address *addresses, size_t num, bool retry,
                                    deadline end, const char *what, int *fd);
muster_status __wrap_socket_connect(const socket_address *addresses, size_t num, bool retry,
                                    deadline end, const char *what, int *fd)
{
    (void)addresses, (void)num, (void)retry, (void)end;
    int ends[2];
    if (connections == CONNECTIONS)
        return error_set(MUSTER_ERR_SYSTEM, "%s: no more connections", what);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    size_t size = fuzz_byte(&answers);
    fuzz_bytes now = fuzz_take(&answers, size | (size_t)fuzz_byte(&answers) << 8);
    if (now.size > 0 && write(ends[1], now.data, now.size) != (ssize_t)now.size)
        abort();
    shutdown(ends[1], SHUT_WR);
    far_ends[connections++] = ends[1];
    *fd = ends[0];
    return MUSTER_OK;
}

static void get(muster_store *store, muster_blob key)
{
    void *value = NULL;
    size_t size = 0;
    if (muster_store_get(store, key, PATIENCE_MS, &value, &size) == MUSTER_OK)
        fuzz_hold(value != NULL && size <= STORE_MAX_VALUE, "a value has its bytes");
    muster_free(value);
}

static void compare(muster_store *store, muster_blob key)
{
    void *value = NULL;
    size_t size = 0;
    if (muster_store_compare_set(store, key, muster_str("a"), muster_str("b"), &value, &size) ==
        MUSTER_OK)
        fuzz_hold(value != NULL && size <= STORE_MAX_VALUE, "a value has its bytes");
    muster_free(value);
}

static void get_many(muster_store *store, const muster_blob *keys, size_t num)
{
    muster_blob *values = NULL;
    size_t sum = 0;
    if (muster_store_multi_get(store, keys, num, PATIENCE_MS, &values) == MUSTER_OK)
        for (size_t i = 0; i < num; i++)
            for (size_t b = 0; b < values[i].size; b++)
                sum += ((const unsigned char *)values[i].data)[b];
    fuzz_hold(sum < SIZE_MAX, "every byte of the values can be read");
    muster_free(values);
}

static void operate(muster_store *store, int operation)
{
    const muster_blob keys[] = {muster_str("key"), muster_str("other"), muster_str("")};
    int64_t number;
    bool there;
    switch (operation % 9) {
    case 0:
        muster_store_set(store, keys[0], muster_str("value"));
        break;
    case 1:
        get(store, keys[0]);
        break;
    case 2:
        muster_store_add(store, keys[0], 1, &number);
        break;
    case 3:
        compare(store, keys[0]);
        break;
    case 4:
        muster_store_check(store, keys, 2, &there);
        break;
    case 5:
        muster_store_wait(store, keys, 2, PATIENCE_MS);
        break;
    case 6:
        muster_store_delete(store, keys[0], &there);
        break;
    case 7:
        muster_store_num_keys(store, &number);
        break;
    default:
        get_many(store, keys, 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const families[] = {"", "1.13", "2.1", "2.2"};
    fuzz_bytes input = {data, size};
    int mode = fuzz_byte(&input);
    fuzz_bytes operations = fuzz_take(&input, fuzz_byte(&input) % (OPERATIONS + 1));
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    muster_store *store = NULL;
    args.host = "127.0.0.1";
    args.port = 29500;
    args.timeout_ms = PATIENCE_MS;
    answers = input;
    connections = 0;
    setenv("MUSTER_STORE_FAMILY", families[mode % 4], 1);
    if (mode & 4)
        setenv("MUSTER_JOB_SECRET", "the secret of the fuzz target", 1);
    else
        unsetenv("MUSTER_JOB_SECRET");
    if (muster_store_tcp(&store, &args) == MUSTER_OK) {
        for (size_t i = 0; i < operations.size; i++)
            operate(store, operations.data[i]);
        muster_store_free(store);
    }
    for (int i = 0; i < connections; i++)
        close(far_ends[i]);
    return 0;
}
