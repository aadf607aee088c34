/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding the launcher: which family of variables is there, and whether it makes sense.
 */
#include "config.h"

#include "launch/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/slurm_nodes.h"
#include "net/url.h"

const char *launcher_variable(const char *name)
{
    const char *value = name == NULL ? NULL : getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

/* Which of the names counts; NULL where none is set. */
static const char *first_set(const launcher_names *names)
{
    for (size_t i = 0; i < 2; i++)
        if (launcher_variable(names->names[i]) != NULL)
            return names->names[i];
    return NULL;
}

muster_status launcher_number(const char *name, int low, int high, int *number)
{
    const char *text = launcher_variable(name);
    *number = -1;
    if (text == NULL || url_parse_number(text, low, high, number))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "the environment says %s=\"%.100s\"; expected a number from %d to %d", name,
                     text, low, high);
}

muster_status launcher_host(const char *name, char *host, size_t size)
{
    const char *text = launcher_variable(name);
    size_t length = text == NULL ? 0 : strlen(text);
    bool brackets = length > 0 && text[0] == '[' && text[length - 1] == ']';
    size_t kept = brackets ? length - 2 : length;
    host[0] = '\0';
    if (text == NULL)
        return MUSTER_OK;
    if (kept == 0 || kept >= size)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says %s=\"%.100s\"; expected a host name or an address",
                         name, text);
    memcpy(host, text + brackets, kept);
    host[kept] = '\0';
    return MUSTER_OK;
}

/* ---- Which family is there ----------------------------------------------------------------- */

/* A step that was started with srun --mpi=pmix is Slurm's, and so are its variables. Under another
 * launcher in a Slurm job they are those of its daemon. */
static bool is_slurms_pmix(const launcher_family *family)
{
    const char *space = launcher_variable("PMIX_NAMESPACE");
    return strcmp(family->name, "PMIx") == 0 && space != NULL &&
           strncmp(space, "slurm.pmix.", strlen("slurm.pmix.")) == 0;
}

/* The first variable of the family that is set though the family is not there. */
static const char *left_over(const launcher_family *family)
{
    for (int i = 0; i < LAUNCHER_NUM_FACTS; i++) {
        const char *name = first_set(&family->facts[i]);
        if (name != NULL)
            return name;
    }
    return NULL;
}

bool launcher_is_there(const launcher_family *family, char *words, size_t size)
{
    bool there = first_set(&family->mark) != NULL && !is_slurms_pmix(family);
    const char *other = left_over(family);
    if (words == NULL || size == 0)
        return there;
    words[0] = '\0';
    if (there)
        return true;
    if (other == NULL)
        snprintf(words, size, "%s is not set", family->mark.names[0]);
    else
        snprintf(words, size, "%s=%.40s is set, but %s is %s%s%s", other, launcher_variable(other),
                 family->mark.names[0],
                 first_set(&family->mark) == NULL ? "not set" : "not its own",
                 family->note == NULL ? "" : "; ", family->note == NULL ? "" : family->note);
    return false;
}

const launcher_family *launcher_behind(const launcher_family *family)
{
    bool passed = false;
    for (size_t i = 0; i < launcher_num_families; i++) {
        if (passed && launcher_is_there(&launcher_families[i], NULL, 0))
            return &launcher_families[i];
        passed = passed || &launcher_families[i] == family;
    }
    return NULL;
}

const char *launcher_mark(const launcher_family *family)
{
    return first_set(&family->mark);
}

/* ---- What it says -------------------------------------------------------------------------- */

/* Counts are from 1, ranks from 0. */
static bool is_count(int fact)
{
    return fact == LAUNCHER_SIZE || fact == LAUNCHER_LOCAL_SIZE || fact == LAUNCHER_NUM_NODES;
}

static muster_status read_facts(launcher *found)
{
    muster_status status = MUSTER_OK;
    for (int i = 0; i < LAUNCHER_NUM_FACTS && status == MUSTER_OK; i++) {
        found->variables[i] = first_set(&found->family->facts[i]);
        status = launcher_number(found->variables[i], is_count(i) ? 1 : 0,
                                 is_count(i) ? URL_MAX_WORLD : URL_MAX_WORLD - 1, &found->facts[i]);
    }
    return status;
}

/* Slurm says how many tasks each node has, and which node this is. */
static muster_status read_slurm_tasks(launcher *found)
{
    const char *tasks = launcher_variable("SLURM_STEP_TASKS_PER_NODE");
    if (strcmp(found->family->name, "Slurm") != 0 || tasks == NULL ||
        found->facts[LAUNCHER_NODE_RANK] < 0)
        return MUSTER_OK;
    muster_status status = slurm_nodes_tasks(tasks, found->facts[LAUNCHER_NODE_RANK],
                                             &found->facts[LAUNCHER_LOCAL_SIZE]);
    found->variables[LAUNCHER_LOCAL_SIZE] = "SLURM_STEP_TASKS_PER_NODE";
    return status == MUSTER_OK ? status : error_prefix(status, "SLURM_STEP_TASKS_PER_NODE: ");
}

