/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where ranks meet, by what the environment says: a table of environments, each for a way.
 */
#include "config.h"

#include "launch/meeting.h"

#include <stdio.h>
#include <string.h>

#include "children.h"
#include "environment.h"
#include "launch/meeting_address.h"
#include "launch/pmix_client.h"
#include "launch/rendezvous_plan.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SLURM                                                                                      \
    "SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_NODEID=0 SLURM_JOB_ID=12 " \
    "SLURM_STEP_ID=3 SLURM_STEP_NODELIST=rack[0-1]n[05-06] "
#define SLURM_ONE                                                                                  \
    "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_NODEID=0 SLURM_JOB_ID=12 " \
    "SLURM_STEP_ID=3 SLURM_STEP_NODELIST=n1 "
#define HYDRA "PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 "
#define OPEN_MPI                                                                                   \
    "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 "                  \
    "OMPI_COMM_WORLD_LOCAL_SIZE=2 "
#define FLUX "FLUX_TASK_RANK=1 FLUX_JOB_SIZE=2 FLUX_TASK_LOCAL_ID=1 FLUX_JOB_ID=fA1 "
#define OWN "MUSTER_MASTER_ADDR=h MUSTER_MASTER_PORT=7 "
#define X51 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X255 X51 X51 X51 X51 X51
#define MASTER "MASTER_ADDR=m MASTER_PORT=8 "

