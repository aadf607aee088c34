/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Agreeing on rank 0's address through the launcher, once in a process.
 */
#include "config.h"

#include "launch/meeting.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "launch/meeting_address.h"
#include "launch/pmi1.h"
#include "launch/pmix_client.h"
#include "net/socket.h"
#include "tcp_store/store_tcp.h"
#include "base/thread.h"
#include "net/url.h"

/* The key under which rank 0 publishes, and what its value begins with where it can't. */
#define MEETING_KEY "muster-rank-0"
#define MEETING_FAILED "failed:"

typedef enum meeting_state { IDLE, BUSY, AGREED, FAILED } meeting_state;

/* What this process has agreed on. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    meeting_state state;
    pid_t pid; /* of BUSY */
    char host[256];
    int port;
    int size;             /* of the job, or -1 */
    muster_status status; /* of FAILED */
    char sentence[ERROR_SIZE];
    muster_store *server; /* rank 0: keeps it open until the process ends */
    pid_t server_pid;     /* whose it is: not a child's after a fork */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void process_start(void)
{
    thread_condition_init(&process.changed);
}

/* ---- What rank 0 publishes ----------------------------------------------------------------- */

/* Where rank 0 listens: as the user says, loopback where nobody else is elsewhere, or where others
 * may reach it. */
static muster_status own_host(const meeting *chosen, const launcher *found, char *host, size_t size)
{
    interface_address own;
    const launcher_names *names = &found->family->host;
    const char *name = launcher_variable(names->names[0]);
    if (name == NULL)
        name = launcher_variable(names->names[1]);
    if (chosen->host[0] != '\0' || launcher_one_host(found)) {
        snprintf(host, size, "%s", chosen->host[0] != '\0' ? chosen->host : "127.0.0.1");
        return MUSTER_OK;
    }
    muster_status status = meeting_own_address(name, &own);
    if (status != MUSTER_OK)
        return status;
    if (own.loopback)
        log_line(MUSTER_LOG_WARNING,
                 "rank 0 has no address but %s: ranks on other hosts can't reach it", own.address);
    snprintf(host, size, "%s", own.address);
    return MUSTER_OK;
}

static muster_status open_server(const meeting *chosen, const launcher *found, int64_t timeout_ms,
                                 char *host, size_t size)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    muster_status status = own_host(chosen, found, host, size);
    if (status != MUSTER_OK)
        return status;
    args.host = host;
    args.port = chosen->port;
    args.listen = true;
    args.timeout_ms = timeout_ms;
    process.server_pid = getpid();
    return store_tcp_open(&process.server, &args, " of rank 0", NULL);
}

/* Words for a protocol that ends values at blanks. */
static void without_blanks(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text <= ' ' || *text == '=')
            *text = '_';
}

/* Opens the server and writes "PORT,HOST", or why there is none. */
static muster_status offer(const meeting *chosen, const launcher *found, int64_t timeout_ms,
                           char *value, size_t size)
{
    char host[256];
    muster_status status = open_server(chosen, found, timeout_ms, host, sizeof(host));
    if (status == MUSTER_OK)
        snprintf(value, size, "%d,%s", muster_store_port(process.server), host);
    else
        snprintf(value, size, MEETING_FAILED "%.300s", muster_last_error());
    without_blanks(value);
    return status;
}

/* Reads what rank 0 has published. */
static muster_status take_offer(const char *value)
{
    char port[8];
    const char *comma = strchr(value, ',');
    if (strncmp(value, MEETING_FAILED, strlen(MEETING_FAILED)) == 0)
        return error_set(MUSTER_ERR_REMOTE, "rank 0 can't be met: %s",
                         value + strlen(MEETING_FAILED));
    if (comma != NULL && comma - value < (ptrdiff_t)sizeof(port) &&
        strlen(comma + 1) < sizeof(process.host)) {
        snprintf(port, sizeof(port), "%.*s", (int)(comma - value), value);
        snprintf(process.host, sizeof(process.host), "%s", comma + 1);
        if (process.host[0] != '\0' && url_parse_number(port, 1, 65535, &process.port))
            return MUSTER_OK;
    }
    return error_set(MUSTER_ERR_PROTOCOL, "rank 0 published \"%.100s\", which is no address",
                     value);
}

