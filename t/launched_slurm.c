/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Real jobs under Slurm, in a cluster that this test starts: steps of srun by each way in which
 * their ranks find each other, and a batch script, which is no step.
 */
#include "config.h"

#include "launched.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "slurm_cluster.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define SRUN(mpi, nodes) WORDS("srun", "--mpi=" mpi, "-N" nodes, "-n4")

static const launched_case cases[] = {
    {"srun, one node", SRUN("none", "1"), "", "Slurm",
     "loopback, for all ranks are on one host, port by the job's id"},
    {"srun, two nodes", SRUN("none", "2"), "", "Slurm",
     "the first host of SLURM_STEP_NODELIST, port by SLURM_JOB_ID and SLURM_STEP_ID"},
    {"srun --mpi=pmi2, two nodes", SRUN("pmi2", "2"), "", "Slurm", "PMI (PMI_FD="},
    /* Two nodes on one host have the same names for PMIx's folders. */
    {"srun --mpi=pmix, one node", SRUN("pmix", "1"), "", "Slurm", "PMIx (libpmix.so.2)"},
};

/* In these Slurm's variables are those of the launcher's own daemons. */
static const launched_case inside[] = {
    {"mpirun of Open MPI in an allocation",
     WORDS("salloc", "-Q", "-N2", "-n4", "mpirun.openmpi", "--allow-run-as-root", "-np", "4"), "",
     "Open MPI", "PMIx (libpmix.so.2)"},
    {"mpiexec of MPICH in an allocation",
     WORDS("salloc", "-Q", "-N2", "-n4", "mpiexec.hydra", "-n", "4"), "", "Hydra", "PMI (PMI_FD="},
};

static void launchers_inside(void)
{
    for (size_t i = 0; i < COUNT(inside); i++) {
        if (!launched_is_there(inside[i].launcher[4])) {
            skip(LAUNCHED_JOB_POINTS, "%s is not installed", inside[i].launcher[4]);
            continue;
        }
        launched_job(&inside[i]);
    }
}

static bool has_kind(const char *const *launcher)
{
    struct command list = {.out = NULL};
    command_run(&list, NULL, WORDS("srun", "--mpi=list"));
    char name[32];
    snprintf(name, sizeof(name), "\t%s\n", launcher[1] + strlen("--mpi="));
    bool has = strstr(list.out, name) != NULL || strstr(list.err, name) != NULL;
    command_free(&list);
    return has;
}

static void steps(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (!has_kind(cases[i].launcher)) {
            skip(LAUNCHED_JOB_POINTS + LAUNCHED_WORLDS_POINTS, "srun has no %s",
                 cases[i].launcher[1]);
            continue;
        }
        launched_job(&cases[i]);
        launched_worlds(&cases[i]);
    }
}

/* Four tasks are asked for, but the script itself is one process. */
static void batch_script(void)
{
    char output[128], line[256] = "";
    snprintf(output, sizeof(output), "%s/batch", slurm_cluster_folder());
    const launched_case batch = {"", WORDS("sbatch", "--wait", "-n4", "-o", output, "--wrap"), "",
                                 "", ""};
    char script[600];
    snprintf(script, sizeof(script), "exec '%s' --rank 2>/dev/null", launched_self());
    launched_run(&batch, WORDS(script));
    is_int(launched_last.status, 0, "a batch script runs");
    FILE *file = fopen(output, "re");
    if (file != NULL && fgets(line, sizeof(line), file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    is_str(line, "rank 0: 0 and 0 of 1\n", "as a world of one");
}

int main(int argc, char **argv)
{
    char reason[128];
    if (argc == 2 && strcmp(argv[1], "--rank") == 0)
        return launched_as_rank();
    needs_gloo();
    if (!slurm_cluster_start(reason, sizeof(reason)))
        plan_skip_all("%s", reason);
    plan((int)(COUNT(cases) * (LAUNCHED_JOB_POINTS + LAUNCHED_WORLDS_POINTS) +
               COUNT(inside) * LAUNCHED_JOB_POINTS + 2));
    steps();
    launchers_inside();
    batch_script();
    slurm_cluster_stop();
    command_free(&launched_last);
    return done();
}