static const struct {
    const char *environment;
    const char *expected; /* rank/size way host:port prefix, or what is refused */
} plans[] = {
    /* By variables; muster's own first. */
    {"RANK=1 WORLD_SIZE=2 " MASTER, "1/2 given m:8 ''"},
    {"RANK=1 WORLD_SIZE=2 " OWN MASTER, "1/2 given h:7 ''"},
    {"MUSTER_RANK=1 MUSTER_SIZE=2 " MASTER, "1/2 given m:8 ''"},
    {SLURM MASTER, "2/4 given m:8 'job/12.3/attempt/0'"},
    {SLURM OWN, "2/4 given h:7 'job/12.3/attempt/0'"},
    {"WORLD_SIZE=4 " SLURM MASTER, "2/4 given m:8 'job/12.3/attempt/0'"},
    {HYDRA "PMI_FD=9 " MASTER, "1/2 given m:8 ''"},
    /* PMI. */
    {HYDRA "PMI_FD=9", "1/2 pmi1 :0 ''"},
    {HYDRA "PMI_FD=9 MUSTER_PMI=on", "1/2 pmi1 :0 ''"},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=h", "1/2 pmi1 h:0 ''"},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=[::1]", "1/2 pmi1 ::1:0 ''"},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=[::1] MUSTER_MASTER_PORT=7", "1/2 given ::1:7 ''"},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=" X255, "1/2 pmi1 " X255 ":0 ''"},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_PORT=7", "1/2 pmi1 :7 ''"},
    {FLUX "PMI_FD=9", "1/2 pmi1 :0 'job/fA1'"},
    {SLURM "PMI_FD=9", "2/4 pmi1 :0 'job/12.3/attempt/0'"},
    {"PMI_RANK=0 PMI_SIZE=2 PMI_FD=9", "0/2 pmi1 :0 ''"},
    {HYDRA "PMI_FD=9 MUSTER_PMI=off MUSTER_MASTER_PORT=7", "1/2 one host 127.0.0.1:7 ''"},
    /* Loopback. */
    {OPEN_MPI "PMIX_NAMESPACE=n", "1/2 one host 127.0.0.1:26737 'job/n'"},
    {OPEN_MPI "MUSTER_MASTER_PORT=7", "1/2 one host 127.0.0.1:7 ''"},
    {SLURM_ONE, "1/4 one host 127.0.0.1:20675 'job/12.3/attempt/0'"},
    {SLURM_ONE "SLURM_RESTART_COUNT=2", "1/4 one host 127.0.0.1:20675 'job/12.3/attempt/2'"},
    /* Slurm's nodes. */
    {SLURM, "2/4 slurm rack0n05:20675 'job/12.3/attempt/0'"},
    {SLURM "MUSTER_JOB_ID=mine SLURM_RESTART_COUNT=1",
     "2/4 slurm rack0n05:20675 'job/mine/attempt/1'"},
    {SLURM "MUSTER_MASTER_PORT=7", "2/4 slurm rack0n05:7 'job/12.3/attempt/0'"},
    {SLURM "PMI_FD=9 MUSTER_PMI=off", "2/4 slurm rack0n05:20675 'job/12.3/attempt/0'"},
    /* One rank needs no address; a batch script is one. */
    {"PMI_RANK=0 PMI_SIZE=1 PMI_FD=9", "0/1 alone"},
    {"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=12", "0/1 alone"},
    {"JOB_COMPLETION_INDEX=0 WORLD_SIZE=1", "0/1 alone"},
    /* Nowhere: the sentence lists what was looked at. */
    {"MUSTER_RANK=0 MUSTER_SIZE=2", "lacks MASTER_ADDR, MASTER_PORT (an empty"},
    {SLURM "SLURM_STEP_NODELIST=",
     "started by Slurm, and the environment lacks MASTER_ADDR, MASTER_PORT"},
    {"RANK=0 " OPEN_MPI, "lacks WORLD_SIZE, MASTER_ADDR, MASTER_PORT"},
    {"RANK=0 " OPEN_MPI, "for Open MPI to say who this process is, unset RANK"},
    {SLURM "SLURM_STEP_NODELIST=", "PMI: PMI_FD is not set"},
    {SLURM "SLURM_STEP_NODELIST=", "Slurm's nodes: SLURM_STEP_NODELIST is not set"},
    {SLURM "SLURM_STEP_ID=", "SLURM_JOB_ID and SLURM_STEP_ID are not both set"},
    {SLURM "SLURM_STEP_NODELIST=n[1", "SLURM_STEP_NODELIST: the node list \"n[1\" can't be read"},
    {HYDRA "PMI_FD=9 MUSTER_PMI=off", "PMI: MUSTER_PMI=off; loopback: nothing names the job"},
    {FLUX, "loopback: nothing says that all ranks are on one host"},
    {"JOB_COMPLETION_INDEX=1", "lacks WORLD_SIZE"},
    {"JOB_COMPLETION_INDEX=77 WORLD_SIZE=99", "is not of the form JOB-77.SUBDOMAIN"},
    {"PMIX_RANK=0 PMIX_NAMESPACE=n MUSTER_PMI=off", "lacks WORLD_SIZE, MASTER_ADDR, MASTER_PORT"},
    /* Contradictions. */
    {"WORLD_SIZE=5 " SLURM, "SLURM_STEP_NUM_TASKS=4, but also WORLD_SIZE=5; unset one of them"},
    {"MUSTER_SIZE=5 RANK=0 WORLD_SIZE=2", "WORLD_SIZE=2, but also MUSTER_SIZE=5"},
    {"MUSTER_RANK=0 MUSTER_SIZE=2 WORLD_SIZE=3", "MUSTER_SIZE=2, but also WORLD_SIZE=3"},
    {SLURM "SLURM_RESTART_COUNT=a", "SLURM_RESTART_COUNT=\"a\"; expected a number"},
    {"MUSTER_PMI=yes", "MUSTER_PMI=\"yes\"; expected auto, on or off"},
    {"RANK=0 WORLD_SIZE=1 MUSTER_PMI=yes", "MUSTER_PMI=\"yes\"; expected auto, on or off"},
    {SLURM "MUSTER_PMI=maybe", "MUSTER_PMI=\"maybe\"; expected auto, on or off"},
    {SLURM "MUSTER_MASTER_PORT=x", "MUSTER_MASTER_PORT=\"x\"; expected a number from 1 to 65535"},
    /* An address is checked with a port and without. */
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=x" X255, "MUSTER_MASTER_ADDR=\"x" X51},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=x" X255, "expected a host name or an address"},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_PORT=7 MUSTER_MASTER_ADDR=x" X255, "MUSTER_MASTER_ADDR=\"x" X51},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=[]", "MUSTER_MASTER_ADDR=\"[]\"; expected a host name"},
    {HYDRA "PMI_FD=9 MUSTER_MASTER_ADDR=[] MUSTER_MASTER_PORT=7",
     "MUSTER_MASTER_ADDR=\"[]\"; expected a host name"},
    {"JOB_COMPLETION_INDEX=3 WORLD_SIZE=3", "rank 3 is outside of a world of 3"},
};

