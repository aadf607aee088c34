/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the ranks of a launcher can meet, by what the environment says.
 */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fnv.h"
#include "base/patience.h"
#include "launch/meeting.h"
#include "launch/pmix_client.h"
#include "launch/slurm_nodes.h"
#include "net/name_lookup.h"
#include "net/url.h"

/* ---- What the user says -------------------------------------------------------------------- */

typedef struct wishes {
    const char *host; /* MUSTER_MASTER_ADDR, or NULL */
    int port;         /* MUSTER_MASTER_PORT, or -1 */
    const char *pmi;  /* MUSTER_PMI: "auto", "on" or "off" */
} wishes;

static muster_status read_wishes(wishes *wish)
{
    wish->host = launcher_variable("MUSTER_MASTER_ADDR");
    wish->pmi = launcher_variable("MUSTER_PMI");
    if (wish->pmi == NULL)
        wish->pmi = "auto";
    if (strcmp(wish->pmi, "auto") != 0 && strcmp(wish->pmi, "on") != 0 &&
        strcmp(wish->pmi, "off") != 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says MUSTER_PMI=\"%.100s\"; expected auto, on or off",
                         wish->pmi);
    return launcher_number("MUSTER_MASTER_PORT", 1, 65535, &wish->port);
}

/* ---- Ways ---------------------------------------------------------------------------------- */

static void pass_over(meeting *chosen, const char *format, ...) MUSTER_PRINTF(2, 3);

static void pass_over(meeting *chosen, const char *format, ...)
{
    size_t used = strlen(chosen->others);
    va_list arguments;
    if (used > 0)
        used += (size_t)snprintf(chosen->others + used, sizeof(chosen->others) - used, "; ");
    if (used >= sizeof(chosen->others))
        return;
    va_start(arguments, format);
    vsnprintf(chosen->others + used, sizeof(chosen->others) - used, format, arguments);
    va_end(arguments);
}

/* Who links MPI is going to use it. */
static bool is_linked_to_mpi(void)
{
    return dlsym(RTLD_DEFAULT, "MPI_Init") != NULL;
}

/* Whether MPI says so of itself: "MPI_Initialized", "MPI_Finalized". */
static bool mpi_says(const char *question)
{
    int (*ask)(int *answer);
    void *found = dlsym(RTLD_DEFAULT, question);
    int answer = 0;
    if (found == NULL)
        return false;
    memcpy(&ask, &found, sizeof(ask));
    return ask(&answer) == 0 && answer != 0;
}

static bool try_given(const wishes *wish, meeting *chosen)
{
    bool own = wish->host != NULL && wish->port > 0;
    if (!own &&
        (launcher_variable("MASTER_ADDR") == NULL || launcher_variable("MASTER_PORT") == NULL)) {
        pass_over(chosen, "MASTER_ADDR and MASTER_PORT (with MUSTER_ before them or without) are "
                          "not both set");
        return false;
    }
    chosen->way = MEETING_GIVEN;
    chosen->host_variable = own ? "MUSTER_MASTER_ADDR" : "MASTER_ADDR";
    chosen->port_variable = own ? "MUSTER_MASTER_PORT" : "MASTER_PORT";
    snprintf(chosen->how, sizeof(chosen->how), "%s and %s", chosen->host_variable,
             chosen->port_variable);
    return true;
}

static bool try_pmi1(const launcher *found, const wishes *wish, meeting *chosen)
{
    const char *fd = launcher_variable("PMI_FD");
    if ((found->family->ways & LAUNCHER_PMI1) == 0)
        return false;
    if (fd == NULL)
        pass_over(chosen, "PMI: PMI_FD is not set");
    else if (strcmp(wish->pmi, "off") == 0)
        pass_over(chosen, "PMI: MUSTER_PMI=off");
    else if (strcmp(wish->pmi, "auto") == 0 && is_linked_to_mpi())
        pass_over(chosen, "PMI: this process is linked to MPI, which needs the session itself; set "
                          "MUSTER_MASTER_PORT to a free port, or MASTER_ADDR too where there are "
                          "several hosts");
    else {
        chosen->way = MEETING_PMI1;
        snprintf(chosen->how, sizeof(chosen->how), "PMI (PMI_FD=%.20s)", fd);
        return true;
    }
    return false;
}

