/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-run from the outside: its command line, what ranks find and what becomes of what they
 * print.
 */
#include "config.h"

#include "muster_run.h"
#include "muster.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct command run;

static void refused(const char *why, const char *const *arguments, const char *words)
{
    command_run(&run, NULL, arguments);
    is_int(run.status, 2, "%s is refused", why);
    ok(strstr(run.err, words) != NULL && run.out[0] == '\0', "%s: and said on stderr", why);
    if (strstr(run.err, words) == NULL)
        diag("%s", run.err);
}

void run_options(void)
{
    command_run(&run, NULL, RUN("--version"));
    ok(run.status == 0 && run.err[0] == '\0', "--version succeeds");
    is_str(run.out, "muster-run (muster) " PACKAGE_VERSION "\n", "and says the version");
    command_run(&run, NULL, RUN("--help"));
    ok(run.status == 0 && run.err[0] == '\0', "--help succeeds");
    has_str(run.out, "--nproc-per-node", "and lists the options");
    size_t widest = 0, width;
    for (const char *line = run.out; *line != '\0'; line += width + (line[width] == '\n')) {
        width = strcspn(line, "\n");
        widest = width > widest ? width : widest;
    }
    ok(widest > 40 && widest <= 80, "in 80 columns");
    refused("no program", RUN("-n", "2"), "there is no program");
    refused("no rank", RUN("-n", "0", "true"), "not '0'");
    refused("no number", RUN("-np", "x", "true"), "not 'x'");
    refused("half a number", RUN("-n", "3x", "true"), "not '3x'");
    refused("a lack of number", RUN("-np"), "-np takes a number");
    refused("an unknown option", RUN("--sloth", "true"), "muster-run: unrecognized option");
    refused("an unknown letter", RUN("-k", "true"), "muster-run: invalid option");
    refused("no time", RUN("--timeout", "soon", "true"), "not 'soon'");
    refused("a time below zero", RUN("--kill-after", "-1", "true"), "not '-1'");
    refused("no port", RUN("--master-port", "65536", "true"), "not '65536'");
    refused("no binding", RUN("--bind-to", "socket", "true"), "not 'socket'");
    refused("no folder", RUN("--wdir", "/nowhere", "true"), "'/nowhere' is no folder");
    refused("no name", RUN("-x", "=3", "true"), "-x takes NAME");
    refused("a secret for all to see", RUN("-x", "MUSTER_JOB_SECRET=0123456789abcdef", "true"),
            "is seen by every user");
    refused("GPUs", RUN("--ppn", "gpu", "true"), "give a number");
    refused("uneven nodes", RUN("-n", "3", "--nnodes", "2", "true"), "shared out evenly");
    refused("a contradiction", RUN("-n", "3", "--ppn", "2", "true"), "-n 3 is not");
    refused("nodes without a place", RUN("--nnodes", "2", "true"), "needs --node-rank and");
    refused("a node out of range",
            RUN("--nnodes", "2", "--node-rank", "2", "--master-addr", "::1", "true"),
            "not below --nnodes 2");
    refused("no patience",
            RUN("--nnodes", "2", "--node-rank", "1", "--master-addr", "::1", "--node-timeout",
                "0.5", "true"),
            "--node-timeout takes at least 1 second");
    refused("a node alone", RUN("--node-rank", "1", "true"), "needs --nnodes");
}

#define SHOW "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $NODE_RANK $GROUP_RANK"

/* A variable's value on the first line that a rank prints. */
static void first_line(const char *const *arguments, char *line, size_t size)
{
    command_run(&run, NULL, arguments);
    snprintf(line, size, "%.*s", (int)strcspn(run.out, "\n"), run.out);
}

static void worlds(void)
{
    command_run(&run, NULL, RUN("-np", "3", SHELL(SHOW)));
    has_str(run.out, "0/3 0/3 0 0\n", "the first of three ranks");
    has_str(run.out, "2/3 2/3 0 0\n", "and the last");
    command_run(&run, NULL, RUN("--nproc_per_node=2", "--", SHELL(SHOW)));
    has_str(run.out, "1/2 1/2 0 0\n", "torchrun's way to say it");
    command_run(&run, NULL, RUN("-np1", SHELL(SHOW)));
    is_str(run.out, "0/1 0/1 0 0\n", "a number right behind -np");
    command_run(&run, NULL, RUN(SHELL(SHOW)));
    is_str(run.out, "0/1 0/1 0 0\n", "one rank where nothing is said");
    command_run(&run, NULL, RUN("--ppn", "auto", SHELL("echo $WORLD_SIZE")));
    ok(atoi(run.out) >= 1, "as many as there are CPUs");
}

