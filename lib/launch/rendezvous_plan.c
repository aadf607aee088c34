/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an init_method, the arguments and the environment come to.
 */
#include "launch/rendezvous_plan.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

enum { PLAN_MAX_JOB_ID = 512 };

/* One of the two numbers, and the places it may come from. */
typedef struct plan_number {
    const char *name;
    const char *variable;
    int low;
    int high;
    int argument; /* -1: not given, here and below */
    int query;
    int said; /* by the variable */
} plan_number;

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
    int value = number->said;
    if (value == -1)
        return MUSTER_OK;
    if (*settled != -1 && *settled != value)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s %d was passed, but the environment says %s=%d; unset %s, or pass the "
                         "same",
                         number->name, *settled, number->variable, value, number->variable);
    *settled = value;
    return MUSTER_OK;
}

/* WORLD_SIZE or MUSTER_SIZE by itself belongs to no family: many batch scripts set it and leave the
 * rank to the launcher. It must not say another thing than what was found, and is all there is for
 * an Indexed Job. */
static muster_status plan_size_alone(rendezvous_plan *plan)
{
    static const char *const names[] = {"MUSTER_SIZE", "WORLD_SIZE"};
    for (size_t i = 0; i < 2; i++) {
        int *size = &plan->launcher.facts[LAUNCHER_SIZE], alone;
        const char **variable = &plan->launcher.variables[LAUNCHER_SIZE];
        muster_status status = launcher_number(names[i], 1, URL_MAX_WORLD, &alone);
        if (status != MUSTER_OK)
            return status;
        if (alone != -1 && *size != -1 && alone != *size)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "the environment says %s=%d, but also %s=%d; unset one of them",
                             *variable, *size, names[i], alone);
        if (alone != -1 && *size == -1)
            *size = alone, *variable = names[i];
    }
    return MUSTER_OK;
}

/* At another address a rank may be another one than the launcher's; only where nothing is said of
 * rank and size, they are those of the launcher. */
static muster_status plan_find_launcher(rendezvous_plan *plan, bool nothing_said)
{
    muster_status status = MUSTER_OK;
    for (int i = 0; i < LAUNCHER_NUM_FACTS; i++)
        plan->launcher.facts[i] = -1;
    if (plan->where.kind == URL_ENV || nothing_said)
        status = launcher_find(&plan->launcher);
    if (status == MUSTER_OK && plan->where.kind == URL_ENV)
        status = plan_size_alone(plan);
    return status;
}

static muster_status plan_settle_both(const char *method, int rank, int world_size,
                                      rendezvous_plan *plan)
{
    bool nothing_said =
        rank == -1 && world_size == -1 && plan->where.rank == -1 && plan->where.world_size == -1;
    muster_status status = plan_find_launcher(plan, nothing_said);
    if (status != MUSTER_OK)
        return status;
    const launcher *found = &plan->launcher;
    plan_number ranks = {
        "rank",           found->variables[LAUNCHER_RANK], 0, URL_MAX_WORLD - 1, rank,
        plan->where.rank, found->facts[LAUNCHER_RANK]};
    plan_number sizes = {
        "world_size",           found->variables[LAUNCHER_SIZE], 1, URL_MAX_WORLD, world_size,
        plan->where.world_size, found->facts[LAUNCHER_SIZE]};
    status = plan_settle(method, &ranks, &plan->rank);
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

static muster_status plan_refuse_environment(const char *method, const rendezvous_plan *plan,
                                             const char *missing)
{
    const launcher_family *family = plan->launcher.family;
    const launcher_family *behind = launcher_behind(family);
    if (behind != NULL && family->loose)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "init_method \"%.400s\": the environment lacks %s (an empty variable "
                         "counts as missing); for %s to say who this process is, unset %s",
                         method, missing, behind->name, launcher_mark(family));
    if (family == NULL || family->ways == 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "init_method \"%.400s\": the environment lacks %s (an empty variable "
                         "counts as missing); start the program with a launcher such as muster-run "
                         "or torchrun, or set what is missing",
                         method, missing);
    return error_set(
        MUSTER_ERR_ARGUMENT,
        "init_method \"%.400s\": started by %s, and the environment lacks %s (an empty "
        "variable counts as missing)%s%s; set what is missing",
        method, family->name, missing,
        plan->meeting.others[0] == '\0' ? "" : "; the ways to do without: ", plan->meeting.others);
}

static muster_status plan_check_complete(const char *method, const rendezvous_plan *plan)
{
    char missing[128] = "";
    bool environment = plan->where.kind == URL_ENV;
    plan_add_name(missing, sizeof(missing), plan->rank == -1, environment ? "RANK" : "rank");
    plan_add_name(missing, sizeof(missing),
                  plan->world_size == -1 && plan->meeting.way != MEETING_PMIX,
                  environment ? "WORLD_SIZE" : "world_size");
    if (environment && plan->meeting.way == MEETING_NOWHERE) {
        plan_add_name(missing, sizeof(missing), launcher_variable("MASTER_ADDR") == NULL,
                      "MASTER_ADDR");
        plan_add_name(missing, sizeof(missing), launcher_variable("MASTER_PORT") == NULL,
                      "MASTER_PORT");
    }
    if (missing[0] == '\0')
        return MUSTER_OK;
    if (environment)
        return plan_refuse_environment(method, plan, missing);
    return error_set(MUSTER_ERR_ARGUMENT,
                     "init_method \"%.400s\": missing: %s; pass it, write it behind the URL as in "
                     "?rank=0&world_size=2, or start the program with a launcher",
                     method, missing);
}

