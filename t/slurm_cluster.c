/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A Slurm cluster of this test's own.
 */
#include "config.h"

#include "slurm_cluster.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "launched.h"
#include "ranks_port.h"
#include "tap.h"

enum { MUNGE, CONTROLLER, NODE_1, NODE_2, NUM_DAEMONS, START_MS = 10000 };

#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static struct {
    char folder[64];
    struct command daemons[NUM_DAEMONS];
    int started;
} cluster;

const char *slurm_cluster_folder(void)
{
    return cluster.folder;
}

static void write_file(const char *name, const void *data, size_t size, mode_t mode)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", cluster.folder, name);
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0 ||
        chmod(path, mode) != 0)
        bail_out("%s can't be written", path);
}

/* The nodes' names are addresses, so that they resolve anywhere. Both are this host, whose cores
 * they pretend to have more of. */
static const char configuration[] =
    "ClusterName=test\n"
    "SlurmctldHost=%1$s(127.0.0.1)\n"
    "SlurmctldPort=%2$d\n"
    "SlurmUser=%5$s\n"
    "SlurmdUser=%5$s\n"
    "AuthType=auth/munge\n"
    "CredType=cred/munge\n"
    "AuthInfo=socket=%6$s/munge\n"
    "StateSaveLocation=%6$s/state\n"
    "SlurmdSpoolDir=%6$s/spool-%%n\n"
    "SlurmctldPidFile=%6$s/controller.pid\n"
    "SlurmdPidFile=%6$s/%%n.pid\n"
    "ProctrackType=proctrack/pgid\n"
    "TaskPlugin=task/none\n"
    "SchedulerType=sched/builtin\n"
    "SelectType=select/cons_tres\n"
    "SelectTypeParameters=CR_CPU\n"
    "SlurmdParameters=config_overrides\n"
    "MpiDefault=none\n"
    "FirstJobId=%7$ld\n"
    "NodeName=127.0.0.1 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%3$d CPUs=8\n"
    "NodeName=127.0.0.2 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%4$d CPUs=8\n"
    "PartitionName=all Nodes=ALL Default=YES State=UP\n";

static void configure(const struct port *ports)
{
    char host[256] = "", text[4096], path[128];
    unsigned char key[1024];
    const struct passwd *user = getpwuid(geteuid());
    gethostname(host, sizeof(host) - 1);
    host[strcspn(host, ".")] = '\0';
    int length = snprintf(text, sizeof(text), configuration, host, ports[0].number, ports[1].number,
                          ports[2].number, user == NULL ? "root" : user->pw_name, cluster.folder,
                          1000 + (long)getpid());
    if (length < 0 || (size_t)length >= sizeof(text) || getrandom(key, sizeof(key), 0) < 0)
        bail_out("no configuration");
    write_file("slurm.conf", text, (size_t)length, 0644);
    write_file("key", key, sizeof(key), 0600);
    length = snprintf(text, sizeof(text), "PMIxCliTmpDirBase=%s\n", cluster.folder);
    write_file("mpi.conf", text, (size_t)length, 0644);
    snprintf(path, sizeof(path), "%s/state", cluster.folder);
    mkdir(path, 0755);
    snprintf(path, sizeof(path), "%s/slurm.conf", cluster.folder);
    setenv("SLURM_CONF", path, 1);
}

static void start(const char *const *words)
{
    command_start(&cluster.daemons[cluster.started++], NULL, words);
}

static void start_daemons(void)
{
    char script[512];
    /* munged wants each of its files named. */
    snprintf(script, sizeof(script),
             "cd %s && exec munged -F --force --key-file=key --socket=$PWD/munge "
             "--pid-file=$PWD/munged.pid --log-file=$PWD/munged.log --seed-file=$PWD/munged.seed",
             cluster.folder);
    start(WORDS("sh", "-c", script));
    start(WORDS("slurmctld", "-D", "-c"));
    start(WORDS("slurmd", "-D", "-N", "127.0.0.1"));
    start(WORDS("slurmd", "-D", "-N", "127.0.0.2"));
}

static bool is_idle(struct command *ask)
{
    command_run(ask, NULL, WORDS("sinfo", "-h", "-N", "-o", "%t"));
    return ask->status == 0 && strcmp(ask->out, "idle\nidle\n") == 0;
}

static bool wait_until_idle(void)
{
    struct command ask = {.out = NULL};
    bool idle = is_idle(&ask);
    for (long long waited = 0; !idle && waited < patient(START_MS); waited += 100) {
        usleep(100000);
        idle = is_idle(&ask);
    }
    command_free(&ask);
    return idle;
}

/* What each daemon said last, for the reader. */
static void show_daemons(void)
{
    for (int i = 0; i < cluster.started; i++) {
        size_t length = strlen(cluster.daemons[i].err);
        diag("%.1500s", cluster.daemons[i].err + (length > 1500 ? length - 1500 : 0));
    }
}

bool slurm_cluster_start(char *reason, unsigned long size)
{
    static const char *const programs[] = {"munged", "slurmctld", "slurmd",
                                           "srun",   "sinfo",     "sbatch"};
    char path[4096];
    struct port ports[3];
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        if (!launched_is_there(programs[i])) {
            snprintf(reason, size, "%s is not installed", programs[i]);
            return false;
        }
    const char *search = getenv("PATH");
    snprintf(path, sizeof(path), "%s:/usr/sbin:/sbin", search == NULL ? "/usr/bin:/bin" : search);
    setenv("PATH", path, 1);
    snprintf(cluster.folder, sizeof(cluster.folder), "/tmp/muster-slurm-XXXXXX");
    if (mkdtemp(cluster.folder) == NULL || chmod(cluster.folder, 0755) != 0)
        bail_out("no folder in /tmp");
    for (int i = 0; i < 3; i++)
        ports[i] = port_reserve();
    configure(ports);
    start_daemons();
    bool idle = wait_until_idle();
    for (int i = 0; i < 3; i++)
        port_free(&ports[i]);
    if (idle)
        return true;
    slurm_cluster_stop();
    snprintf(reason, size, "no Slurm cluster can be started here");
    return false;
}

void slurm_cluster_stop(void)
{
    struct command remove = {.out = NULL};
    for (int i = cluster.started - 1; i >= 0; i--) {
        kill(cluster.daemons[i].pid, SIGTERM);
        command_finish(&cluster.daemons[i]);
    }
    if (getenv("MUSTER_TEST_VERBOSE") != NULL)
        show_daemons();
    for (int i = 0; i < cluster.started; i++)
        command_free(&cluster.daemons[i]);
    cluster.started = 0;
    command_run(&remove, NULL, WORDS("rm", "-rf", cluster.folder));
    command_free(&remove);
}