static void show(const rendezvous_plan *plan, char *text, size_t size)
{
    static const char *const ways[] = {"nowhere", "given", "pmi1",    "pmix",
                                       "slurm",   "pod",   "one host"};
    if (plan->alone)
        snprintf(text, size, "%d/%d alone", plan->rank, plan->world_size);
    else
        snprintf(text, size, "%d/%d %s %s:%d '%s'", plan->rank, plan->world_size,
                 ways[plan->meeting.way], plan->where.host, plan->where.port, plan->prefix);
}

static void made_plans(void)
{
    for (size_t i = 0; i < COUNT(plans); i++) {
        static rendezvous_plan plan;
        char text[2048];
        environment_only(plans[i].environment);
        if (rendezvous_plan_make(NULL, -1, -1, &plan) == MUSTER_OK) {
            show(&plan, text, sizeof(text));
            is_str(text, plans[i].expected, "[%.110s]", plans[i].environment);
        } else
            has_str(muster_last_error(), plans[i].expected, "[%.110s] is refused",
                    plans[i].environment);
    }
}

/* Arguments against what the launcher says. User case 10. */
static const struct {
    const char *environment;
    int rank;
    int world_size;
    const char *words; /* "": it is taken */
} arguments[] = {
    {SLURM, 2, 4, ""},
    {SLURM, 1, -1, "rank 1 was passed, but the environment says SLURM_PROCID=2"},
    {SLURM, -1, 8, "world_size 8 was passed, but the environment says SLURM_STEP_NUM_TASKS=4"},
    {HYDRA "PMI_FD=9", 0, 2, "rank 0 was passed, but the environment says PMI_RANK=1"},
    {OPEN_MPI "PMIX_NAMESPACE=n", 1, 3,
     "world_size 3 was passed, but the environment says OMPI_COMM_WORLD_SIZE=2"},
    {"JOB_COMPLETION_INDEX=1 " MASTER, -1, 3, ""},
    {"JOB_COMPLETION_INDEX=1 WORLD_SIZE=2 " MASTER, -1, 3,
     "world_size 3 was passed, but the environment says WORLD_SIZE=2"},
    {"RANK=1 " MASTER, -1, 3, ""},
};

static void passed_arguments(void)
{
    for (size_t i = 0; i < COUNT(arguments); i++) {
        static rendezvous_plan plan;
        environment_only(arguments[i].environment);
        muster_status status =
            rendezvous_plan_make(NULL, arguments[i].rank, arguments[i].world_size, &plan);
        if (arguments[i].words[0] == '\0')
            is_int(status, MUSTER_OK, "[%.60s] %d/%d", arguments[i].environment, arguments[i].rank,
                   arguments[i].world_size);
        else
            has_str(status == MUSTER_OK ? "taken" : muster_last_error(), arguments[i].words,
                    "[%.60s] %d/%d is refused", arguments[i].environment, arguments[i].rank,
                    arguments[i].world_size);
    }
}