static muster_status plan_read_address(const char *address_name, const char *port_name, url *where)
{
    muster_status status = launcher_host(address_name, where->host, sizeof(where->host));
    if (status == MUSTER_OK)
        status = launcher_number(port_name, 1, 65535, &where->port);
    if (status != MUSTER_OK)
        return status;
    where->kind = URL_TCP;
    return MUSTER_OK;
}

static muster_status plan_read_master(url *where)
{
    return plan_read_address("MASTER_ADDR", "MASTER_PORT", where);
}

/* Whether the server is run by torchrun's agent. The variable alone does not say so: a further
 * group with an address of its own has nobody but its rank 0 to run one. */
static bool plan_agent_hosts(const url *where)
{
    const char *flag = launcher_variable("TORCHELASTIC_USE_AGENT_STORE");
    if (flag == NULL || strcmp(flag, "True") != 0 || launcher_variable("MASTER_ADDR") == NULL ||
        launcher_variable("MASTER_PORT") == NULL)
        return false;
    url agent;
    return plan_read_master(&agent) == MUSTER_OK && strcasecmp(agent.host, where->host) == 0 &&
           agent.port == where->port;
}

static muster_status plan_job_prefix(const char *job, bool attempts, int attempt, char *prefix,
                                     size_t size)
{
    if (job != NULL && strlen(job) > PLAN_MAX_JOB_ID)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the job id \"%.100s...\" has %zu characters, over %d", job, strlen(job),
                         (int)PLAN_MAX_JOB_ID);
    if (job != NULL && attempts)
        snprintf(prefix, size, "job/%s/attempt/%d", job, attempt);
    else if (job != NULL)
        snprintf(prefix, size, "job/%s", job);
    else if (attempts && attempt > 0)
        snprintf(prefix, size, "attempt/%d", attempt);
    return MUSTER_OK;
}

/* Whether the tries of a job are told apart: a scheduler's, which all ranks count alike, and
 * torchrun's where the launcher's server outlives a try. One of rank 0 is new with each, and there
 * the count must not matter: torchrun's agents on several hosts count each for itself. Where no
 * launcher is found, rank and world size having been passed, torchrun's variables count. */
static bool plan_counts_attempts(const rendezvous_plan *plan)
{
    const launcher_family *family = plan->launcher.family;
    if (family == NULL || family->loose)
        return plan_agent_hosts(&plan->where);
    return family->attempt != NULL;
}

static muster_status plan_environment_prefix(rendezvous_plan *plan)
{
    const launcher_family *family = plan->launcher.family;
    const char *job = launcher_variable("MUSTER_JOB_ID");
    bool attempts = plan_counts_attempts(plan);
    int attempt = -1;
    muster_status status = MUSTER_OK;
    if (attempts)
        status = launcher_number(family == NULL ? "TORCHELASTIC_RESTART_COUNT" : family->attempt, 0,
                                 INT32_MAX, &attempt);
    if (job == NULL && family == NULL)
        job = launcher_variable("TORCHELASTIC_RUN_ID");
    else if (job == NULL && plan->launcher.job[0] != '\0')
        job = plan->launcher.job;
    if (status != MUSTER_OK)
        return status;
    return plan_job_prefix(job, attempts, attempt < 0 ? 0 : attempt, plan->prefix,
                           sizeof(plan->prefix));
}

static muster_status plan_by_environment(rendezvous_plan *plan)
{
    muster_status status = MUSTER_OK;
    if (plan->meeting.way == MEETING_GIVEN) {
        status = plan_read_address(plan->meeting.host_variable, plan->meeting.port_variable,
                                   &plan->where);
    } else {
        plan->where.kind = URL_TCP;
        snprintf(plan->where.host, sizeof(plan->where.host), "%s", plan->meeting.host);
        plan->where.port = plan->meeting.port;
    }
    return status == MUSTER_OK ? plan_environment_prefix(plan) : status;
}

/* env:// with one rank needs no address: nobody else comes. */
static bool plan_is_alone(rendezvous_plan *plan)
{
    if (plan->where.kind != URL_ENV)
        return false;
    if (plan->rank == -1 && plan->world_size == -1)
        plan->rank = 0, plan->world_size = 1, plan->assumed = true;
    return plan->world_size == 1;
}

muster_status rendezvous_plan_make(const char *init_method, int rank, int world_size,
                                   rendezvous_plan *plan)
{
    const char *method = init_method == NULL ? "env://" : init_method;
    memset(plan, 0, sizeof(*plan));
    plan_number ranks = {"rank", NULL, 0, URL_MAX_WORLD - 1, rank, -1, -1};
    plan_number sizes = {"world_size", NULL, 1, URL_MAX_WORLD, world_size, -1, -1};
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
        return meeting_check();
    if (plan->where.kind == URL_ENV)
        status = meeting_choose(&plan->launcher, &plan->meeting);
    if (status == MUSTER_OK)
        status = plan_check_complete(method, plan);
    if (status == MUSTER_OK && plan->where.kind == URL_ENV)
        status = plan_by_environment(plan);
    else if (status == MUSTER_OK && plan->where.kind == URL_FILE)
        status = plan_job_prefix(launcher_variable("MUSTER_JOB_ID"), false, 0, plan->prefix,
                                 sizeof(plan->prefix));
    if (status != MUSTER_OK)
        return status;
    plan->by_rank_0 = plan->where.kind == URL_TCP && !plan_agent_hosts(&plan->where);
    plan->hosts = plan->by_rank_0 && plan->rank == 0 && plan->meeting.way != MEETING_PMI1 &&
                  plan->meeting.way != MEETING_PMIX;
    return MUSTER_OK;
}
