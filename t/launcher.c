/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who started this process, by tables of environments: as launchers were seen to set them, and as
 * they contradict themselves. User case 10.
 */
#include "launch/launcher.h"

#include <stdio.h>
#include <string.h>

#include "environment.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Environments as seen, rank 1 where nothing else is said. */
#define TORCHRUN                                                                                   \
    "RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 GROUP_WORLD_SIZE=1 "         \
    "ROLE_RANK=1 ROLE_WORLD_SIZE=2 ROLE_NAME=default MASTER_ADDR=localhost MASTER_PORT=29400 "     \
    "TORCHELASTIC_RUN_ID=none TORCHELASTIC_RESTART_COUNT=0 TORCHELASTIC_MAX_RESTARTS=0 "           \
    "TORCHELASTIC_USE_AGENT_STORE=True "
#define OPEN_MPI_4                                                                                 \
    "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_RANK=1 "                  \
    "OMPI_COMM_WORLD_LOCAL_SIZE=3 OMPI_COMM_WORLD_NODE_RANK=1 OMPI_UNIVERSE_SIZE=2 "               \
    "PMIX_RANK=1 PMIX_NAMESPACE=2000420865 PMIX_HOSTNAME=h PMIX_SERVER_URI2=x "
#define OPEN_MPI_6                                                                                 \
    "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_RANK=2 "                  \
    "OMPI_COMM_WORLD_LOCAL_SIZE=3 OMPI_COMM_WORLD_NODE_RANK=2 OMPI_WORLD_SIZE=3 "                  \
    "PRTE_LAUNCHED=1 PMIX_RANK=1 PMIX_NAMESPACE=prterun-h-7@1 "
#define HYDRA_4                                                                                    \
    "PMI_RANK=1 PMI_SIZE=3 PMI_FD=8 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=3 HYDI_CONTROL_FD=7 "        \
    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=h "
#define PALS                                                                                       \
    "PALS_RANKID=5 PMI_RANK=5 PMI_SIZE=8 PALS_LOCAL_RANKID=1 PMI_LOCAL_RANK=1 PMI_LOCAL_SIZE=4 "   \
    "PALS_NODEID=1 PALS_APID=ab-1 PALS_APINFO=/x "
#define FLUX                                                                                       \
    "FLUX_TASK_RANK=3 FLUX_JOB_SIZE=4 FLUX_TASK_LOCAL_ID=1 FLUX_JOB_NNODES=2 FLUX_JOB_ID=fA1 "     \
    "PMI_RANK=3 PMI_SIZE=4 PMI_FD=9 PMI_SPAWNED=0 "
#define JSM                                                                                        \
    "JSM_NAMESPACE_RANK=2 JSM_NAMESPACE_SIZE=4 JSM_NAMESPACE_LOCAL_RANK=0 "                        \
    "JSM_NAMESPACE_LOCAL_SIZE=2 LSB_JOBID=77 "
#define SLURM                                                                                      \
    "SLURM_PROCID=2 SLURM_LOCALID=2 SLURM_NODEID=0 SLURM_NTASKS=4 SLURM_NPROCS=4 SLURM_NNODES=2 "  \
    "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 "                               \
    "SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_TASKS_PER_NODE=3,1 SLURM_JOB_ID=12 "
#define SLURM_BATCH                                                                                \
    "SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_NTASKS=4 SLURM_NPROCS=4 "                 \
    "SLURM_JOB_ID=12 SLURM_JOB_NODELIST=n[1-2] "
/* The step is that of mpirun's own daemon. */
#define SLURM_UNDER_MPIRUN                                                                         \
    "SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NODEID=1 SLURM_NTASKS=2 SLURM_STEP_ID=0 "                \
    "SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_STEP_TASKS_PER_NODE=1(x2) "               \
    "SLURM_JOB_ID=9 "

