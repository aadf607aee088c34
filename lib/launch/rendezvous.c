/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks meet: opens the store that the plan says.
 */
#include "launch/rendezvous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "net/interface.h"
#include "base/log.h"
#include "launch/meeting_address.h"
#include "launch/rendezvous_plan.h"
#include "net/socket.h"
#include "tcp_store/store_tcp.h"

/* All interfaces, because the user asked for it by this very address. */
static bool rendezvous_is_wildcard(const char *host)
{
    static const unsigned char zeros[16];
    interface_number number;
    return interface_parse_number(host, &number) && memcmp(number.bytes, zeros, sizeof(zeros)) == 0;
}

/* The server's address must be one of this machine; to find that out by a failed bind would leave
 * the user with "cannot assign requested address". */
static muster_status rendezvous_check_host(const rendezvous_plan *plan)
{
    const char *host = plan->where.host;
    interface_address address;
    interface_number number;
    if (rendezvous_is_wildcard(host))
        return MUSTER_OK;
    muster_status status = interface_of_address(host, AF_UNSPEC, &address);
    if (status != MUSTER_OK)
        return error_prefix(status, "rank 0 is to serve port %d of an address of its own machine: ",
                            plan->where.port);
    if (address.loopback && plan->world_size > 1 && !interface_parse_number(host, &number) &&
        strcasecmp(host, "localhost") != 0)
        log_line(MUSTER_LOG_WARNING,
                 "\"%s\" is %s on the machine of rank 0: ranks on other hosts can't reach the "
                 "store; give an address that they can",
                 host, address.address);
    return MUSTER_OK;
}

static muster_status rendezvous_open_tcp(const rendezvous_plan *plan, int64_t timeout_ms,
                                         muster_store **store)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = plan->where.host;
    args.port = plan->where.port;
    args.listen = plan->hosts;
    args.timeout_ms = timeout_ms;
    muster_status status = plan->hosts ? rendezvous_check_host(plan) : MUSTER_OK;
    if (status != MUSTER_OK)
        return status;
    bool reached;
    status = store_tcp_open(store, &args, plan->by_rank_0 ? " of rank 0" : "", &reached);
    if (status == MUSTER_OK || reached || plan->hosts || !plan->by_rank_0)
        return status;
    return error_set(status, "%s; see whether rank 0 runs and this is its address",
                     muster_last_error());
}

static muster_status rendezvous_open(const rendezvous_plan *plan, int64_t timeout_ms,
                                     muster_store **store)
{
    if (plan->alone)
        return muster_store_hash(store);
    if (plan->where.kind == URL_FILE)
        return muster_store_file(store, plan->where.path);
    return rendezvous_open_tcp(plan, timeout_ms, store);
}

static muster_status rendezvous_wrap(const char *prefix, muster_store **store)
{
    muster_store *inner = *store;
    if (prefix[0] == '\0')
        return MUSTER_OK;
    muster_status status = muster_store_prefix(store, inner, prefix);
    if (status != MUSTER_OK)
        *store = NULL;
    muster_store_free(inner); /* the prefix keeps it alive */
    return status;
}

/* A name that only the launcher knows may not be in the DNS yet. Rank 0 does not wait: it is to be
 * on that host, and knows its addresses. */
static muster_status rendezvous_await_name(const rendezvous_plan *plan, deadline end,
                                           bool *resolves)
{
    int delay_ms = 10;
    int64_t given_ms = deadline_left_ms(end);
    for (;;) {
        socket_address *addresses = NULL;
        size_t num = 0;
        muster_status status = socket_resolve(plan->where.host, plan->where.port, &addresses, &num);
        free(addresses);
        *resolves = status == MUSTER_OK;
        if (status == MUSTER_OK || status == MUSTER_ERR_NO_MEMORY)
            return status;
        if (plan->hosts)
            return MUSTER_OK;
        if (deadline_left_ms(end) == 0)
            return error_set(MUSTER_ERR_TIMEOUT,
                             "%s, tried for %.3g s; it is %s: see that the name resolves, "
                             "or set MUSTER_MASTER_ADDR and MUSTER_MASTER_PORT",
                             muster_last_error(), (double)given_ms / 1000, plan->meeting.how);
        socket_back_off(&delay_ms, end);
    }
}