static void variables(void)
{
    char id[100], other[100];
    setenv("MUSTER_JOB_ID", "outside", 1);
    first_line(RUN(SHELL("echo $MUSTER_JOB_ID")), id, sizeof(id));
    is_int((long long)strlen(id), 32, "a job has an id");
    first_line(RUN(SHELL("echo $MUSTER_JOB_ID")), other, sizeof(other));
    ok(strcmp(id, other) != 0, "and another one another");
    setenv("SLURM_PROCID", "foreign", 1);
    setenv("OMPI_COMM_WORLD_RANK", "foreign", 1);
    setenv("PMI_RANK", "foreign", 1);
    setenv("GIVEN", "here", 1);
    command_run(&run, NULL, RUN(SHELL("env | grep -c =foreign; echo $GIVEN")));
    is_str(run.out, "0\nhere\n", "other launchers are not seen, the rest is");
    command_run(&run, NULL, RUN(SHELL("echo $TORCHELASTIC_RESTART_COUNT")));
    is_str(run.out, "0\n", "torch finds what it wants to know of a launcher with a store");
    command_run(&run, NULL,
                RUN("-x", "ONE=1 and", "-x", "GIVEN", "-x", "PMI_RANK", "-x", "NEVER", "--wdir",
                    "/usr", SHELL("echo $ONE $GIVEN $PMI_RANK $NEVER; pwd")));
    is_str(run.out, "1 and here foreign\n/usr\n", "-x sets and passes on, --wdir is gone to");
    is_str(run.err, "muster-run: -x NEVER: it is not set here, nor will it be in the ranks\n",
           "a name that is not set is told");
}

static const char *self_path(void)
{
    static char path[4096];
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0)
        bail_out("/proc/self/exe can't be read");
    return path;
}

static void resources(void)
{
    command_run(&run, "text\n", RUN("-n", "3", "-l", "cat"));
    is_str(run.out, "[0] text\n", "rank 0 has the standard input, others nothing");
    command_run(&run, NULL, RUN("-n", "2", self_path(), "rank", "descriptors"));
    is_str(run.out, "", "no descriptor of ours is passed on");
    /* The numbers above 28 are left out: libc's own are among them, which some shells ignore. */
    static const char *const signals[] = {
        SHELL("sed -n 's/^Sig[BI].*\\(.......\\)$/\\1/p' /proc/self/status"), NULL};
    command_run(&run, NULL, signals);
    char before[256];
    snprintf(before, sizeof(before), "%s", run.out);
    command_run(&run, NULL, RUN(signals[0], signals[1], signals[2]));
    is_str(run.out, before, "signals are as they were");
}

static int cpus_here(void)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    return CPU_COUNT(&mask);
}

static void run_binding(void)
{
    static const char where[] = "grep Cpus_allowed_list: /proc/self/status";
    char all[4096];
    command_run(&run, NULL, (const char *[]){"sh", "-c", where, NULL});
    snprintf(all, sizeof(all), "%s", run.out);
    command_run(&run, NULL, RUN("-n", "2", "sh", "-c", where));
    ok(run.status == 0 && strstr(run.out, all) != NULL, "ranks are bound to nothing");
    command_run(&run, NULL, RUN("-n", "2", "--bind-to", "core", "sh", "-c", where));
    const char *second = strchr(run.out, '\n') + 1;
    size_t length = (size_t)(second - run.out);
    ok(run.status == 0 && (cpus_here() == 1 || strncmp(run.out, second, length) != 0),
       "to cores of their own with --bind-to core");
    command_run(&run, NULL, RUN("-n", "2", "--bind-to", "core", "-v", "true"));
    ok(run.status == 0 && strstr(run.err, ", for CPUs ") != NULL, "-v says to which");
    setenv("MUSTER_TOPOLOGY_FILE", TOPOLOGIES "/mpibind-coral-lassen.xml", 1);
    command_run(&run, NULL, RUN("-n", "2", "--bind-to", "device", "sh", "-c", where));
    ok(run.status == 0 && strstr(run.out, all) != NULL, "to nothing by another machine's file");
    setenv("MUSTER_TOPOLOGY_FILE", "/no such.xml", 1);
    command_run(&run, NULL, RUN("-n", "2", "--bind-to", "numa", "true"));
    ok(run.status == 1 && strstr(run.err, "the ranks can't be bound: ") != NULL &&
           strstr(run.err, "/no such.xml") != NULL,
       "where it can't be planned nothing is started");
    unsetenv("MUSTER_TOPOLOGY_FILE");
}

void run_surroundings(void)
{
    worlds();
    variables();
    resources();
}

/* Lines that say who wrote them, in pieces that tear well; returns how many are not whole. */
static int torn(const char *text, int *lines)
{
    int bad = 0;
    *lines = 0;
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1, ++*lines) {
        int tag = -1, rank = -2, end = 0;
        size_t length = strcspn(line, "\n");
        sscanf(line, "[%d] %d:%*[x]:end%n", &tag, &rank, &end);
        bad += tag != rank || (size_t)end != length;
        if (line[length] == '\0')
            return bad + 1;
    }
    return bad;
}

