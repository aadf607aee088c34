/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans for machines that are not here, and for this one, with GPUs hidden; what is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster.h"
#include "tap.h"

static muster_plan *plan_of(const char *topology, int ranks, const char *policy, const char *list)
{
    muster_plan_args args = MUSTER_PLAN_ARGS_INIT;
    char path[512];
    muster_plan *made = NULL;
    snprintf(path, sizeof(path), TOPOLOGIES "/%s.xml", topology != NULL ? topology : "");
    args.topology = topology != NULL ? path : NULL;
    args.num_ranks = ranks;
    args.policy = policy;
    args.list = list;
    if (muster_plan_placement(&args, &made) != MUSTER_OK)
        diag("%s", muster_last_error());
    return made;
}

/* No two ranks have one GPU; how many have one. */
static int distinct(const muster_plan *made)
{
    int count = 0;
    for (int r = 0; r < made->num_ranks; r++) {
        count += made->ranks[r].device >= 0;
        for (int o = 0; o < r; o++)
            if (made->ranks[r].device >= 0 && made->ranks[r].device == made->ranks[o].device)
                return -1;
    }
    return count;
}

static void machines(void)
{
    static const struct {
        const char *topology;
        int gpus;
        const char *words;
    } rows[] = {
        {"mpibind-coral-lassen", 4, "2 packages, 2 NUMA nodes, 40 cores, 160 threads; 4 GPUs"},
        {"mpibind-g4dnmetal", 8, "8 GPUs (NVIDIA); 2 network interfaces"},
        {"hwloc-nvidiaDGX2", 16, "16 GPUs (NVIDIA)"},
        {"mpibind-eas-tioga", 0, "(none NVIDIA)"},
        {"mpibind-cts1-quartz-smt1", 0, "0 GPUs"},
    };
    static const int counts[] = {1, 2, 4, 6, 8, 16};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (size_t n = 0; n < 6; n++) {
            muster_plan *made = plan_of(rows[i].topology, counts[n], NULL, NULL);
            int fewer = counts[n] < rows[i].gpus ? counts[n] : rows[i].gpus;
            ok(made != NULL && made->num_ranks == counts[n] && distinct(made) == fewer,
               "%d ranks on %s have %d GPUs", counts[n], rows[i].topology, fewer);
            ok(made != NULL && (fewer == counts[n]) == (*made->shortage == '\0'),
               "and it says where one has none");
            if (n == 0)
                has_str(made->topology, rows[i].words, "the machine in short");
            muster_free(made);
        }
}

static void details(void)
{
    muster_plan *made = plan_of("mpibind-coral-lassen", 4, "scatter", NULL);
    ok(made != NULL && made->ranks[1].numa_node == 8 && made->ranks[0].numa_node == 0 &&
           strcmp(made->policy, "scatter") == 0,
       "a policy is followed");
    is_str(made->ranks[1].host, "mpibind-coral-lassen", "the host is called by the file");
    is_str(made->ranks[1].device_bus_id, "0035:03:00.0", "the GPU's place");
    is_str(made->ranks[1].distance, "local", "it is near");
    ok(made->ranks[1].elsewhere && made->ranks[1].local_rank == 1 && *made->ranks[1].cpus != '\0' &&
           *made->ranks[1].near_cpus != '\0' && *made->ranks[1].nic != '\0',
       "and the rest is there");
    has_str(made->seen_by, "hwloc", "who saw it");
    ok(muster_bind_thread(&made->ranks[1], "device") == MUSTER_OK,
       "binding to a machine that is not here does nothing");
    muster_free(made);
    made = plan_of("mpibind-coral-lassen", 2, NULL, "3@8-11;none@16");
    ok(made != NULL && made->ranks[0].device == 3 && strcmp(made->ranks[0].cpus, "8-11") == 0 &&
           made->ranks[1].device == -1 && strcmp(made->policy, "explicit") == 0,
       "a list is");
    muster_free(made);
    setenv("MUSTER_OPTIONS", "placement=scatter,gloo.iface=lo", 1);
    made = plan_of("mpibind-coral-lassen", 2, NULL, NULL);
    ok(made != NULL && strcmp(made->policy, "scatter") == 0 && made->ranks[1].numa_node == 8,
       "what MUSTER_OPTIONS says where nothing was asked for");
    muster_free(made);
    made = plan_of("mpibind-coral-lassen", 2, "auto", NULL);
    ok(made != NULL && strcmp(made->policy, "auto") == 0, "and not where something was");
    muster_free(made);
    unsetenv("MUSTER_OPTIONS");
    made = plan_of(NULL, 1, NULL, NULL);
    ok(made != NULL && !made->ranks[0].elsewhere && *made->ranks[0].cpus != '\0' &&
           *made->ranks[0].host != '\0',
       "this machine");
    muster_free(made);
}