static const struct {
    const char *name;
    const char *full_name;
    int index;
    const char *pod; /* NULL: of another form */
} pods[] = {
    {"train-3", "train-3.sub.ns.svc.cluster.local", 3, "train-0.sub.ns.svc.cluster.local"},
    {"train-0", "train-0.sub", 0, "train-0.sub"},
    {"a-b-12", "a-b-12.s", 12, "a-b-0.s"},
    {"train-3.sub.ns", "train-3.sub.ns", 3, "train-0.sub.ns"},
    {"train-13", "train-13.sub", 3, NULL},
    {"train-3", "train-3", 3, NULL},
    {"train-3", "localhost", 3, NULL},
    {"train-3", "", 3, NULL},
    {"-3", "-3.sub", 3, NULL},
    {"3", "3.sub", 3, NULL},
    {"", "", 0, NULL},
};

static void first_pods(void)
{
    for (size_t i = 0; i < COUNT(pods); i++) {
        char pod[256] = "";
        bool good =
            meeting_first_pod(pods[i].name, pods[i].full_name, pods[i].index, pod, sizeof(pod));
        is_str(good ? pod : "none", pods[i].pod != NULL ? pods[i].pod : "none",
               "pod %d \"%s\", in full \"%s\"", pods[i].index, pods[i].name, pods[i].full_name);
    }
    char small[8];
    ok(!meeting_first_pod("train-3", "train-3.sub", 3, small, sizeof(small)), "and in no room");
}

static void ports(void)
{
    bool in_range = true;
    char job[32];
    is_int(meeting_port("12.3"), 20480 + 12 * 16 + 3, "a port by job and step");
    is_int(meeting_port("512.0"), 20480, "which come around");
    for (int i = 0; i < 1000; i++) {
        snprintf(job, sizeof(job), "job-%d", i);
        int port = meeting_port(job);
        in_range = in_range && port >= 20480 && port < 28672 && port == meeting_port(job);
    }
    ok(in_range, "1000 other ids have ports from 20480 to 28671, always the same");
}

static void own_address(void)
{
    interface_address own;
    is_int(meeting_own_address("localhost", &own), MUSTER_OK, "this host has an address");
    interface_address same;
    ok(interface_of_address(own.address, AF_UNSPEC, &same) == MUSTER_OK, "of its own: %s",
       own.address);
    is_int(meeting_own_address(NULL, &own), MUSTER_OK, "without a name too");
}

/* In a process of its own: what libpmix leaks then is not for a sanitizer of ours. */
static int ask_nobody(int index, void *argument, volatile child_report *reports)
{
    char value[PMIX_CLIENT_MAX_VALUE];
    (void)argument;
    muster_status status = pmix_client_exchange("k", "v", 2000, value, NULL);
    snprintf((char *)reports[index].sentence, sizeof(reports[index].sentence), "%s",
             muster_last_error());
    return (int)status;
}

/* An environment of PMIx without a launcher behind it. */
static void pmix_without_server(void)
{
    char words[256];
    child_report report;
    static rendezvous_plan plan;
    if (!pmix_client_is_there(words, sizeof(words))) {
        skip(4, "%s", words);
        return;
    }
    environment_only("PMIX_RANK=0 PMIX_NAMESPACE=n");
    is_int(rendezvous_plan_make(NULL, -1, -1, &plan), MUSTER_OK, "PMIx alone is a way");
    ok(plan.meeting.way == MEETING_PMIX && plan.world_size == -1, "which tells the size later");
    environment_only("PMIX_RANK=0 PMIX_NAMESPACE=n PMIX_MCA_ptl=^client");
    children_run(1, ask_nobody, NULL, &report);
    is_int(report.status, MUSTER_ERR_SYSTEM, "with nobody there it fails");
    has_str(report.sentence, "set MUSTER_PMI=off to do without", "and says what to do");
}

int main(void)
{
    plan((int)(COUNT(plans) + COUNT(arguments) + COUNT(pods) + 1 + 3 + 3 + 4));
    made_plans();
    passed_arguments();
    first_pods();
    ports();
    own_address();
    pmix_without_server();
    return done();
}
