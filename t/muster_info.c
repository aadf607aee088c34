/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-info from the outside: with plugins, with broken ones, with none, and as a rank.
 */
#include "config.h"

#include "tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void one_screen(void)
{
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/.libs", 1);
    TOOLS_ALONE("muster-info", NULL);
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "it succeeds, and is quiet on stderr");
    has_str(tools_run.out, "muster " PACKAGE_VERSION "\n", "the version");
    has_str(tools_run.out, "local         version", "the built-in backend");
    has_str(tools_run.out, "rigged        version", "a plugin");
    has_str(tools_run.out, "world of one", "no launcher");
    ok(tools_count(tools_run.out, "\n") <= 24, "it fits a screen");
    ok(strstr(tools_run.out, "\n  rigged.") == NULL, "no options unless asked for");
    TOOLS_ALONE("muster-info", "--options");
    has_str(tools_run.out, "\n  rigged.", "options where asked for");
    has_str(tools_run.out, "default ", "with their defaults");
    unsetenv("MUSTER_BACKEND_PATH");
}

static void missing_plugins(void)
{
    setenv("MUSTER_BACKEND_PATH", "/no such/folder:" PLUGINS "/.libs", 1);
    TOOLS_ALONE("muster-info", NULL);
    has_str(tools_run.out,
            "  and before in /no such/folder (no such folder), by MUSTER_BACKEND_PATH\n",
            "a folder that is not there");
    ok(tools_count(tools_run.out, "(no such folder)") == (access(BACKENDSDIR, F_OK) == 0 ? 1 : 2),
       "the one of plugins too where it is missing, no other");
    has_str(tools_run.out, "\n  gloo          ", "there is a line on gloo in any case");
    setenv("MUSTER_LOG", "loud", 1);
    TOOLS_ALONE("muster-info", NULL);
    unsetenv("MUSTER_LOG");
    has_str(tools_run.err,
            "MUSTER_LOG is \"loud\", taken as warning; expected none, warning, info or debug\n",
            "a level that is none is quoted");
    has_str(tools_run.err, "MUSTER_BACKEND_PATH names /no such/folder: there is no such folder",
            "and the log says which folder is missing");
    unsetenv("MUSTER_BACKEND_PATH");
}

static void broken_plugins(void)
{
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/bad/.libs", 1);
    TOOLS_ALONE("muster-info", "-v");
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "broken plugins are no error");
    has_str(tools_run.out, "stale         not available: ", "one of another ABI");
    has_str(tools_run.out, "mute          not available: ", "one without its symbol");
    has_str(tools_run.out, "muster_mute.so", "and its file");
    TOOLS_ALONE("muster-info", "--json");
    json_t *all = tools_json();
    json_t *backends = json_object_get(all, "backends");
    bool seen = false, reasons = true;
    for (size_t i = 0; i < json_array_size(backends); i++) {
        json_t *backend = json_array_get(backends, i);
        const char *reason = json_string_value(json_object_get(backend, "reason"));
        bool available = json_is_true(json_object_get(backend, "available"));
        seen |= strcmp(json_string_value(json_object_get(backend, "name")), "stale") == 0;
        reasons &= reason != NULL && available == (reason[0] == '\0');
    }
    ok(seen && reasons, "JSON: a reason for each that is not available, for no other");
    is_str(json_string_value(json_object_get(all, "version")), PACKAGE_VERSION, "the version");
    ok(json_is_array(json_object_get(all, "options")), "the options");
    json_decref(all);
    unsetenv("MUSTER_BACKEND_PATH");
}

static void as_rank(void)
{
    setenv("RANK", "2", 1);
    setenv("WORLD_SIZE", "4", 1);
    setenv("MASTER_ADDR", "fe80::1", 1);
    TOOLS_ALONE("muster-info", NULL);
    has_str(tools_run.out, "MASTER_PORT (an empty variable", "what is missing");
    setenv("MASTER_PORT", "29500", 1);
    TOOLS_ALONE("muster-info", "--alone");
    has_str(tools_run.out, "rank 2 of 4, by torch's names; rank 0 is found at fe80::1 port",
            "rank and address");
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "9", 1);
    TOOLS_ALONE("muster-info", "--timeout", "0.3");
    ok(tools_run.status == 0, "ranks that do not come are no error");
    has_str(tools_run.out, "\n  other ranks   not met: ", "and it says why they were not met");
    has_str(tools_run.out, "\nplan for ", "and plans for its own host");
    setenv("MASTER_ADDR", "\xff", 1);
    TOOLS_ALONE("muster-info", "--json", "--timeout", "0.3");
    json_t *all = tools_json();
    json_t *environment = json_object_get(all, "environment");
    is_str(json_string_value(json_object_get(environment, "RANK")), "2", "JSON: the rank");
    is_str(json_string_value(json_object_get(environment, "MASTER_ADDR")), "?",
           "and what is no UTF-8");
    json_t *launcher = json_object_get(all, "launcher");
    is_str(json_string_value(json_object_get(launcher, "launcher")), "torch's names",
           "JSON: the launcher");
    is_int(json_integer_value(json_object_get(launcher, "rank")), 2, "with its rank");
    json_decref(all);
    TOOLS_ALONE("muster-info", "--launcher");
    has_str(tools_run.out, "rank             2 (RANK)\n", "the variable that says so");
    has_str(tools_run.out, "not Slurm          SLURM_STEP_NUM_TASKS is not set",
            "and why not others");
    TOOLS_ALONE("muster-info", "more");
    ok(tools_run.status == 2 && strstr(tools_run.err, "'more'") != NULL, "it takes no argument");
    command_run(&tools_run, NULL,
                (const char *[]){"sh", "-c", "exec " TOOLS "/muster-info >/dev/full", NULL});
    is_int(tools_run.status, 1, "what can't be written is an error");
    static const char *const tools[] = {"muster-info", "muster-perf", "muster-gather"};
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        char script[256];
        snprintf(script, sizeof(script), "exec " TOOLS "/%s --help >/dev/full", tools[i]);
        command_run(&tools_run, NULL, (const char *[]){"sh", "-c", script, NULL});
        has_str(tools_run.err, "the standard output can't be written: No space left",
                "as is %s's help", tools[i]);
    }
}