void run_printing(void)
{
    const char *self = self_path();
    command_run(&run, NULL, RUN("-n", "4", "--tag-output", self, "rank", "lines"));
    int lines;
    is_int(torn(run.out, &lines), 0, "lines of four ranks stay whole");
    is_int(lines, 4 * 2000, "and none is lost");
    command_run(&run, NULL, RUN("-n", "2", "--label", "printf", "no end"));
    ok(strcmp(run.out, "[0] no end\n[1] no end\n") == 0 ||
           strcmp(run.out, "[1] no end\n[0] no end\n") == 0,
       "a last line without an end gets one");
    command_run(&run, NULL, RUN("-n", "2", SHELL("echo out$RANK; echo err$RANK >&2")));
    ok(strstr(run.out, "out1\n") != NULL && strstr(run.out, "err") == NULL &&
           strstr(run.err, "err0\n") != NULL,
       "both streams stay apart");
    command_run(&run, NULL,
                (const char *const[]){SHELL(MUSTER_RUN " -n 2 yes | head -n 2; sleep 0"), NULL});
    is_str(run.out, "y\ny\n", "ranks whose reader goes end as without us");
    has_str(run.err, "SIGPIPE", "of SIGPIPE");
    command_run(&run, NULL, (const char *const[]){SHELL(MUSTER_RUN " -n 2 echo >/dev/full"), NULL});
    is_int(run.status, 1, "a job whose output can't be written has failed");
    is_str(run.err, "muster-run: the standard output can't be written: No space left on device\n",
           "and why is said once");
    command_run(&run, NULL, (const char *const[]){SHELL(MUSTER_RUN " -n 2 echo >&-"), NULL});
    is_int(run.status, 1, "and so has one whose output is closed");
    is_str(run.err, "muster-run: the standard output can't be written: Bad file descriptor\n",
           "which is said, too");
    command_run(&run, NULL, (const char *const[]){SHELL(MUSTER_RUN " -n 2 true >&-"), NULL});
    is_int(run.status, 0, "unless it has none");
    command_run(&run, NULL, RUN("-n", "3", self, "rank", "store"));
    is_int(run.status, 0, "ranks meet at the store");
    has_str(run.out, "bound to loopback alone\n", "which listens where it was told");
    is_int(command_left(), 0, "nothing is left running");
    command_free(&run);
}

static int rank_lines(void)
{
    const char *rank = getenv("RANK");
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 2000; i++) {
        printf("%s:", rank);
        for (int j = 0; j < 1 + i % 7; j++)
            fwrite("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1, 44, stdout);
        printf(":end\n");
    }
    return 0;
}

/* User case 56, the launcher's part: the kernel's table has the port at 127.0.0.1 and nowhere else.
 */
static bool bound_to_loopback(unsigned port)
{
    char line[512];
    int there = 0, elsewhere = 0;
    FILE *table = fopen("/proc/net/tcp", "re");
    while (table != NULL && fgets(line, sizeof(line), table) != NULL) {
        unsigned address, at, state;
        if (sscanf(line, " %*d: %x:%x %*x:%*x %x", &address, &at, &state) == 3 && at == port &&
            state == 10) {
            there += address == 0x0100007f;
            elsewhere += address != 0x0100007f;
        }
    }
    if (table != NULL)
        fclose(table);
    return there == 1 && elsewhere == 0;
}

static int rank_store(void)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    muster_store *store = NULL;
    args.host = getenv("MASTER_ADDR");
    args.port = atoi(getenv("MASTER_PORT"));
    args.timeout_ms = 20000;
    muster_status status = muster_store_tcp(&store, &args);
    int64_t sum = 0;
    if (status == MUSTER_OK)
        status = muster_store_add(store, muster_str("ranks"), 1, &sum);
    muster_blob all = muster_str("all");
    if (status == MUSTER_OK && sum == atoi(getenv("WORLD_SIZE")))
        status = muster_store_set(store, all, muster_str("here"));
    if (status == MUSTER_OK)
        status = muster_store_wait(store, &all, 1, 20000);
    if (status != MUSTER_OK)
        fprintf(stderr, "%s\n", muster_last_error());
    if (sum == 1 && bound_to_loopback((unsigned)args.port))
        printf("bound to loopback alone\n");
    muster_store_free(store);
    return status != MUSTER_OK;
}

/* Files don't count: the script of libtool that starts an uninstalled tool leaves one open. */
static int rank_descriptors(void)
{
    struct stat status;
    for (int i = 3; i < 1024; i++)
        if (fstat(i, &status) == 0 && !S_ISREG(status.st_mode))
            printf("descriptor %d is open\n", i);
    return 0;
}

int run_as_rank(const char *what)
{
    if (strcmp(what, "descriptors") == 0)
        return rank_descriptors();
    return strcmp(what, "lines") == 0 ? rank_lines() : rank_store();
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return run_as_rank(argv[2]);
    plan(176 + 2 + 5);
    run_binding();
    run_options();
    run_surroundings();
    run_secrets();
    run_printing();
    run_failures();
    run_signals();
    run_leftovers();
    return done();
}
