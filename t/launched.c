/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Real jobs under Open MPI's and MPICH's launchers, where these are installed. Slurm's are in
 * launched_slurm.c.
 */
#include "config.h"

#include "launched.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OPEN_MPI "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "4"
#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const launched_case cases[] = {
    {"Open MPI", WORDS(OPEN_MPI), "", "Open MPI", "PMIx (libpmix.so.2)"},
    /* All that PRRTE sets is PMIx's: how many ranks there are is asked of it. */
    {"PMIx alone",
     WORDS(OPEN_MPI, "env", "-u", "OMPI_COMM_WORLD_RANK", "-u", "OMPI_COMM_WORLD_SIZE"), "", "PMIx",
     "PMIx (libpmix.so.2)"},
    {"Open MPI without PMIx", WORDS(OPEN_MPI, "-x", "MUSTER_PMI"), "MUSTER_PMI=off", "Open MPI",
     "loopback, for all ranks are on one host, port by the job's id"},
    {"Hydra", WORDS("mpiexec.hydra", "-n", "4"), "", "Hydra", "PMI (PMI_FD="},
    {"Hydra without PMI", WORDS("mpiexec.hydra", "-n", "4"),
     "MUSTER_PMI=off MASTER_ADDR=127.0.0.1 MASTER_PORT=@", "Hydra", "MASTER_ADDR and MASTER_PORT"},
};

/* Those of a launcher that is not installed are skipped. */
static void run_cases(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *launcher = cases[i].launcher[0];
        if (!launched_is_there(launcher)) {
            skip(LAUNCHED_JOB_POINTS + LAUNCHED_WORLDS_POINTS, "%s is not installed", launcher);
            continue;
        }
        launched_job(&cases[i]);
        launched_worlds(&cases[i]);
    }
}

/* Hydra tells nothing in the environment then but the local rank. */
static void hydra_by_port(void)
{
    const launched_case by_port = {"", WORDS("mpiexec.hydra", "-pmi-port", "-n", "2"), "", "", ""};
    if (!launched_is_there("mpiexec.hydra")) {
        skip(2, "mpiexec.hydra is not installed");
        return;
    }
    launched_run(&by_port, WORDS(TOOLS "/muster-gather", PROMPTS));
    ok(launched_last.status != 0, "mpiexec -pmi-port is an error");
    ok(launched_count(launched_last.err, "but not PMI_RANK, which go together (Hydra)") > 0 ||
           launched_count(launched_last.out, "but not PMI_RANK, which go together (Hydra)") > 0,
       "that says what is missing");
}

/* ---- Together with MPI --------------------------------------------------------------------- */

/* NULL with the reason, which is NULL too where the compiler refuses the program. */
static const char *mpi_program(const char *compiler, const char **reason)
{
    static char path[600];
    struct command compile = {.out = NULL};
    snprintf(path, sizeof(path), "%s/%s-%ld", OWN_FOLDER, compiler, (long)getpid());
    *reason = NULL;
    if (!launched_is_there(compiler)) {
        *reason = "it is not installed";
        return NULL;
    }
    command_run(&compile, NULL,
                WORDS("sh", "-c",
                      "exec \"$0\" -I\"$1\" \"$2\" -o \"$3\" -L\"$4\" -Wl,-rpath,\"$4\" "
                      "-lmuster $5",
                      compiler, SOURCES "/include", SOURCES "/t/launched_mpi.c", path, LIBRARY,
                      SANITIZER_FLAGS));
    bool good = compile.status == 0;
    if (!good && strstr(compile.err, "mpi.h: No such file") != NULL)
        *reason = "its mpi.h is not installed";
    else if (!good)
        diag("%.2000s", compile.err);
    command_free(&compile);
    return good ? path : NULL;
}

/* UCX, below MPICH, watches calls about memory and does so when a thread has ended for
 * ThreadSanitizer, which ends the process. */
#ifdef __SANITIZE_THREAD__
#define BESIDES_MPICH "MUSTER_MASTER_PORT=@ UCX_MEM_EVENTS=n"
#else
#define BESIDES_MPICH "MUSTER_MASTER_PORT=@"
#endif

static const struct {
    const char *compiler;
    launched_case launch;
    const char *order;
    const char *words; /* of the log */
} with_mpi[] = {
    {"mpicc.openmpi", {"", WORDS(OPEN_MPI), "", "", ""}, "mpi-first", "PMIx"},
    {"mpicc.openmpi",
     {"", WORDS(OPEN_MPI), "", "", ""},
     "muster-first",
     "loopback, for all ranks are on one host, port by the job's id"},
    {"mpicc.mpich",
     {"", WORDS("mpiexec.hydra", "-n", "4"), BESIDES_MPICH, "", ""},
     "mpi-first",
     "loopback, for all ranks are on one host, port MUSTER_MASTER_PORT"},
    {"mpicc.mpich",
     {"", WORDS("mpiexec.hydra", "-n", "4"), BESIDES_MPICH, "", ""},
     "muster-first",
     "loopback, for all ranks are on one host, port MUSTER_MASTER_PORT"},
};

static void besides_mpi(void)
{
    for (size_t i = 0; i < COUNT(with_mpi); i++) {
        const char *compiler = with_mpi[i].compiler;
        const char *reason, *program = mpi_program(compiler, &reason);
        if (reason != NULL) {
            skip(3, "%s: %s", compiler, reason);
            continue;
        }
        if (!ok(program != NULL, "%s compiles a program of MPI and muster", compiler)) {
            skip(2, "no program");
            continue;
        }
        launched_run(&with_mpi[i].launch, WORDS(program, with_mpi[i].order));
        is_int(launched_count(launched_last.out, "muster 6, MPI 6"), LAUNCHED_RANKS,
               "%s: both work in one process", with_mpi[i].order);
        is_int(launched_count(launched_last.err, with_mpi[i].words), LAUNCHED_RANKS,
               "rank 0 is found: %s", with_mpi[i].words);
        unlink(program);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--rank") == 0)
        return launched_as_rank();
    needs_gloo();
    plan((int)(COUNT(cases) * (LAUNCHED_JOB_POINTS + LAUNCHED_WORLDS_POINTS) + 2 +
               3 * COUNT(with_mpi)));
    run_cases();
    hydra_by_port();
    besides_mpi();
    command_free(&launched_last);
    return done();
}