static muster_status check_whole(const launcher *found)
{
    const launcher_family *family = found->family;
    for (int i = LAUNCHER_RANK; i <= LAUNCHER_SIZE; i++) {
        const launcher_names *lacking = &family->facts[i];
        if (found->facts[i] >= 0 || lacking->names[0] == NULL || family->loose)
            continue;
        const char *given = first_set(&family->mark);
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says %s=%.100s but not %s, which go together (%s): set "
                         "both or none",
                         given, launcher_variable(given), lacking->names[0], family->name);
    }
    return MUSTER_OK;
}

/* fact a must be less than b, or at most b. */
static muster_status check_pair(const launcher *found, launcher_fact a, launcher_fact b,
                                bool may_be_equal, const char *why)
{
    int low = found->facts[a], high = found->facts[b];
    if (low < 0 || high < 0 || low < high || (may_be_equal && low == high))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "the environment says %s=%d and %s=%.100s; %s %d %s %d",
                     found->variables[a], low, found->variables[b],
                     launcher_variable(found->variables[b]), why, low,
                     may_be_equal ? "is more than" : "is outside of", high);
}

static muster_status check_sense(const launcher *found)
{
    int rank = found->facts[LAUNCHER_RANK], size = found->facts[LAUNCHER_SIZE];
    if (rank >= 0 && size >= 0 && rank >= size)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says %s=%d and %s=%d; rank %d is outside of a world of "
                         "%d, whose ranks are 0 to %d",
                         found->variables[LAUNCHER_RANK], rank, found->variables[LAUNCHER_SIZE],
                         size, rank, size, size - 1);
    muster_status status =
        check_pair(found, LAUNCHER_LOCAL_RANK, LAUNCHER_LOCAL_SIZE, false, "local rank");
    if (status == MUSTER_OK)
        status = check_pair(found, LAUNCHER_LOCAL_SIZE, LAUNCHER_SIZE, true, "a local size of");
    if (status == MUSTER_OK)
        status = check_pair(found, LAUNCHER_NODE_RANK, LAUNCHER_NUM_NODES, false, "node");
    if (status == MUSTER_OK)
        status = check_pair(found, LAUNCHER_NUM_NODES, LAUNCHER_SIZE, true, "a number of nodes of");
    return status;
}

static muster_status read_job(launcher *found)
{
    const launcher_names *job = &found->family->job;
    const char *first = launcher_variable(job->names[0]);
    const char *second = launcher_variable(job->names[1]);
    if (first != NULL && strlen(first) + (second == NULL ? 0 : strlen(second)) >= LAUNCHER_MAX_JOB)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says %s=\"%.40s...\" with %zu characters, over %d",
                         job->names[0], first, strlen(first), (int)LAUNCHER_MAX_JOB);
    snprintf(found->job, sizeof(found->job), "%s%s%s", first == NULL ? "" : first,
             first != NULL && second != NULL ? "." : "",
             first == NULL || second == NULL ? "" : second);
    return MUSTER_OK;
}

muster_status launcher_find(launcher *found)
{
    memset(found, 0, sizeof(*found));
    for (int i = 0; i < LAUNCHER_NUM_FACTS; i++)
        found->facts[i] = -1;
    for (size_t i = 0; i < launcher_num_families && found->family == NULL; i++)
        if (launcher_is_there(&launcher_families[i], NULL, 0))
            found->family = &launcher_families[i];
    if (found->family == NULL)
        return MUSTER_OK;
    muster_status status = read_facts(found);
    if (status == MUSTER_OK)
        status = check_whole(found);
    if (status == MUSTER_OK)
        status = read_slurm_tasks(found);
    if (status == MUSTER_OK)
        status = check_sense(found);
    return status == MUSTER_OK ? read_job(found) : status;
}

/* muster-run sets torch's names, and that it hosts the store and names the job, as torchrun does,
 * which has an id of its own for a run. */
const char *launcher_name(const launcher *found)
{
    if (found->family == NULL)
        return "";
    if (strcmp(found->family->job.names[0] == NULL ? "" : found->family->job.names[0],
               "TORCHELASTIC_RUN_ID") == 0 &&
        found->job[0] == '\0' && launcher_variable("MUSTER_JOB_ID") != NULL &&
        launcher_variable("TORCHELASTIC_USE_AGENT_STORE") != NULL)
        return "muster-run";
    return found->family->name;
}

bool launcher_one_host(const launcher *found)
{
    int size = found->facts[LAUNCHER_SIZE];
    return found->facts[LAUNCHER_NUM_NODES] == 1 ||
           (size > 0 && found->facts[LAUNCHER_LOCAL_SIZE] == size);
}
