/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs and people are told of the launcher.
 */
#include <stdio.h>
#include <string.h>

#include "environment.h"
#include "muster.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SLURM                                                                                      \
    "SLURM_PROCID=2 SLURM_LOCALID=2 SLURM_NODEID=0 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 "        \
    "SLURM_STEP_NUM_NODES=2 SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_TASKS_PER_NODE=3,1 "             \
    "SLURM_JOB_ID=12 "
#define MUSTER_RUN                                                                                 \
    "RANK=1 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=5 MUSTER_JOB_ID=j "                             \
    "TORCHELASTIC_USE_AGENT_STORE=True "
#define BATCH "SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=12 "

static const struct {
    const char *environment;
    const char *expected; /* name rank/size local/local node/nodes job address:port how */
    const char *problem;
} reports[] = {
    {"", "'' 0/1 -1/-1 -1/-1 '' ':0' ''", ""},
    {SLURM,
     "'Slurm' 2/4 2/3 0/2 '12.0' 'n1:20672' 'the first host of SLURM_STEP_NODELIST, port by "
     "SLURM_JOB_ID and SLURM_STEP_ID'",
     ""},
    {"PMI_RANK=1 PMI_SIZE=2 PMI_FD=99", "'PMI' 1/2 -1/-1 -1/-1 '' ':0' 'PMI (PMI_FD=99)'", ""},
    {"RANK=1 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=5",
     "'torch's names' 1/2 -1/-1 -1/-1 '' 'h:5' 'MASTER_ADDR and MASTER_PORT'", ""},
    {"RANK=0 WORLD_SIZE=1", "'torch's names' 0/1 -1/-1 -1/-1 '' ':0' ''", ""},
    {"RANK=1 WORLD_SIZE=2", "'torch's names' 1/2 -1/-1 -1/-1 '' ':0'", "lacks MASTER_ADDR"},
    {MUSTER_RUN, "'muster-run' 1/2 -1/-1 -1/-1 '' 'h:5' 'MASTER_ADDR and MASTER_PORT'", ""},
    {"PMI_RANK=1", "'PMI' 1/-1 -1/-1 -1/-1 ''", "PMI_RANK=1 but not PMI_SIZE"},
};

static void find(void)
{
    for (size_t i = 0; i < COUNT(reports); i++) {
        muster_launcher_report *one;
        char text[600];
        environment_only(reports[i].environment);
        if (muster_find_launcher(&one) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        snprintf(text, sizeof(text), "'%s' %d/%d %d/%d %d/%d '%s' '%s:%d' '%s'", one->name,
                 one->rank, one->world_size, one->local_rank, one->local_size, one->node_rank,
                 one->num_nodes, one->job, one->master_addr, one->master_port, one->how);
        has_str(text, reports[i].expected, "[%.60s]", reports[i].environment);
        ok((one->problem[0] == '\0') == (reports[i].problem[0] == '\0') &&
               strstr(one->problem, reports[i].problem) != NULL,
           "and what is wrong: '%.80s'", one->problem);
        muster_free(one);
    }
    is_int(muster_find_launcher(NULL), MUSTER_ERR_ARGUMENT, "no place for a report");
}

static const struct {
    const char *environment;
    const char *words;
} descriptions[] = {
    {"", "launcher         none\n"},
    {"", "rank 0           is this one, alone\n"},
    {SLURM, "launcher         Slurm\n"},
    {SLURM, "rank             2 (SLURM_PROCID)\n"},
    {SLURM, "local size       3 (SLURM_STEP_TASKS_PER_NODE)\n"},
    {SLURM, "nodes            2 (SLURM_STEP_NUM_NODES)\n"},
    {SLURM, "address          n1\n"},
    {SLURM, "port             20672\n"},
    {SLURM,
     "other ways       MASTER_ADDR and MASTER_PORT (with MUSTER_ before them or without) are "
     "not both set; PMI: PMI_FD is not set; PMIx: PMIX_RANK and PMIX_NAMESPACE are not both "
     "set; loopback: nothing says that all ranks are on one host\n"},
    {SLURM "PMI_RANK=2 PMI_SIZE=4 MASTER_ADDR=h MASTER_PORT=1",
     "not PMI            it is there, but Slurm comes first\n"},
    {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 " SLURM,
     "not Slurm          it is there, but Open MPI comes first\n"},
    {BATCH, "launcher         none\n"},
    {BATCH, "not torch's names  RANK is not set\n"},
    {MUSTER_RUN, "launcher         muster-run\n"},
    {MUSTER_RUN "TORCHELASTIC_RUN_ID=r", "launcher         torch's names\n"},
    {"RANK=1 WORLD_SIZE=2 MUSTER_JOB_ID=j MASTER_ADDR=h MASTER_PORT=5",
     "launcher         torch's names\n"},
    {BATCH,
     "not Slurm          SLURM_PROCID=0 is set, but SLURM_STEP_NUM_TASKS is not set; a batch"},
    {"PMI_RANK=1", "problem          the environment says PMI_RANK=1 but not PMI_SIZE"},
};

static void describe(void)
{
    char *text = NULL;
    for (size_t i = 0; i < COUNT(descriptions); i++) {
        environment_only(descriptions[i].environment);
        if (muster_describe_launcher(false, &text) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        has_str(text, descriptions[i].words, "[%.60s]", descriptions[i].environment);
        muster_free(text);
    }
    environment_only(SLURM);
    if (muster_describe_launcher(true, &text) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    has_str(text, "{\"launcher\":\"Slurm\",\"rank\":2,\"rank_variable\":\"SLURM_PROCID\"",
            "as JSON");
    has_str(text, "\"passed_over\":{\"MUSTER_*\":\"MUSTER_RANK is not set\"", "and the others");
    muster_free(text);
    is_int(muster_describe_launcher(false, NULL), MUSTER_ERR_ARGUMENT, "no place for a text");
}

int main(void)
{
    plan((int)(2 * COUNT(reports) + 1 + COUNT(descriptions) + 3));
    find();
    describe();
    return done();
}
