/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an init_method, the arguments and the environment come to.
 */
#include "rendezvous_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "error.h"

enum { PLAN_MAX_JOB_ID = 512 };

/* One of the two numbers, and the places it may come from. */
typedef struct plan_number {
    const char *name;
    const char *variable;
    int low;
    int high;
    int argument; /* -1: not given, here and below */
    int query;
    bool environment; /* the variable counts */
} plan_number;

/* A variable that is set to nothing counts as not set. */
static const char *plan_variable(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static muster_status plan_check_argument(const plan_number *number)
{
    if (number->argument == -1 ||
        (number->argument >= number->low && number->argument <= number->high))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "%s is %d; expected a number from %d to %d, or -1 for what the init_method "
                     "says",
                     number->name, number->argument, number->low, number->high);
}

/* Argument, then query, then variable; those that are given must agree. *settled stays -1 where
 * none is. */
static muster_status plan_settle(const char *method, const plan_number *number, int *settled)
{
    *settled = number->argument != -1 ? number->argument : number->query;
    if (number->query != -1 && *settled != number->query)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s %d was passed, but init_method \"%.400s\" says %s=%d; give it once, "
                         "or the same in both",
                         number->name, *settled, method, number->name, number->query);
    const char *text = number->environment ? plan_variable(number->variable) : NULL;
    if (text == NULL)
        return MUSTER_OK;
    int value;
    if (!url_parse_number(text, number->low, number->high, &value))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says %s=\"%.100s\"; expected a number from %d to %d",
                         number->variable, text, number->low, number->high);
    if (*settled != -1 && *settled != value)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s %d was passed, but the environment says %s=%d; unset %s, or pass the "
                         "same",
                         number->name, *settled, number->variable, value, number->variable);
    *settled = value;
    return MUSTER_OK;
}

static muster_status plan_settle_both(const char *method, int rank, int world_size,
                                      rendezvous_plan *plan)
{
    bool environment = plan->where.kind == URL_ENV;
    plan_number ranks = {"rank", "RANK", 0, URL_MAX_WORLD - 1, rank, plan->where.rank, environment};
    plan_number sizes = {"world_size", "WORLD_SIZE",           1,          URL_MAX_WORLD,
                         world_size,   plan->where.world_size, environment};
    muster_status status = plan_settle(method, &ranks, &plan->rank);
    if (status == MUSTER_OK)
        status = plan_settle(method, &sizes, &plan->world_size);
    if (status != MUSTER_OK)
        return status;
    if (plan->world_size == 1 && plan->rank == -1)
        plan->rank = 0;
    if (plan->rank != -1 && plan->world_size != -1 && plan->rank >= plan->world_size)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "rank %d is outside of a world of %d, whose ranks are 0 to %d", plan->rank,
                         plan->world_size, plan->world_size - 1);
    return MUSTER_OK;
}

static void plan_add_name(char *names, size_t size, bool missing, const char *name)
{
    size_t used = strlen(names);
    if (missing)
        snprintf(names + used, size - used, "%s%s", used == 0 ? "" : ", ", name);
}

static muster_status plan_check_complete(const char *method, const rendezvous_plan *plan)
{
    char missing[128] = "";
    bool environment = plan->where.kind == URL_ENV;
    plan_add_name(missing, sizeof(missing), plan->rank == -1, environment ? "RANK" : "rank");
    plan_add_name(missing, sizeof(missing), plan->world_size == -1,
                  environment ? "WORLD_SIZE" : "world_size");
    if (environment) {
        plan_add_name(missing, sizeof(missing), plan_variable("MASTER_ADDR") == NULL,
                      "MASTER_ADDR");
        plan_add_name(missing, sizeof(missing), plan_variable("MASTER_PORT") == NULL,
                      "MASTER_PORT");
    }
    if (missing[0] == '\0')
        return MUSTER_OK;
    if (environment)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "init_method \"%.400s\": the environment lacks %s (an empty variable "
                         "counts as missing); start the program with a launcher such as muster-run "
                         "or torchrun, or set what is missing",
                         method, missing);
    return error_set(MUSTER_ERR_ARGUMENT,
                     "init_method \"%.400s\": missing: %s; pass it, or write it behind the URL as "
                     "in ?rank=0&world_size=2",
                     method, missing);
}

/* A host name or an address; IPv6 may stand in brackets, as in an URL. */
static bool plan_read_host(const char *text, char *host, size_t size)
{
    size_t length = strlen(text);
    bool brackets = text[0] == '[' && text[length - 1] == ']';
    int written = snprintf(host, size, "%.*s", (int)(brackets ? length - 2 : length),
                           text + (brackets ? 1 : 0));
    return written > 0 && (size_t)written < size;
}