static const struct {
    const char *environment;
    /* family rank/size local rank/local size node/nodes job */
    const char *expected;
} found[] = {
    {"", "none"},
    {"MUSTER_RANK=1 MUSTER_SIZE=4 MUSTER_LOCAL_RANK=1 MUSTER_LOCAL_SIZE=2 MUSTER_NODE_RANK=0 "
     "MUSTER_NUM_NODES=2",
     "MUSTER_* 1/4 1/2 0/2 ''"},
    {"MUSTER_RANK=0 MUSTER_SIZE=2", "MUSTER_* 0/2 -1/-1 -1/-1 ''"},
    {TORCHRUN, "torch's names 1/2 1/2 0/1 'none'"},
    {"RANK=1 WORLD_SIZE=2 NODE_RANK=1", "torch's names 1/2 -1/-1 1/-1 ''"},
    {TORCHRUN "NODE_RANK=5", "torch's names 1/2 1/2 0/1 'none'"},
    {OPEN_MPI_4, "Open MPI 1/3 1/3 -1/-1 '2000420865'"},
    {OPEN_MPI_6, "Open MPI 1/3 2/3 -1/-1 'prterun-h-7@1'"},
    {HYDRA_4, "Hydra 1/3 1/3 -1/-1 ''"},
    {PALS, "PALS 5/8 1/4 1/-1 'ab-1'"},
    {PALS "PALS_LOCAL_SIZE=2", "PALS 5/8 1/2 1/-1 'ab-1'"},
    {FLUX, "Flux 3/4 1/-1 -1/2 'fA1'"},
    {JSM, "JSM 2/4 0/2 -1/-1 '77'"},
    {"PMIX_RANK=1 PMIX_NAMESPACE=prterun-h-7@1", "PMIx 1/-1 -1/-1 -1/-1 'prterun-h-7@1'"},
    {SLURM, "Slurm 2/4 2/3 0/2 '12.0'"},
    {SLURM "PMIX_RANK=2 PMIX_NAMESPACE=slurm.pmix.12.0", "Slurm 2/4 2/3 0/2 '12.0'"},
    {SLURM "PMI_RANK=2 PMI_SIZE=4 PMI_FD=5 PMI_JOBID=12.0", "Slurm 2/4 2/3 0/2 '12.0'"},
    {"PMI_RANK=1 PMI_SIZE=2 PMI_FD=5", "PMI 1/2 -1/-1 -1/-1 ''"},
    {"JOB_COMPLETION_INDEX=3", "Kubernetes 3/-1 -1/-1 3/-1 ''"},
    /* A batch script and a shell of salloc are no steps. */
    {SLURM_BATCH, "none"},
    {SLURM_BATCH "SLURM_STEP_ID=-5", "none"},
    {"SLURM_NTASKS=4 SLURM_JOB_ID=12", "none"},
    /* Inside of each other: the nearest launcher, whole. */
    {OPEN_MPI_4 SLURM_UNDER_MPIRUN, "Open MPI 1/3 1/3 -1/-1 '2000420865'"},
    {HYDRA_4 SLURM_UNDER_MPIRUN, "Hydra 1/3 1/3 -1/-1 ''"},
    {"PMIX_RANK=1 PMIX_NAMESPACE=prterun-h-7@1 " SLURM_UNDER_MPIRUN,
     "PMIx 1/-1 -1/-1 -1/-1 'prterun-h-7@1'"},
    {TORCHRUN SLURM, "torch's names 1/2 1/2 0/1 'none'"},
    {TORCHRUN OPEN_MPI_4 SLURM, "torch's names 1/2 1/2 0/1 'none'"},
    {"WORLD_SIZE=4 " SLURM, "Slurm 2/4 2/3 0/2 '12.0'"},
    {"MUSTER_RANK=0 MUSTER_SIZE=1 " TORCHRUN SLURM, "MUSTER_* 0/1 -1/-1 -1/-1 ''"},
    {JSM "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4", "Open MPI 2/4 -1/-1 -1/-1 ''"},
    {PALS SLURM, "PALS 5/8 1/4 1/-1 'ab-1'"},
    {FLUX SLURM_BATCH, "Flux 3/4 1/-1 -1/2 'fA1'"},
    {"JOB_COMPLETION_INDEX=0 " TORCHRUN, "torch's names 1/2 1/2 0/1 'none'"},
    {"LOCAL_RANK=3 " SLURM, "Slurm 2/4 2/3 0/2 '12.0'"},
    /* Set to nothing is not set. */
    {"RANK= " SLURM, "Slurm 2/4 2/3 0/2 '12.0'"},
    {"RANK= WORLD_SIZE=", "none"},
    /* torch's names may be half set: what is missing may be passed. */
    {"RANK=1", "torch's names 1/-1 -1/-1 -1/-1 ''"},
    {"WORLD_SIZE=4", "none"},
    {"MUSTER_SIZE=4", "none"},
    {"FLUX_JOB_SIZE=4", "none"},
};