static void planned(void)
{
    static const char *const topologies[] = {"mpibind-coral-lassen", "mpibind-g4dnmetal",
                                             "hwloc-nvidiaDGX2", "mpibind-eas-tioga"};
    char file[512];
    for (size_t i = 0; i < 4; i++) {
        snprintf(file, sizeof(file), TOPOLOGIES "/%s.xml", topologies[i]);
        TOOLS_ALONE("muster-info", "--topology", file, "--ranks", "8");
        ok(tools_run.status == 0 && tools_run.err[0] == '\0', "a plan for %s", topologies[i]);
        ok(tools_width(tools_run.out) <= 80, "in 80 columns");
        ok(tools_count(tools_run.out, "\n") <= 24, "on one screen");
    }
    snprintf(file, sizeof(file), TOPOLOGIES "/%s.xml", topologies[1]);
    TOOLS_ALONE("muster-info", "--topology", file, "--ranks", "2", "--policy", "scatter");
    has_str(tools_run.out,
            "\n     1    4  0000:e7:00.0  local            1  24-47,72-95            eth0\n",
            "a policy");
    TOOLS_ALONE("muster-info", "--topology", file, "--ranks", "9", "--json");
    json_t *all = tools_json();
    json_t *ranks = json_object_get(all, "ranks");
    is_int((int)json_array_size(ranks), 9, "JSON: the ranks");
    is_str(json_string_value(json_object_get(json_array_get(ranks, 4), "device_bus_id")),
           "0000:e7:00.0", "with what each has");
    is_str(json_string_value(json_object_get(all, "shortage")),
           "host 'mpibind-g4dnmetal' has 8 GPUs for 9 ranks: rank 8 has none", "what lacks");
    json_decref(all);
    TOOLS_ALONE("muster-info", "--list", "@0");
    has_str(tools_run.out, "1 rank by policy explicit", "this machine, by a list");
    TOOLS_ALONE("muster-info", "--ranks", "2", "--policy", "best");
    ok(tools_run.status == 1 && strstr(tools_run.err, "\"best\"") != NULL, "no policy");
    TOOLS_ALONE("muster-info", "--topology", "/no such.xml");
    ok(tools_run.status == 1 && strstr(tools_run.err, "/no such.xml") != NULL, "no file");
    TOOLS_ALONE("muster-info", "--ranks", "0");
    ok(tools_run.status == 2 && strstr(tools_run.err, "--ranks") != NULL, "no ranks");
}

/* One table, by rank 0. */
static void as_job(void)
{
    TOOLS_RANKS(3, "muster-info", "--timeout", "30");
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "as ranks of a job");
    is_int(tools_count(tools_run.out, "3 ranks on 1 host\n"), 1, "there is one table");
    is_int(tools_count(tools_run.out, "backend ABI"), 1, "and one screen");
    has_str(tools_run.out, "\n     2  ", "with the last rank");
    is_int(tools_count(tools_run.out, "\n  GPUs          host "), 1,
           "and why there is no GPU, once");
    TOOLS_RANKS(2, "muster-info", "--timeout", "30", "--json");
    json_t *all = tools_json();
    json_t *job = json_object_get(all, "job");
    is_int((int)json_array_size(json_object_get(job, "ranks")), 2, "JSON: the ranks");
    is_str(json_string_value(json_object_get(job, "backend")), "local", "the backend");
    is_str(json_string_value(json_object_get(all, "job_problem")), "", "no problem");
    json_decref(all);
}

/* What the ranks were given is wrong: it is said, and no success. */
static void as_wrong_job(void)
{
    setenv("MUSTER_OPTIONS", "gloo.bogus=1", 1);
    TOOLS_RANKS(2, "muster-info", "--timeout", "30");
    unsetenv("MUSTER_OPTIONS");
    is_int(tools_run.status, 1, "a job with a wrong option");
    has_str(tools_run.err, "muster-info: group 'muster-info': backend 'gloo' has no option",
            "is told which");
    has_str(tools_run.out, "plan for 2 ranks on this host", "beside what is found all the same");
}

/* hwloc complains on stderr where /sys is empty, as in some containers. */
static void without_sysfs(void)
{
    command_run(&tools_run, NULL,
                (const char *[]){"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                                 "mount -t tmpfs none /sys && echo mounted", NULL});
    if (strcmp(tools_run.out, "mounted\n") != 0) {
        skip(2, "no file system can be mounted over /sys here");
        return;
    }
    command_run(&tools_run, NULL,
                (const char *[]){"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                                 "mount -t tmpfs none /sys && exec " TOOLS "/muster-info", NULL});
    is_int(tools_run.status, 0, "without /sys it says what it can");
    is_str(tools_run.err, "", "and nothing else");
}

int main(void)
{
    unsetenv("LOCAL_WORLD_SIZE");
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("MASTER_PORT");
    plan(TOOLS_COMMON_POINTS + 9 + 5 + 7 + 16 + 20 + 8 + 3 + 2);
    tools_common("muster-info");
    one_screen();
    missing_plugins();
    broken_plugins();
    planned();
    without_sysfs();
    as_job();
    as_wrong_job();
    as_rank();
    tools_clean();
    return done();
}