static muster_status plan_read_master(url *where)
{
    const char *address = plan_variable("MASTER_ADDR");
    const char *port = plan_variable("MASTER_PORT");
    if (strlen(address) > 1024 || !plan_read_host(address, where->host, sizeof(where->host)))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says MASTER_ADDR=\"%.100s\"; expected a host name or "
                         "an address",
                         address);
    if (!url_parse_number(port, 1, 65535, &where->port))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says MASTER_PORT=\"%.100s\"; expected a number from 1 to "
                         "65535",
                         port);
    where->kind = URL_TCP;
    return MUSTER_OK;
}

/* Whether the server is run by torchrun's agent. The variable alone does not say so: a further
 * group with an address of its own has nobody but its rank 0 to run one. */
static bool plan_agent_hosts(const url *where)
{
    const char *flag = plan_variable("TORCHELASTIC_USE_AGENT_STORE");
    if (flag == NULL || strcmp(flag, "True") != 0 || plan_variable("MASTER_ADDR") == NULL ||
        plan_variable("MASTER_PORT") == NULL)
        return false;
    url agent;
    return plan_read_master(&agent) == MUSTER_OK && strcasecmp(agent.host, where->host) == 0 &&
           agent.port == where->port;
}

static muster_status plan_job_prefix(const char *job, bool attempts, char *prefix, size_t size)
{
    int attempt = 0;
    const char *count = attempts ? plan_variable("TORCHELASTIC_RESTART_COUNT") : NULL;
    if (count != NULL && !url_parse_number(count, 0, INT32_MAX, &attempt))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says TORCHELASTIC_RESTART_COUNT=\"%.100s\"; expected a "
                         "number",
                         count);
    if (job != NULL && strlen(job) > PLAN_MAX_JOB_ID)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the job id \"%.100s...\" has %zu characters, over %d", job, strlen(job),
                         (int)PLAN_MAX_JOB_ID);
    if (job != NULL && attempts)
        snprintf(prefix, size, "job/%s/attempt/%d", job, attempt);
    else if (job != NULL)
        snprintf(prefix, size, "job/%s", job);
    else if (attempt > 0)
        snprintf(prefix, size, "attempt/%d", attempt);
    return MUSTER_OK;
}

/* The launcher's server outlives a try, so the tries are told apart. One of rank 0 is new with
 * each, and there the count must not matter: torchrun's agents on several hosts count each for
 * itself. */
static muster_status plan_by_environment(rendezvous_plan *plan)
{
    muster_status status = plan_read_master(&plan->where);
    if (status != MUSTER_OK)
        return status;
    const char *job = plan_variable("MUSTER_JOB_ID");
    if (job == NULL)
        job = plan_variable("TORCHELASTIC_RUN_ID");
    return plan_job_prefix(job, plan_agent_hosts(&plan->where), plan->prefix, sizeof(plan->prefix));
}

/* env:// with one rank needs no address: nobody else comes. */
static bool plan_is_alone(rendezvous_plan *plan)
{
    if (plan->where.kind != URL_ENV)
        return false;
    if (plan->rank == -1 && plan->world_size == -1)
        plan->rank = 0, plan->world_size = 1;
    return plan->world_size == 1;
}

muster_status rendezvous_plan_make(const char *init_method, int rank, int world_size,
                                   rendezvous_plan *plan)
{
    const char *method = init_method == NULL ? "env://" : init_method;
    memset(plan, 0, sizeof(*plan));
    plan_number ranks = {"rank", NULL, 0, URL_MAX_WORLD - 1, rank, -1, false};
    plan_number sizes = {"world_size", NULL, 1, URL_MAX_WORLD, world_size, -1, false};
    muster_status status = plan_check_argument(&ranks);
    if (status == MUSTER_OK)
        status = plan_check_argument(&sizes);
    if (status == MUSTER_OK)
        status = url_parse(method, &plan->where);
    if (status == MUSTER_OK)
        status = plan_settle_both(method, rank, world_size, plan);
    if (status != MUSTER_OK)
        return status;
    plan->alone = plan_is_alone(plan);
    if (plan->alone)
        return MUSTER_OK;
    status = plan_check_complete(method, plan);
    if (status == MUSTER_OK && plan->where.kind == URL_ENV)
        status = plan_by_environment(plan);
    else if (status == MUSTER_OK && plan->where.kind == URL_FILE)
        status = plan_job_prefix(plan_variable("MUSTER_JOB_ID"), false, plan->prefix,
                                 sizeof(plan->prefix));
    if (status != MUSTER_OK)
        return status;
    plan->by_rank_0 = plan->where.kind == URL_TCP && !plan_agent_hosts(&plan->where);
    plan->hosts = plan->by_rank_0 && plan->rank == 0;
    return MUSTER_OK;
}