/* On the first host itself its name may lead to loopback, as the hosts file of many systems has it.
 * All ranks there take the same other address instead, which other hosts reach. */
static muster_status rendezvous_find_host(rendezvous_plan *plan, deadline end)
{
    interface_address own;
    bool resolves = false;
    muster_status status = rendezvous_await_name(plan, end, &resolves);
    if (status != MUSTER_OK)
        return status;
    if (resolves) {
        status = interface_of_address(plan->where.host, AF_UNSPEC, &own);
        if (status != MUSTER_OK && plan->hosts)
            return error_prefix(status,
                                "rank 0 is to be on the host that its launcher names first: ");
        if (status != MUSTER_OK || !own.loopback)
            return MUSTER_OK;
    }
    status = meeting_own_address(NULL, &own);
    if (status == MUSTER_OK)
        snprintf(plan->where.host, sizeof(plan->where.host), "%s", own.address);
    return status;
}

/* Fills in what the environment alone does not say. */
static muster_status rendezvous_find_rank_0(rendezvous_plan *plan, deadline end)
{
    meeting *way = &plan->meeting;
    if (way->derived)
        return rendezvous_find_host(plan, end);
    if (way->way != MEETING_PMI1 && way->way != MEETING_PMIX)
        return MUSTER_OK;
    muster_status status =
        meeting_agree(way, &plan->launcher, deadline_left_ms(end), &plan->world_size);
    if (status != MUSTER_OK)
        return status;
    snprintf(plan->where.host, sizeof(plan->where.host), "%s", way->host);
    plan->where.port = way->port;
    plan->hosts = way->served_here; /* shares that server */
    if (plan->rank < plan->world_size)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s is rank %d, but PMIx says that the job has %d ranks",
                     plan->launcher.family->name, plan->rank, plan->world_size);
}

/* Whoever says where rank 0 is did not mean a world of one. */
static void rendezvous_log_alone(const rendezvous_plan *plan)
{
    const char *set = launcher_variable("MASTER_ADDR") != NULL   ? "MASTER_ADDR"
                      : launcher_variable("MASTER_PORT") != NULL ? "MASTER_PORT"
                                                                 : NULL;
    if (plan->assumed && set != NULL)
        log_line(MUSTER_LOG_WARNING,
                 "a world of one, though %s is set: neither RANK and WORLD_SIZE nor a launcher's "
                 "variables say who this process is",
                 set);
}

static void rendezvous_log(const rendezvous_plan *plan)
{
    rendezvous_log_alone(plan);
    if (plan->meeting.way != MEETING_NOWHERE)
        log_line(MUSTER_LOG_INFO, "rank %d of %d by %s; rank 0 is found at %s port %d, by %s",
                 plan->rank, plan->world_size,
                 plan->launcher.family == NULL ? "arguments" : launcher_name(&plan->launcher),
                 plan->where.host, plan->where.port, plan->meeting.how);
}

muster_status rendezvous_join(const char *init_method, int rank, int world_size, int64_t timeout_ms,
                              rendezvous *result)
{
    if (result == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "a rendezvous needs a place for its result");
    *result = (rendezvous){.rank = -1, .world_size = -1};
    if (timeout_ms <= 0)
        return error_set(MUSTER_ERR_ARGUMENT, "the time-out is %lld ms; expected a positive number",
                         (long long)timeout_ms);
    rendezvous_plan plan;
    muster_status status = rendezvous_plan_make(init_method, rank, world_size, &plan);
    if (status != MUSTER_OK)
        return status;
    muster_store *store = NULL;
    deadline end = deadline_in(timeout_ms);
    status = rendezvous_find_rank_0(&plan, end);
    if (status == MUSTER_OK) {
        rendezvous_log(&plan);
        int64_t left = deadline_left_ms(end);
        status = rendezvous_open(&plan, left > 0 ? left : 1, &store);
    }
    if (status == MUSTER_OK)
        status = rendezvous_wrap(plan.prefix, &store);
    if (status != MUSTER_OK)
        return error_prefix(status, "rank %d of %d, init_method \"%.400s\": ", plan.rank,
                            plan.world_size, init_method == NULL ? "env://" : init_method);
    *result = (rendezvous){store, plan.rank, plan.world_size, plan.launcher};
    return MUSTER_OK;
}
