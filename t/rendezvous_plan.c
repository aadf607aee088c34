/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What init_method, arguments and environment come to, as a table. User cases 10 and 13c.
 */
#include "launch/rendezvous_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const variables[] = {"RANK",
                                        "WORLD_SIZE",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "MUSTER_JOB_ID",
                                        "TORCHELASTIC_USE_AGENT_STORE",
                                        "TORCHELASTIC_RUN_ID",
                                        "TORCHELASTIC_RESTART_COUNT",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE"};

/* Exactly these are set: "RANK=0 WORLD_SIZE=2". */
static void environment_set(const char *words)
{
    char copy[256];
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        setenv(word, value, 1);
    }
}

#define MASTER "MASTER_ADDR=10.0.0.1 MASTER_PORT=29500 "
#define TWO MASTER "RANK=1 WORLD_SIZE=2 "
#define ZERO MASTER "RANK=0 WORLD_SIZE=2 "
#define AGENT TWO "TORCHELASTIC_USE_AGENT_STORE=True "

static const struct {
    const char *environment;
    const char *method;
    int rank;
    int world_size;
    const char *expected;
} plans[] = {
    {"", NULL, -1, -1, "0/1 alone"},
    {"", "env://", -1, -1, "0/1 alone"},
    {"RANK= WORLD_SIZE=", "env://", -1, -1, "0/1 alone"},
    {MASTER, "env://", -1, -1, "0/1 alone"},
    {"", "env://", 0, 1, "0/1 alone"},
    {"", "env://", -1, 1, "0/1 alone"},
    {"", "env://?world_size=1", -1, -1, "0/1 alone"},
    {"RANK=0 WORLD_SIZE=1", "env://", -1, -1, "0/1 alone"},
    {"WORLD_SIZE=1", "env://", -1, -1, "0/1 alone"},
    {"WORLD_SIZE=1 RANK=0 MASTER_PORT=x", "env://", -1, -1, "0/1 alone"},
    {TWO, "env://", -1, -1, "1/2 client 10.0.0.1:29500 ''"},
    {TWO, "env://", 1, 2, "1/2 client 10.0.0.1:29500 ''"},
    {TWO, "env://?rank=1&world_size=2", 1, 2, "1/2 client 10.0.0.1:29500 ''"},
    {ZERO, NULL, -1, -1, "0/2 server 10.0.0.1:29500 ''"},
    {MASTER, "env://", 1, 2, "1/2 client 10.0.0.1:29500 ''"},
    {MASTER "RANK=1", "env://?world_size=3", -1, -1, "1/3 client 10.0.0.1:29500 ''"},
    {MASTER "WORLD_SIZE=131072", "env://", 131071, -1, "131071/131072 client 10.0.0.1:29500 ''"},
    {"MASTER_ADDR=[::1] MASTER_PORT=1", "env://", 0, 2, "0/2 server ::1:1 ''"},
    {"MASTER_ADDR=::1 MASTER_PORT=1", "env://", 0, 2, "0/2 server ::1:1 ''"},
    /* torchrun: its agent runs the server, but only the one at its own address. */
    {ZERO "TORCHELASTIC_USE_AGENT_STORE=True", NULL, -1, -1, "0/2 client 10.0.0.1:29500 ''"},
    {ZERO "TORCHELASTIC_USE_AGENT_STORE=true", NULL, -1, -1, "0/2 server 10.0.0.1:29500 ''"},
    {ZERO "TORCHELASTIC_USE_AGENT_STORE=1", NULL, -1, -1, "0/2 server 10.0.0.1:29500 ''"},
    {ZERO "TORCHELASTIC_USE_AGENT_STORE=False", NULL, -1, -1, "0/2 server 10.0.0.1:29500 ''"},
    {ZERO "TORCHELASTIC_USE_AGENT_STORE=True", "tcp://10.0.0.1:29500", 0, 2,
     "0/2 client 10.0.0.1:29500 ''"},
    {ZERO "TORCHELASTIC_USE_AGENT_STORE=True", "tcp://10.0.0.1:29501", 0, 2,
     "0/2 server 10.0.0.1:29501 ''"},
    {ZERO "TORCHELASTIC_USE_AGENT_STORE=True", "tcp://10.0.0.2:29500", 0, 2,
     "0/2 server 10.0.0.2:29500 ''"},
    {"MASTER_ADDR=Node MASTER_PORT=2 TORCHELASTIC_USE_AGENT_STORE=True", "tcp://node:2", 0, 2,
     "0/2 client node:2 ''"},
    {"MASTER_ADDR=node MASTER_PORT=x TORCHELASTIC_USE_AGENT_STORE=True", "tcp://node:2", 0, 2,
     "0/2 server node:2 ''"},
    {"MASTER_PORT=2 TORCHELASTIC_USE_AGENT_STORE=True", "tcp://node:2", 0, 2,
     "0/2 server node:2 ''"},
    /* A group beside the world has ranks of its own: the environment's don't count. */
    {TWO, "tcp://h:1", 0, 3, "0/3 server h:1 ''"},
    /* But where nothing at all is said of ranks, they do. */
    {TWO, "tcp://h:1", -1, -1, "1/2 client h:1 ''"},
    {"RANK=0 WORLD_SIZE=2", "tcp://h:1", -1, -1, "0/2 server h:1 ''"},
    {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3", "file:///tmp/x", -1, -1,
     "1/3 file /tmp/x ''"},
    {TWO, "tcp://h:1?rank=2&world_size=3", -1, -1, "2/3 client h:1 ''"},
    {"", "tcp://h:1?world_size=1", -1, -1, "0/1 server h:1 ''"},
    {"RANK=x", "file:///tmp/x?rank=0&world_size=2", -1, 2, "0/2 file /tmp/x ''"},
    /* Restarts and jobs. A server of rank 0 is new with each try. */
    {AGENT "TORCHELASTIC_RESTART_COUNT=0", NULL, -1, -1, "1/2 client 10.0.0.1:29500 ''"},
    {AGENT "TORCHELASTIC_RESTART_COUNT=2", NULL, -1, -1, "1/2 client 10.0.0.1:29500 'attempt/2'"},
    {TWO "TORCHELASTIC_RESTART_COUNT=2", NULL, -1, -1, "1/2 client 10.0.0.1:29500 ''"},
    {AGENT "TORCHELASTIC_RUN_ID=none", NULL, -1, -1,
     "1/2 client 10.0.0.1:29500 'job/none/attempt/0'"},
    {AGENT "TORCHELASTIC_RUN_ID=r TORCHELASTIC_RESTART_COUNT=1", NULL, -1, -1,
     "1/2 client 10.0.0.1:29500 'job/r/attempt/1'"},
    {TWO "TORCHELASTIC_RUN_ID=r TORCHELASTIC_RESTART_COUNT=1", NULL, -1, -1,
     "1/2 client 10.0.0.1:29500 'job/r'"},
    {TWO "TORCHELASTIC_RUN_ID=r TORCHELASTIC_RESTART_COUNT=x", NULL, -1, -1,
     "1/2 client 10.0.0.1:29500 'job/r'"},
    {AGENT "TORCHELASTIC_RUN_ID=r MUSTER_JOB_ID=m", NULL, -1, -1,
     "1/2 client 10.0.0.1:29500 'job/m/attempt/0'"},
    {"MUSTER_JOB_ID=m TORCHELASTIC_RESTART_COUNT=3", "file:///tmp/x", 0, 2,
     "0/2 file /tmp/x 'job/m'"},
    {"TORCHELASTIC_RUN_ID=m", "file:///tmp/x", 0, 2, "0/2 file /tmp/x ''"},
    {"MUSTER_JOB_ID=m", "tcp://h:1", 0, 2, "0/2 server h:1 ''"},
    {"MUSTER_JOB_ID=m", "env://", -1, -1, "0/1 alone"},
};