/* This machine is a file's. */
static void hidden(void)
{
    setenv("MUSTER_TOPOLOGY_FILE", TOPOLOGIES "/mpibind-g4dnmetal.xml", 1);
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    setenv("CUDA_VISIBLE_DEVICES", "6,2", 1);
    muster_plan *made = plan_of(NULL, 2, NULL, NULL);
    ok(made != NULL && distinct(made) == 2 &&
           strcmp(made->ranks[0].device_bus_id, "0000:35:00.0") == 0 && made->ranks[0].device == 1,
       "of hidden GPUs none is given, and ordinals are CUDA's");
    has_str(made->hidden, "CUDA_VISIBLE_DEVICES", "and it says why");
    muster_free(made);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    made = plan_of(NULL, 2, NULL, NULL);
    ok(made != NULL && distinct(made) == 0, "all can be hidden");
    muster_free(made);
    made = plan_of("mpibind-g4dnmetal", 2, NULL, NULL);
    ok(made != NULL && distinct(made) == 2 && *made->hidden == '\0',
       "of another machine none is hidden by this process's variables");
    muster_free(made);
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_DEVICE_ORDER");
    unsetenv("MUSTER_TOPOLOGY_FILE");
}

static void refused(void)
{
    static const struct {
        muster_plan_args args;
        muster_status status;
        const char *words;
    } rows[] = {
        {{sizeof(muster_plan_args), NULL, 0, NULL, NULL}, MUSTER_ERR_ARGUMENT, "0 ranks"},
        {{sizeof(muster_plan_args), NULL, 5000, NULL, NULL}, MUSTER_ERR_ARGUMENT, "5000 ranks"},
        {{sizeof(muster_plan_args), NULL, 1, "fast", NULL}, MUSTER_ERR_ARGUMENT, "\"fast\""},
        {{sizeof(muster_plan_args), NULL, 1, "explicit", NULL},
         MUSTER_ERR_ARGUMENT,
         "the policy is explicit and there is no list"},
        {{sizeof(muster_plan_args), NULL, 1, "auto", "0"},
         MUSTER_ERR_ARGUMENT,
         "the policy is auto and there is a list"},
        {{sizeof(muster_plan_args), NULL, 2, NULL, "@0"}, MUSTER_ERR_ARGUMENT, ""},
        {{sizeof(muster_plan_args), NULL, 1, NULL, "7"}, MUSTER_ERR_ARGUMENT, "7"},
        {{sizeof(muster_plan_args), "/no such.xml", 1, NULL, NULL},
         MUSTER_ERR_NOT_FOUND,
         "/no such.xml"},
        {{sizeof(muster_plan_args), TOPOLOGIES "/README.md", 1, NULL, NULL},
         MUSTER_ERR_ARGUMENT,
         "README.md"},
        {{4, NULL, 1, NULL, NULL}, MUSTER_ERR_ARGUMENT, "muster_plan_args"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        muster_plan *made = NULL;
        is_int(muster_plan_placement(&rows[i].args, &made), rows[i].status, "wrong plan %zu", i);
        ok(made == NULL, "gives none");
        has_str(muster_last_error(), rows[i].words, "and says why");
    }
    is_int(muster_plan_placement(NULL, NULL), MUSTER_ERR_ARGUMENT, "no place for it");
}

int main(void)
{
    unsetenv("MUSTER_TOPOLOGY_FILE");
    unsetenv("HWLOC_XMLFILE");
    unsetenv("CUDA_VISIBLE_DEVICES");
    plan(5 * 13 + 11 + 4 + 31);
    machines();
    details();
    hidden();
    refused();
    return done();
}