static void show(const launcher *one, char *text, size_t size)
{
    const int *is = one->facts;
    if (one->family == NULL)
        snprintf(text, size, "none");
    else
        snprintf(text, size, "%s %d/%d %d/%d %d/%d '%s'", one->family->name, is[LAUNCHER_RANK],
                 is[LAUNCHER_SIZE], is[LAUNCHER_LOCAL_RANK], is[LAUNCHER_LOCAL_SIZE],
                 is[LAUNCHER_NODE_RANK], is[LAUNCHER_NUM_NODES], one->job);
}

static void found_launchers(void)
{
    for (size_t i = 0; i < COUNT(found); i++) {
        launcher one;
        char text[1024];
        environment_only(found[i].environment);
        if (launcher_find(&one) == MUSTER_OK)
            show(&one, text, sizeof(text));
        else
            snprintf(text, sizeof(text), "%s", muster_last_error());
        is_str(text, found[i].expected, "[%.90s]", found[i].environment);
    }
}

static const struct {
    const char *environment;
    const char *words;
} refused[] = {
    /* Half a family: both variables are named. */
    {"MUSTER_RANK=1", "says MUSTER_RANK=1 but not MUSTER_SIZE, which go together"},
    {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_RANK=1 but not OMPI_COMM_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_SIZE=2 but not OMPI_COMM_WORLD_RANK"},
    {"MPI_LOCALRANKID=0 PMI_PORT=h:1 PMI_ID=0", "MPI_LOCALRANKID=0 but not PMI_RANK"},
    {"MPI_LOCALRANKID=0 PMI_RANK=0",
     "MPI_LOCALRANKID=0 but not PMI_SIZE, which go together (Hydra): set both or none"},
    {"PALS_RANKID=0", "PALS_RANKID=0 but not PMI_SIZE"},
    {"FLUX_TASK_RANK=0", "FLUX_TASK_RANK=0 but not FLUX_JOB_SIZE"},
    {"JSM_NAMESPACE_SIZE=2", "JSM_NAMESPACE_SIZE=2 but not JSM_NAMESPACE_RANK"},
    {"SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_TASKS=2 but not SLURM_PROCID"},
    {"PMI_RANK=0", "PMI_RANK=0 but not PMI_SIZE"},
    {"PMI_SIZE=2", "PMI_SIZE=2 but not PMI_RANK"},
    /* No family makes up for what another lacks. */
    {"OMPI_COMM_WORLD_RANK=1 WORLD_SIZE=2 PMI_SIZE=2", "but not OMPI_COMM_WORLD_SIZE"},
    /* Outside of the world. */
    {"MUSTER_RANK=2 MUSTER_SIZE=2",
     "MUSTER_RANK=2 and MUSTER_SIZE=2; rank 2 is outside of a world"},
    {"RANK=4 WORLD_SIZE=4", "RANK=4 and WORLD_SIZE=4; rank 4 is outside of a world of 4"},
    {"PMI_RANK=3 PMI_SIZE=3 MPI_LOCALRANKID=0", "PMI_RANK=3 and PMI_SIZE=3; rank 3 is outside"},
    {SLURM "SLURM_PROCID=4", "SLURM_PROCID=4 and SLURM_STEP_NUM_TASKS=4; rank 4 is outside"},
    /* Other pairs. */
    {OPEN_MPI_4 "OMPI_COMM_WORLD_LOCAL_RANK=3",
     "OMPI_COMM_WORLD_LOCAL_RANK=3 and OMPI_COMM_WORLD_LOCAL_SIZE=3; local rank 3 is outside of 3"},
    {OPEN_MPI_4 "OMPI_COMM_WORLD_LOCAL_SIZE=4",
     "OMPI_COMM_WORLD_LOCAL_SIZE=4 and OMPI_COMM_WORLD_SIZE=3; a local size of 4 is more than 3"},
    {SLURM "SLURM_LOCALID=3", "SLURM_LOCALID=3 and SLURM_STEP_TASKS_PER_NODE=3,1; local rank 3"},
    {SLURM "SLURM_STEP_NUM_NODES=5", "SLURM_STEP_NUM_NODES=5 and SLURM_STEP_NUM_TASKS=4; a number"},
    {SLURM "SLURM_NODEID=2", "is of 2 nodes, and this is node 2"},
    {TORCHRUN "GROUP_RANK=1", "GROUP_RANK=1 and GROUP_WORLD_SIZE=1; node 1 is outside of 1"},
    /* Not numbers. */
    {"MUSTER_RANK=x MUSTER_SIZE=2", "MUSTER_RANK=\"x\"; expected a number from 0 to 131071"},
    {"MUSTER_RANK=0 MUSTER_SIZE=0", "MUSTER_SIZE=\"0\"; expected a number from 1 to 131072"},
    {"PMI_RANK=-1 PMI_SIZE=2", "PMI_RANK=\"-1\"; expected a number"},
    {"OMPI_COMM_WORLD_RANK=0x1 OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=\"0x1\"; expected"},
    {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=99999999999", "\"99999999999\"; expected"},
    {"FLUX_TASK_RANK=1~ FLUX_JOB_SIZE=2", "FLUX_TASK_RANK=\"1 \"; expected"},
    {SLURM "SLURM_LOCALID=a", "SLURM_LOCALID=\"a\"; expected"},
    {SLURM "SLURM_STEP_TASKS_PER_NODE=3;1", "SLURM_STEP_TASKS_PER_NODE: the list of tasks on each"},
    {"JOB_COMPLETION_INDEX=a", "JOB_COMPLETION_INDEX=\"a\"; expected"},
};

static void contradictions(void)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        launcher one;
        environment_only(refused[i].environment);
        is_int(launcher_find(&one), MUSTER_ERR_ARGUMENT, "[%.90s] is refused",
               refused[i].environment);
        has_str(muster_last_error(), refused[i].words, "and why");
    }
}