static bool try_pmix(const launcher *found, const wishes *wish, meeting *chosen)
{
    char words[200];
    if ((found->family->ways & LAUNCHER_PMIX) == 0)
        return false;
    if (launcher_variable("PMIX_RANK") == NULL || launcher_variable("PMIX_NAMESPACE") == NULL)
        pass_over(chosen, "PMIx: PMIX_RANK and PMIX_NAMESPACE are not both set");
    else if (strcmp(wish->pmi, "off") == 0)
        pass_over(chosen, "PMIx: MUSTER_PMI=off");
    else if (strcmp(wish->pmi, "auto") == 0 && is_linked_to_mpi() &&
             (!mpi_says("MPI_Initialized") || mpi_says("MPI_Finalized")))
        pass_over(chosen, "PMIx: this process is linked to MPI, which would find PMIx ended: call "
                          "MPI_Init first, or MUSTER_PMI=on takes it all the same");
    else if (!pmix_client_is_there(words, sizeof(words)))
        pass_over(chosen, "PMIx: %s", words);
    else {
        chosen->way = MEETING_PMIX;
        snprintf(chosen->how, sizeof(chosen->how), "PMIx (%s)", words);
        return true;
    }
    return false;
}

/* "12.0": the ids of a job and its step, by which an administrator can tell the port. */
static bool read_step(const char *job, uint64_t *sum)
{
    char high[LAUNCHER_MAX_JOB + 1];
    const char *dot = strchr(job, '.');
    int number, step;
    if (dot == NULL || (size_t)(dot - job) >= sizeof(high))
        return false;
    snprintf(high, sizeof(high), "%.*s", (int)(dot - job), job);
    if (!url_parse_number(high, 0, INT32_MAX, &number) ||
        !url_parse_number(dot + 1, 0, INT32_MAX, &step))
        return false;
    *sum = (uint64_t)number * 16 + (uint64_t)step;
    return true;
}

int meeting_port(const char *job)
{
    uint64_t sum;
    if (!read_step(job, &sum))
        sum = fnv_add_text(FNV_START, job);
    return MEETING_FIRST_PORT + (int)(sum % MEETING_NUM_PORTS);
}

static bool try_one_host(const launcher *found, const wishes *wish, meeting *chosen)
{
    if (!launcher_one_host(found)) {
        pass_over(chosen, "loopback: nothing says that all ranks are on one host");
        return false;
    }
    if (found->job[0] == '\0' && wish->port < 0) {
        pass_over(chosen, "loopback: nothing names the job, to make a port of; MUSTER_MASTER_PORT "
                          "is not set");
        return false;
    }
    chosen->way = MEETING_ONE_HOST;
    snprintf(chosen->host, sizeof(chosen->host), "127.0.0.1");
    chosen->port = wish->port > 0 ? wish->port : meeting_port(found->job);
    snprintf(chosen->how, sizeof(chosen->how), "loopback, for all ranks are on one host, port %s",
             wish->port > 0 ? "MUSTER_MASTER_PORT" : "by the job's id");
    return true;
}

