/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The servers that muster-perf store measures: muster's, and torch's in a Python process.
 */
#include "config.h"

#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store_torch.h"

static double serve_seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int store_serve(const void *context)
{
    const store_crew *crew = context;
    char line[64];
    muster_store *store = NULL;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = "127.0.0.1";
    args.listen = true;
    args.timeout_ms = crew->timeout_ms;
    if (muster_store_tcp(&store, &args) != MUSTER_OK) {
        printf("!%s\n", muster_last_error());
        return EXIT_FAILURE;
    }
    printf("%d 0 muster %s\n", muster_store_port(store), PACKAGE_VERSION);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        printf("%.6f 0\n", serve_seconds(used.ru_utime) + serve_seconds(used.ru_stime));
        fflush(stdout);
    }
    muster_store_free(store);
    return EXIT_SUCCESS;
}

/* The program's own output is the line to the conductor. */
static int serve_python(const store_crew *crew, const char *role)
{
    char port[16], clients[16], size[24], seconds[24];
    snprintf(port, sizeof(port), "%d", crew->port);
    snprintf(clients, sizeof(clients), "%lld", crew->clients);
    snprintf(size, sizeof(size), "%lld", crew->value_size);
    snprintf(seconds, sizeof(seconds), "%lld", (long long)(crew->timeout_ms / 1000 + 1));
    execlp(crew->python, crew->python, "-c", store_torch_script, role, port, clients, size, seconds,
           (char *)NULL);
    printf("!it can't be run: %s\n", strerror(errno));
    return EXIT_FAILURE;
}

int store_torch_serve(const void *crew)
{
    return serve_python(crew, "serve");
}

int store_torch_clients(const void *crew)
{
    return serve_python(crew, "clients");
}
