/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The harness tested by itself: this program, given the name of a case, is a test with several
 * ranks that goes wrong in some way; what it writes and how it exits is looked at here.
 */
#include "config.h"

#include "harness_cases.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[1 << 20];

/* Runs one case; its TAP is in text afterwards. Returns the exit status, negative for a signal. */
static int run(const char *name)
{
    char program[4096], command[8192];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length < 0 ? 0 : length] = '\0';
    snprintf(command, sizeof(command), "'%s' '%s' 2>&1", program, name);
    FILE *output = popen(command, "re");
    size_t size = output == NULL ? 0 : fread(text, 1, sizeof(text) - 1, output);
    text[size] = '\0';
    int status = output == NULL ? -1 : pclose(output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How many lines begin so. */
static int lines(const char *beginning)
{
    int count = 0;
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, beginning, strlen(beginning)) == 0;
    }
    return count;
}

static void right(void)
{
    is_int(run("good"), 0, "a good case passes");
    is_str(text,
           "1..3\nok 1 - good: ranks share memory and meet\nok 2 - good: a rank is told who it is\n"
           "ok 3 - good: every rank ends as it should\n",
           "and reads so");
    is_int(run("crowd"), 0, "as many ranks as there can be");
    is_int(run("serves"), 0, "rank 0 can serve at the port");
    is_int(run("meets"), 0, "the parent can host the store");
    setenv("SLURM_PROCID", "5", 1);
    setenv("OMPI_COMM_WORLD_RANK", "5", 1);
    is_int(run("alone"), 0, "one rank, with its own environment");
    unsetenv("SLURM_PROCID");
    unsetenv("OMPI_COMM_WORLD_RANK");
    char folder[4096] = "";
    const char *said = strstr(text, "# [rank 0] folder ");
    ok(said != NULL && sscanf(said, "# [rank 0] folder %4095s", folder) == 1, "notes come through");
    ok(access(folder, F_OK) != 0 && errno == ENOENT, "the case's folder is gone");
    is_int(run("thousands"), 0, "thousands of points");
    is_int(lines("ok "), 5001, "are all there");
}

static void wrong_points(void)
{
    is_int(run("fails"), 1, "failed points fail the file");
    is_int(lines("ok "), 2, "those that passed are ok");
    is_int(lines("not ok 2 - fails: one does not"), 1, "the one that failed on one rank is not");
    has_str(text, "# [rank 1] got 1, expected 3", "the rank and both values are shown");
    has_str(text, "harness_cases.c:", "and the place");
    has_str(text, "# [rank 2] got      got\n# [rank 2] expected x\n", "of texts too");
    is_int(run("too few"), 1, "too few points fail the file");
    has_str(text, "not ok 2 - too few: two\n# [rank 2] did not come to this point\n", "as such");
    is_int(run("too many"), 1, "too many points fail the file");
    has_str(text, "# [rank 0] made 2 points, 1 were planned", "as such");
    is_int(lines("ok "), 1, "and the planned one passes");
}

static void wrong_ends(void)
{
    is_int(run("segfaults"), 1, "a rank that dies fails the file");
    has_str(text,
            "not ok 2 - segfaults: after\n# [rank 2] did not come to this point: was killed "
            "by SIGSEGV\n",
            "with the signal's name");
    is_int(run("exits"), 1, "an exit status fails the file");
    has_str(text, "# [rank 1] exited with status 7", "and is said");
    is_int(run("exits quietly"), 1, "an exit in the middle of the body fails the file");
    has_str(text, "# [rank 1] ended before its body had returned", "as such");
    is_int(run("hangs"), 1, "ranks that hang fail the file");
    has_str(text, "# hangs: not ok - timed out", "as such");
    has_str(text, "[rank 1] did not come to this point: timed out", "with the ranks that hung");
    ok(strstr(text, "[rank 0] did not") == NULL, "and no others");
    setenv("MUSTER_TEST_TIMEOUT_FACTOR", "0.02", 1);
    is_int(run("waits in vain"), 1, "a barrier that is not complete fails the file");
    unsetenv("MUSTER_TEST_TIMEOUT_FACTOR");
    has_str(text, "timed out: some rank did not come", "as such");
}

static void deaths(void)
{
    is_int(run("dies"), 0, "deaths that were foreseen pass");
    is_int(lines("not "), 0, "with no point failed");
    is_int(run("lives"), 1, "a rank that does not die as foreseen fails the file");
    has_str(text, "[rank 2] exited with status 0, which is not the end foreseen", "as such");
    has_str(text, "ok 1 - lives: made", "and its points don't count");
    is_int(run("leaves"), 0, "a rank that leaves a process behind");
    long left = 0;
    const char *said = strstr(text, "[rank 0] left ");
    ok(said != NULL && sscanf(said, "[rank 0] left %ld", &left) == 1 && left > 0, "has said which");
    ok(left > 0 && kill((pid_t)left, 0) != 0 && errno == ESRCH, "and it is gone");
}

static void output(void)
{
    is_int(run("torn"), 0, "what ranks print does not matter");
    is_int(lines("ok "), 2, "it makes no point");
    is_int(lines("1.."), 1, "and no plan");
    is_int(lines("Bail out!"), 0, "and stops nothing");
    has_str(text, "# [1] ok 1 - fake\n# [1] no end of line\n# [1] Bail out! not so\n# [1] 1..1\n",
            "but is there to read");
    is_int(run("silent"), 1, "except where nothing must be printed");
    has_str(text, "[rank 0] printed, and was to be silent", "as such");
}

static void skipping(void)
{
    is_int(run("skips"), 0, "one rank skips a point");
    is_int(lines("ok 2 # SKIP no luck"), 1, "so it is skipped");
    is_int(run("skips all"), 0, "one rank skips the case");
    is_int(lines("ok 1 # SKIP needs 3 legs"), 1, "so all points are skipped");
    is_int(lines("ok 2 - skips all: every rank ends as it should"), 1, "and that is a good end");
    is_int(run("bails"), 255, "one rank bails out");
    is_int(lines("Bail out! rank 1 gives up"), 1, "and so does the file");
}

static void threading(void)
{
    is_int(run("threads"), 0, "threads as ranks, and points of other threads");
    has_str(text, "ok 2 - threads: four: thread\n", "their points are merged");
    is_int(run("bad thread"), 1, "a thread that fails");
    has_str(text, "# [rank 0] [rank 1] got 1, expected -1", "is named");
}

int main(int argc, char **argv)
{
    if (argc > 1 || getenv("MUSTER_TEST_RANK") != NULL)
        return ranks_main(argc, argv, harness_cases, harness_num_cases);
    plan(59);
    setenv("ASAN_OPTIONS", "verbosity=0", 1); /* which changes nothing; for "alone" and "dies" */
    right();
    wrong_points();
    wrong_ends();
    deaths();
    output();
    skipping();
    threading();
    return done();
}