static muster_status try_slurm(const launcher *found, const wishes *wish, meeting *chosen)
{
    const char *nodes = launcher_variable("SLURM_STEP_NODELIST");
    if ((found->family->ways & LAUNCHER_SLURM_NODES) == 0)
        return MUSTER_OK;
    if (nodes == NULL || (wish->port < 0 && strchr(found->job, '.') == NULL)) {
        pass_over(chosen, "Slurm's nodes: %s",
                  nodes == NULL ? "SLURM_STEP_NODELIST is not set"
                                : "SLURM_JOB_ID and SLURM_STEP_ID are not both set");
        return MUSTER_OK;
    }
    muster_status status = slurm_nodes_first(nodes, chosen->host);
    if (status != MUSTER_OK)
        return error_prefix(status, "SLURM_STEP_NODELIST: ");
    chosen->way = MEETING_SLURM_NODES;
    chosen->derived = true;
    chosen->port = wish->port > 0 ? wish->port : meeting_port(found->job);
    snprintf(chosen->how, sizeof(chosen->how), "the first host of SLURM_STEP_NODELIST, port %s",
             wish->port > 0 ? "MUSTER_MASTER_PORT" : "by SLURM_JOB_ID and SLURM_STEP_ID");
    return MUSTER_OK;
}

bool meeting_first_pod(const char *name, const char *full_name, int index, char *pod, size_t size)
{
    char tail[16];
    int tail_length = snprintf(tail, sizeof(tail), "-%d", index);
    size_t length = strcspn(name, "."), job = length - (size_t)tail_length;
    if (length <= (size_t)tail_length || strncmp(name + job, tail, (size_t)tail_length) != 0 ||
        strncmp(full_name, name, length) != 0 || full_name[length] != '.')
        return false;
    int written = snprintf(pod, size, "%.*s-0%s", (int)job, name, full_name + length);
    return written > 0 && (size_t)written < size;
}

/* The name by which this host is known in full: in a pod, from the hosts file. */
static void full_name(const char *name, char *full, size_t size)
{
    struct addrinfo *found = NULL;
    full[0] = '\0';
    if (name_lookup(name, AI_CANONNAME, patience_for(NAME_LOOKUP_MS), &found) != 0)
        return;
    if (found->ai_canonname != NULL)
        snprintf(full, size, "%s", found->ai_canonname);
    freeaddrinfo(found);
}

static bool try_pod(const launcher *found, const wishes *wish, meeting *chosen)
{
    char name[HOST_NAME_MAX + 1] = "", full[256];
    if ((found->family->ways & LAUNCHER_FIRST_POD) == 0)
        return false;
    gethostname(name, sizeof(name) - 1);
    full_name(name, full, sizeof(full));
    if (!meeting_first_pod(name, full, found->facts[LAUNCHER_RANK], chosen->host,
                           sizeof(chosen->host))) {
        chosen->host[0] = '\0';
        pass_over(chosen,
                  "the first pod: the host name \"%.80s\", in full \"%.100s\", is not of the form "
                  "JOB-%d.SUBDOMAIN; give the Job a headless service and its pods the subdomain of "
                  "that",
                  name, full, found->facts[LAUNCHER_RANK]);
        return false;
    }
    chosen->way = MEETING_FIRST_POD;
    chosen->derived = true;
    chosen->port = wish->port > 0 ? wish->port : MEETING_POD_PORT;
    snprintf(chosen->how, sizeof(chosen->how), "the name of the Indexed Job's first pod");
    return true;
}

muster_status meeting_check(void)
{
    wishes wish;
    return read_wishes(&wish);
}

muster_status meeting_choose(const launcher *found, meeting *chosen)
{
    wishes wish;
    memset(chosen, 0, sizeof(*chosen));
    muster_status status = read_wishes(&wish);
    if (status != MUSTER_OK || try_given(&wish, chosen) || found->family == NULL)
        return status;
    if (try_pmi1(found, &wish, chosen) || try_pmix(found, &wish, chosen)) {
        chosen->port = wish.port > 0 ? wish.port : 0;
        return launcher_host("MUSTER_MASTER_ADDR", chosen->host, sizeof(chosen->host));
    }
    if (try_one_host(found, &wish, chosen) || try_pod(found, &wish, chosen))
        return MUSTER_OK;
    return try_slurm(found, &wish, chosen);
}