static void plan_show(const rendezvous_plan *plan, char *text, size_t size)
{
    int used = snprintf(text, size, "%d/%d ", plan->rank, plan->world_size);
    text += used, size -= (size_t)used;
    if (plan->alone)
        snprintf(text, size, "alone");
    else if (plan->where.kind == URL_FILE)
        snprintf(text, size, "file %.99s '%s'", plan->where.path, plan->prefix);
    else
        snprintf(text, size, "%s %s:%d '%s'", plan->hosts ? "server" : "client", plan->where.host,
                 plan->where.port, plan->prefix);
}

static void good_plans(void)
{
    for (size_t i = 0; i < COUNT(plans); i++) {
        rendezvous_plan plan;
        char shown[1024];
        environment_set(plans[i].environment);
        muster_status status =
            rendezvous_plan_make(plans[i].method, plans[i].rank, plans[i].world_size, &plan);
        if (status == MUSTER_OK)
            plan_show(&plan, shown, sizeof(shown));
        else
            snprintf(shown, sizeof(shown), "%s", muster_last_error());
        is_str(shown, plans[i].expected, "[%s] %s %d/%d", plans[i].environment,
               plans[i].method != NULL ? plans[i].method : "NULL", plans[i].rank,
               plans[i].world_size);
    }
}