static const struct {
    const char *environment;
    const char *family;
    const char *words;
} passed_over[] = {
    {"", "Slurm", "SLURM_STEP_NUM_TASKS is not set"},
    {SLURM_BATCH, "Slurm",
     "SLURM_PROCID=0 is set, but SLURM_STEP_NUM_TASKS is not set; a batch script or a shell of "
     "salloc is not a step: start the ranks with srun"},
    {"WORLD_SIZE=4", "torch's names", "WORLD_SIZE=4 is set, but RANK is not set"},
    {"FLUX_JOB_SIZE=4", "Flux", "a batch script of Flux is not a task"},
    {"PMIX_RANK=1 PMIX_NAMESPACE=slurm.pmix.1.0", "PMIx", "by way of Slurm's variables"},
    {SLURM, "Slurm", ""},
};

static void reasons(void)
{
    char words[300];
    for (size_t i = 0; i < COUNT(passed_over); i++) {
        bool there = true;
        words[0] = '\0';
        environment_only(passed_over[i].environment);
        for (size_t f = 0; f < launcher_num_families; f++)
            if (strcmp(launcher_families[f].name, passed_over[i].family) == 0)
                there = launcher_is_there(&launcher_families[f], words, sizeof(words));
        ok(there == (passed_over[i].words[0] == '\0'), "[%.60s]: %s or not",
           passed_over[i].environment, passed_over[i].family);
        has_str(words, passed_over[i].words, "and why");
    }
}

static void hosts(void)
{
    launcher one;
    environment_only(OPEN_MPI_4);
    ok(launcher_find(&one) == MUSTER_OK && launcher_one_host(&one), "as many local ranks as ranks");
    environment_only(SLURM);
    ok(launcher_find(&one) == MUSTER_OK && !launcher_one_host(&one), "two nodes");
    environment_only(FLUX "FLUX_JOB_NNODES=1");
    ok(launcher_find(&one) == MUSTER_OK && launcher_one_host(&one), "one node");
    environment_only("PMI_RANK=0 PMI_SIZE=2");
    ok(launcher_find(&one) == MUSTER_OK && !launcher_one_host(&one), "not known is not one");
}

static void long_job(void)
{
    static char environment[2048];
    launcher one;
    size_t used = (size_t)snprintf(environment, sizeof(environment), "%sPALS_APID=", PALS);
    memset(environment + used, 'x', 513);
    environment_only(environment);
    is_int(launcher_find(&one), MUSTER_ERR_ARGUMENT, "a job id of 513 characters is refused");
    has_str(muster_last_error(), "PALS_APID=\"xxxx", "naming its variable");
}

int main(void)
{
    plan((int)(COUNT(found) + 2 * COUNT(refused) + 2 * COUNT(passed_over) + 4 + 2));
    found_launchers();
    contradictions();
    reasons();
    hosts();
    long_job();
    return done();
}
