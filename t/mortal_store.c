/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mortal_store.h"

#include <fcntl.h>
#include <unistd.h>

#include "tap.h"

/* Lasts no longer than a test may, whatever becomes of that. */
static void serve(int port_goes_to)
{
    enum { LONGEST_S = 60 };
    muster_store *store = NULL;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = "127.0.0.1";
    args.listen = true;
    if (muster_store_tcp(&store, &args) != MUSTER_OK)
        _exit(1);
    int port = muster_store_port(store);
    if (write(port_goes_to, &port, sizeof(port)) != sizeof(port))
        _exit(1);
    alarm(LONGEST_S);
    for (;;)
        pause();
}

muster_store *mortal_store(int64_t timeout_ms, pid_t *host)
{
    muster_store *store = NULL;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        bail_out("no pipe");
    *host = fork();
    if (*host == 0)
        serve(ends[1]);
    args.host = "127.0.0.1";
    args.timeout_ms = timeout_ms;
    close(ends[1]);
    if (read(ends[0], &args.port, sizeof(args.port)) != sizeof(args.port))
        bail_out("no process with a store");
    close(ends[0]);
    if (muster_store_tcp(&store, &args) != MUSTER_OK)
        bail_out("no store: %s", muster_last_error());
    return store;
}