/* ---- The ways ------------------------------------------------------------------------------ */

static muster_status exchange_by_pmi1(const char *mine, int64_t timeout_ms, char *value,
                                      size_t size)
{
    pmi1 *session = malloc(sizeof(*session));
    if (session == NULL)
        return error_no_memory(sizeof(*session), "a PMI session");
    muster_status status = pmi1_open(session, timeout_ms);
    if (status == MUSTER_OK && mine != NULL)
        status = pmi1_put(session, MEETING_KEY, mine);
    if (status == MUSTER_OK)
        status = pmi1_barrier(session);
    if (status == MUSTER_OK)
        status = pmi1_get(session, MEETING_KEY, value, size);
    if (status == MUSTER_OK)
        status = pmi1_close(session);
    free(session);
    return status;
}

/* Rank 0 takes part even if it has no address to offer, so that the others hear why. */
static muster_status agree(const meeting *chosen, const launcher *found, int64_t timeout_ms)
{
    char mine[PMIX_CLIENT_MAX_VALUE], value[PMIX_CLIENT_MAX_VALUE], why[ERROR_SIZE];
    bool rank_0 = found->facts[LAUNCHER_RANK] == 0;
    muster_status offered =
        rank_0 ? offer(chosen, found, timeout_ms, mine, sizeof(mine)) : MUSTER_OK;
    snprintf(why, sizeof(why), "%s", muster_last_error());
    process.size = found->facts[LAUNCHER_SIZE];
    muster_status status =
        chosen->way == MEETING_PMI1
            ? exchange_by_pmi1(rank_0 ? mine : NULL, timeout_ms, value, sizeof(value))
            : pmix_client_exchange(MEETING_KEY, rank_0 ? mine : NULL, timeout_ms, value,
                                   process.size < 0 ? &process.size : NULL);
    if (offered != MUSTER_OK)
        return error_set(offered, "%s", why);
    return status == MUSTER_OK ? take_offer(value) : status;
}

/* ---- Once in a process --------------------------------------------------------------------- */

/* Waits while another thread does it; true where this one is to. The lock is held. */
static muster_status take_turn(deadline end, bool *mine)
{
    while (process.state == BUSY && process.pid == getpid())
        if (!thread_wait(&process.changed, &process.lock, end))
            return error_set(MUSTER_ERR_TIMEOUT,
                             "another thread of this process is agreeing on rank 0's address with "
                             "the other ranks");
    if (process.state == BUSY)
        return error_set(MUSTER_ERR_FORKED,
                         "this process was forked while its parent was agreeing on rank 0's "
                         "address; give the address by MASTER_ADDR and MASTER_PORT");
    *mine = process.state == IDLE;
    process.state = *mine ? BUSY : process.state;
    process.pid = getpid();
    return MUSTER_OK;
}

static void settle(muster_status status)
{
    process.state = status == MUSTER_OK ? AGREED : FAILED;
    process.status = status;
    if (status == MUSTER_OK)
        return;
    snprintf(process.sentence, sizeof(process.sentence), "%s", muster_last_error());
    muster_store_free(process.server);
    process.server = NULL;
}

static muster_status report(meeting *chosen, int *size)
{
    if (process.state == FAILED)
        return error_set(process.status, "%s", process.sentence);
    snprintf(chosen->host, sizeof(chosen->host), "%s", process.host);
    chosen->port = process.port;
    chosen->served_here = process.server != NULL && process.server_pid == getpid();
    if (*size < 0)
        *size = process.size;
    return MUSTER_OK;
}

muster_status meeting_agree(meeting *chosen, const launcher *found, int64_t timeout_ms, int *size)
{
    bool mine = false;
    pthread_once(&process_once, process_start);
    pthread_mutex_lock(&process.lock);
    muster_status status = take_turn(deadline_in(timeout_ms), &mine);
    if (status == MUSTER_OK && mine) {
        pthread_mutex_unlock(&process.lock);
        status = agree(chosen, found, timeout_ms);
        pthread_mutex_lock(&process.lock);
        settle(status);
        pthread_cond_broadcast(&process.changed);
    }
    if (status == MUSTER_OK)
        status = report(chosen, size);
    pthread_mutex_unlock(&process.lock);
    return status;
}
