/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was found of the launcher, for programs and for people. It looks and does not ask: no
 * session of PMI is begun.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/facts.h"
#include "launch/rendezvous_plan.h"

/* What env:// without arguments comes to; problem is "" where that is good. */
static rendezvous_plan *report_plan(char *problem, size_t size)
{
    rendezvous_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL)
        return NULL;
    muster_status status = rendezvous_plan_make(NULL, -1, -1, plan);
    snprintf(problem, size, "%s", status == MUSTER_OK ? "" : muster_last_error());
    return plan;
}

static char *report_copy(char **at, const char *text)
{
    char *copy = *at;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

muster_status muster_find_launcher(muster_launcher_report **report)
{
    char problem[ERROR_SIZE];
    if (report == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_find_launcher: report is NULL");
    rendezvous_plan *plan = report_plan(problem, sizeof(problem));
    muster_launcher_report *made = NULL;
    if (plan != NULL)
        made = malloc(sizeof(*made) + strlen(plan->launcher.job) + strlen(plan->where.host) +
                      strlen(plan->meeting.how) + strlen(problem) + 4);
    if (made == NULL) {
        free(plan);
        return error_no_memory(sizeof(*made), "a launcher's report");
    }
    char *text = (char *)(made + 1);
    const int *said = plan->launcher.facts;
    *made = (muster_launcher_report){.name = launcher_name(&plan->launcher),
                                     .rank = problem[0] == '\0' ? plan->rank : said[LAUNCHER_RANK],
                                     .world_size = problem[0] == '\0' ? plan->world_size
                                                                      : said[LAUNCHER_SIZE],
                                     .local_rank = said[LAUNCHER_LOCAL_RANK],
                                     .local_size = said[LAUNCHER_LOCAL_SIZE],
                                     .node_rank = said[LAUNCHER_NODE_RANK],
                                     .num_nodes = said[LAUNCHER_NUM_NODES],
                                     .job = report_copy(&text, plan->launcher.job),
                                     .master_addr = report_copy(&text, plan->where.host),
                                     .master_port = plan->where.port,
                                     .how = report_copy(&text, plan->meeting.how),
                                     .problem = report_copy(&text, problem)};
    free(plan);
    *report = made;
    return MUSTER_OK;
}

/* ---- In words or in JSON ------------------------------------------------------------------- */

static void write_fact(facts *f, const launcher *found, launcher_fact fact, const char *name)
{
    char variable[40];
    if (found->facts[fact] < 0)
        return;
    if (f->json) {
        facts_number(f, name, found->facts[fact]);
        snprintf(variable, sizeof(variable), "%s variable", name);
        facts_text(f, variable, found->variables[fact]);
        return;
    }
    facts_open(f, name);
    fprintf(f->out, "%d (%s)", found->facts[fact], found->variables[fact]);
    facts_close(f);
}

static void write_meeting(facts *f, const rendezvous_plan *plan)
{
    if (plan->alone)
        facts_text(f, "rank 0", "is this one, alone");
    if (plan->meeting.way == MEETING_NOWHERE)
        return;
    facts_text(f, "rank 0", plan->meeting.how);
    if (plan->where.host[0] != '\0')
        facts_text(f, "address", plan->where.host);
    if (plan->where.port > 0)
        facts_number(f, "port", plan->where.port);
    if (plan->meeting.others[0] != '\0')
        facts_text(f, "other ways", plan->meeting.others);
}

/* Every family of the table and why it does not count. */
static void write_families(facts *f, const launcher *found)
{
    bool behind = false;
    facts_open_list(f, "passed over", '{');
    for (size_t i = 0; i < launcher_num_families; i++) {
        const launcher_family *family = &launcher_families[i];
        char words[300], why[400], name[64];
        bool there = launcher_is_there(family, words, sizeof(words));
        if (family == found->family) {
            behind = true;
            continue;
        }
        snprintf(why, sizeof(why), "%s%s%s", words, there && behind ? "it is there, but " : "",
                 there && behind ? launcher_name(found) : "");
        if (there && behind)
            snprintf(why + strlen(why), sizeof(why) - strlen(why), " comes first");
        snprintf(name, sizeof(name), f->json ? "%s" : "not %-14s", family->name);
        facts_text(f, name, why);
    }
    facts_close_list(f, '}');
}

static void write_report(facts *f, const rendezvous_plan *plan, const char *problem)
{
    static const char *const names[LAUNCHER_NUM_FACTS] = {"rank",       "world size", "local rank",
                                                          "local size", "node rank",  "nodes"};
    const launcher *found = &plan->launcher;
    facts_text(f, "launcher", found->family == NULL ? "none" : launcher_name(found));
    for (int i = 0; i < LAUNCHER_NUM_FACTS; i++)
        write_fact(f, found, i, names[i]);
    if (found->job[0] != '\0')
        facts_text(f, "job", found->job);
    if (problem[0] == '\0')
        write_meeting(f, plan);
    else
        facts_text(f, "problem", problem);
    write_families(f, found);
}

muster_status muster_describe_launcher(bool json, char **text)
{
    char problem[ERROR_SIZE];
    facts f;
    if (text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_describe_launcher: text is NULL");
    rendezvous_plan *plan = report_plan(problem, sizeof(problem));
    if (plan == NULL)
        return error_no_memory(sizeof(*plan), "a launcher's description");
    muster_status status = facts_begin(&f, json);
    if (status == MUSTER_OK) {
        write_report(&f, plan, problem);
        status = facts_end(&f, text);
    }
    free(plan);
    return status;
}