static const struct {
    const char *environment;
    const char *method;
    int rank;
    int world_size;
    const char *words;
} refused[] = {
    /* All that is missing is named at once. */
    {"RANK=0", NULL, -1, -1, "lacks WORLD_SIZE, MASTER_ADDR, MASTER_PORT (an empty"},
    {"RANK=0 WORLD_SIZE=2", NULL, -1, -1, "lacks MASTER_ADDR, MASTER_PORT (an empty"},
    {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=a", NULL, -1, -1, "lacks MASTER_PORT (an empty"},
    {"RANK=0 WORLD_SIZE=2 MASTER_ADDR= MASTER_PORT=1", NULL, -1, -1, "lacks MASTER_ADDR (an"},
    {"WORLD_SIZE=2", NULL, -1, -1, "lacks RANK, MASTER_ADDR, MASTER_PORT (an empty"},
    {MASTER "RANK= WORLD_SIZE=2", NULL, -1, -1, "lacks RANK (an empty"},
    {MASTER, "env://", 0, -1, "lacks WORLD_SIZE (an empty"},
    {MASTER, "env://?world_size=2", -1, -1, "lacks RANK (an empty"},
    {"", "tcp://h:1", -1, -1, "missing: rank, world_size; pass it"},
    {"RANK=1", "file:///x", -1, -1, "missing: world_size; pass it"},
    {TWO, "tcp://h:1?rank=0", -1, -1, "missing: world_size; pass it"},
    {TWO, "file:///x", -1, 2, "missing: rank; pass it"},
    /* Two answers to who am I. */
    {TWO, "env://", 0, 2, "rank 0 was passed, but the environment says RANK=1"},
    {TWO, "env://", 1, 3, "world_size 3 was passed, but the environment says WORLD_SIZE=2"},
    {TWO, "env://?rank=0", -1, -1, "rank 0 was passed, but the environment says RANK=1"},
    {TWO, "env://", -1, 1, "world_size 1 was passed, but the environment says WORLD_SIZE=2"},
    {"", "tcp://h:1?rank=1", 0, 2,
     "rank 0 was passed, but init_method \"tcp://h:1?rank=1\" says "
     "rank=1"},
    {"", "file:///x?world_size=3", 0, 2, "world_size 2 was passed, but init_method"},
    /* User case 13c. */
    {TWO, "env://", 2, -1, "rank 2 was passed, but the environment says RANK=1"},
    {MASTER, "env://", 4, 4, "rank 4 is outside of a world of 4, whose ranks are 0 to 3"},
    {"RANK=4 WORLD_SIZE=4", "env://", -1, -1, "rank 4 is outside of a world of 4"},
    {"RANK=1 WORLD_SIZE=1", "env://", -1, -1, "rank 1 is outside of a world of 1"},
    {"", "tcp://h:1", 5, 2, "rank 5 is outside of a world of 2"},
    {"", "tcp://h:1?rank=5&world_size=2", -1, -1, "rank 5 is outside of a world of 2"},
    {TWO, "env://", -2, -1, "rank is -2; expected a number from 0 to 131071, or -1"},
    {TWO, "env://", 131072, -1, "rank is 131072; expected"},
    {TWO, "env://", -1, 0, "world_size is 0; expected a number from 1 to 131072, or -1"},
    {TWO, "env://", -1, -5, "world_size is -5; expected"},
    {TWO, "env://", -1, 131073, "world_size is 131073; expected"},
    /* Text that is no number. */
    {"RANK=x WORLD_SIZE=2", NULL, -1, -1, "RANK=\"x\"; expected a number from 0 to 131071"},
    {"RANK=-1 WORLD_SIZE=2", NULL, -1, -1, "RANK=\"-1\"; expected"},
    {"RANK=+1 WORLD_SIZE=2", NULL, 1, -1, "RANK=\"+1\"; expected"},
    {"RANK=0 WORLD_SIZE=0", NULL, -1, -1, "WORLD_SIZE=\"0\"; expected a number from 1 to 131072"},
    {"RANK=0 WORLD_SIZE=131073", NULL, -1, -1, "WORLD_SIZE=\"131073\"; expected"},
    {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=0", NULL, -1, -1,
     "MASTER_PORT=\"0\"; expected"},
    {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=70000", NULL, -1, -1,
     "MASTER_PORT=\"70000\"; expected a number from 1 to 65535"},
    {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=[] MASTER_PORT=1", NULL, -1, -1, "MASTER_ADDR=\"[]\""},
    {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=[ MASTER_PORT=x", NULL, -1, -1, "MASTER_PORT=\"x\""},
    {AGENT "TORCHELASTIC_RESTART_COUNT=-1", NULL, -1, -1, "TORCHELASTIC_RESTART_COUNT=\"-1\""},
    {"", "http://x", 0, 1, "the scheme \"http\" is not known"},
    {"", "", 0, 1, "no scheme"},
};

static void bad_plans(void)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        rendezvous_plan plan;
        environment_set(refused[i].environment);
        is_int(
            rendezvous_plan_make(refused[i].method, refused[i].rank, refused[i].world_size, &plan),
            MUSTER_ERR_ARGUMENT, "[%s] %s %d/%d is refused", refused[i].environment,
            refused[i].method != NULL ? refused[i].method : "NULL", refused[i].rank,
            refused[i].world_size);
        has_str(muster_last_error(), refused[i].words, "and why");
    }
}

static void long_values(void)
{
    rendezvous_plan plan;
    char text[2001];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    environment_set(AGENT);
    setenv("MASTER_ADDR", text, 1);
    is_int(rendezvous_plan_make(NULL, -1, -1, &plan), MUSTER_ERR_ARGUMENT,
           "an address of 2000 characters is refused");
    text[256] = '\0';
    setenv("MASTER_ADDR", text, 1);
    is_int(rendezvous_plan_make(NULL, -1, -1, &plan), MUSTER_ERR_ARGUMENT, "one of 256 too");
    text[255] = '\0';
    setenv("MASTER_ADDR", text, 1);
    is_int(rendezvous_plan_make(NULL, -1, -1, &plan), MUSTER_OK, "one of 255 is taken");
    memset(text, 'x', 513);
    text[513] = '\0';
    setenv("MUSTER_JOB_ID", text, 1);
    is_int(rendezvous_plan_make(NULL, -1, -1, &plan), MUSTER_ERR_ARGUMENT,
           "a job id of 513 characters is refused");
    has_str(muster_last_error(), "has 513 characters, over 512", "saying so");
    text[512] = '\0';
    setenv("MUSTER_JOB_ID", text, 1);
    is_int(rendezvous_plan_make(NULL, -1, -1, &plan), MUSTER_OK, "one of 512 is taken");
    is_int((long long)strlen(plan.prefix), 4 + 512 + 10, "whole");
}

int main(void)
{
    plan((int)(COUNT(plans) + 2 * COUNT(refused) + 7));
    good_plans();
    bad_plans();
    long_values();
    return done();
}
