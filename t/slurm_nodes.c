/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Slurm's lists of nodes and of tasks: by a table, and where scontrol is installed, made-up lists
 * against what that says.
 */
#include "config.h"

#include "launch/slurm_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { LISTS = 60, ROOM = 1 << 16 };

/* Names with commas between them. */
static bool append(void *user, const char *name)
{
    char *text = user;
    size_t used = strlen(text);
    snprintf(text + used, ROOM - used, "%s%s", used == 0 ? "" : ",", name);
    return true;
}

static const struct {
    const char *list;
    const char *names;
} lists[] = {
    {"n1", "n1"},
    {"login", "login"},
    {"a,b,c", "a,b,c"},
    {"n[1-3]", "n1,n2,n3"},
    {"n[1-3,7]", "n1,n2,n3,n7"},
    {"n[7,1-3]", "n7,n1,n2,n3"},
    {"n[08-11]", "n08,n09,n10,n11"},
    {"n[8-11]", "n8,n9,n10,n11"},
    {"n[001,007-009],host2", "n001,n007,n008,n009,host2"},
    {"rack[0-1]n[05-06]", "rack0n05,rack0n06,rack1n05,rack1n06"},
    {"a[1-2]b[3]c[4-5]", "a1b3c4,a1b3c5,a2b3c4,a2b3c5"},
    {"n[1-2]-ib", "n1-ib,n2-ib"},
    {"[1-2]", "1,2"},
    {"gpu-[0-1],cpu-[0,2]", "gpu-0,gpu-1,cpu-0,cpu-2"},
    {"n[0]", "n0"},
    {"n[5-5]", "n5"},
    {"n[999999999]", "n999999999"},
    {"x.y-z_1", "x.y-z_1"},
};

static void good_lists(void)
{
    static char names[ROOM];
    char first[SLURM_MAX_NAME + 1];
    for (size_t i = 0; i < COUNT(lists); i++) {
        names[0] = '\0';
        if (slurm_nodes_each(lists[i].list, append, names) != MUSTER_OK)
            snprintf(names, sizeof(names), "%s", muster_last_error());
        is_str(names, lists[i].names, "%s", lists[i].list);
        if (slurm_nodes_first(lists[i].list, first) != MUSTER_OK)
            first[0] = '\0';
        ok(strncmp(first, names, strlen(first)) == 0 && strlen(first) == strcspn(names, ","),
           "its first is %s", first);
    }
}

static const struct {
    const char *list;
    const char *words;
} refused[] = {
    {"", "an empty name at character 1"},
    {",a", "an empty name at character 1"},
    {"a,", "an empty name at character 3"},
    {"a,,b", "an empty name at character 3"},
    {"n[", "a number of 1 to 9 digits is expected at character 3"},
    {"n[]", "a number of 1 to 9 digits is expected at character 3"},
    {"n[1", "',', '-' or ']' is expected at character 4"},
    {"n[1-", "a number of 1 to 9 digits is expected at character 5"},
    {"n[1-]", "a number of 1 to 9 digits is expected at character 5"},
    {"n[1,]", "a number of 1 to 9 digits is expected at character 5"},
    {"n[,1]", "a number of 1 to 9 digits is expected at character 3"},
    {"n[-1]", "a number of 1 to 9 digits is expected at character 3"},
    {"n[a]", "a number of 1 to 9 digits is expected at character 3"},
    {"n[[1]]", "a number of 1 to 9 digits is expected at character 3"},
    {"n[1-2-3]", "',', '-' or ']' is expected at character 6"},
    {"n[3-1]", "a range that goes down at character 3"},
    {"n[1234567890]", "a number of 1 to 9 digits is expected at character 3"},
    {"n]", "']' without '[' at character 2"},
    {"n[1]]", "']' without '[' at character 5"},
    {"n 1", "a blank at character 2"},
    {"n1\t", "a blank at character 3"},
    {"n[0-131072]", "more than 131072 names at character"},
    {"n[0-99999],m[0-99999]", "more than 131072 names at character"},
    {"n[0-999]m[0-999]", "more than 131072 names at character"},
    {"n[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]", "more than 16 groups in one name"},
};

static void bad_lists(void)
{
    static char names[ROOM];
    for (size_t i = 0; i < COUNT(refused); i++) {
        names[0] = '\0';
        is_int(slurm_nodes_each(refused[i].list, append, names), MUSTER_ERR_ARGUMENT,
               "\"%s\" is refused", refused[i].list);
        has_str(muster_last_error(), refused[i].words, "saying what and where");
        is_str(names, "", "and gives no name");
    }
}

static void long_names(void)
{
    char list[400], first[SLURM_MAX_NAME + 1];
    memset(list, 'x', 255);
    list[255] = '\0';
    is_int(slurm_nodes_first(list, first), MUSTER_OK, "a name of 255 characters");
    strcpy(list + 255, "y");
    is_int(slurm_nodes_first(list, first), MUSTER_ERR_ARGUMENT, "one of 256 is refused");
    strcpy(list + 254, "[10]");
    is_int(slurm_nodes_first(list, first), MUSTER_ERR_ARGUMENT, "so is one that grows to that");
    has_str(muster_last_error(), "more than 255 characters", "saying so");
    static char names[ROOM];
    names[0] = '\0';
    memcpy(list, "n1,", 3);
    memset(list + 3, 'x', 256);
    list[259] = '\0';
    is_int(slurm_nodes_each(list, append, names), MUSTER_ERR_ARGUMENT,
           "so is a list whose second name is that long");
    is_str(names, "", "and its first is not given");
}

static const struct {
    const char *list;
    int node;
    int tasks; /* -1: refused */
} tasks[] = {
    {"4", 0, 4},       {"3,1", 0, 3},       {"3,1", 1, 1},       {"2(x4)", 3, 2}, {"2(x4),1", 4, 1},
    {"2(x4),1", 0, 2}, {"1,2(x2),3", 2, 2}, {"1,2(x2),3", 3, 3}, {"3,1", 2, -1},  {"2(x4)", 4, -1},
    {"", 0, -1},       {"2(x)", 0, -1},     {"2(x4", 0, -1},     {"2x4", 0, -1},  {"a", 0, -1},
    {"1,", 1, -1},     {"2(x4)3", 5, -1},
};

static void task_lists(void)
{
    for (size_t i = 0; i < COUNT(tasks); i++) {
        int found = 0;
        muster_status status = slurm_nodes_tasks(tasks[i].list, tasks[i].node, &found);
        if (tasks[i].tasks < 0)
            is_int(status, MUSTER_ERR_ARGUMENT, "node %d of \"%s\" is refused", tasks[i].node,
                   tasks[i].list);
        else
            is_int(status == MUSTER_OK ? found : -1, tasks[i].tasks, "node %d of \"%s\"",
                   tasks[i].node, tasks[i].list);
    }
}

/* ---- Against scontrol ---------------------------------------------------------------------- */

static void make_group(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "[");
    int parts = 1 + rand() % 3;
    for (int i = 0; i < parts; i++) {
        int low = rand() % 120, high = low + rand() % 4, width = 1 + rand() % 3;
        used += (size_t)snprintf(text + used, size - used, "%s%0*d", i == 0 ? "" : ",", width, low);
        if (high > low)
            used += (size_t)snprintf(text + used, size - used, "-%0*d", width, high);
    }
    snprintf(text + used, size - used, "]");
}

static void make_list(char *text, size_t size)
{
    int names = 1 + rand() % 4;
    text[0] = '\0';
    for (int i = 0; i < names; i++) {
        char group[128] = "", second[128] = "";
        if (rand() % 3 > 0)
            make_group(group, sizeof(group));
        if (group[0] != '\0' && rand() % 3 == 0)
            make_group(second, sizeof(second));
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%c%s%s%s", used == 0 ? "" : ",", 'a' + rand() % 26,
                 group, second[0] == '\0' ? "" : "n", second);
    }
}

static char configuration[] = "/tmp/muster-slurm-XXXXXX";

/* scontrol wants some cluster configured, though it asks no controller for this. */
static bool configure(void)
{
    int fd = mkstemp(configuration);
    return fd >= 0 && dprintf(fd, "ClusterName=test\nSlurmctldHost=localhost\n") > 0 &&
           close(fd) == 0;
}

/* It says one name a line. */
static bool ask_scontrol(const char *list, char *names)
{
    char command[4096], line[512];
    snprintf(command, sizeof(command), "SLURM_CONF=%s scontrol show hostnames '%s' 2>/dev/null",
             configuration, list);
    FILE *pipe = popen(command, "r");
    names[0] = '\0';
    while (pipe != NULL && fgets(line, sizeof(line), pipe) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        append(names, line);
    }
    return pipe != NULL && pclose(pipe) == 0 && names[0] != '\0';
}

static void against_scontrol(void)
{
    static char ours[ROOM], theirs[ROOM];
    if (!configure())
        bail_out("no file in /tmp");
    if (!ask_scontrol("n[1-2]", theirs)) {
        unlink(configuration);
        skip(LISTS, "scontrol (slurm-client) is not installed");
        return;
    }
    srand(20260);
    for (int i = 0; i < LISTS; i++) {
        char list[2048];
        make_list(list, sizeof(list));
        ours[0] = '\0';
        if (!ask_scontrol(list, theirs) || slurm_nodes_each(list, append, ours) != MUSTER_OK)
            diag("scontrol or we: %s", muster_last_error());
        is_str(ours, theirs, "%s as scontrol says", list);
    }
    unlink(configuration);
}

int main(void)
{
    plan((int)(2 * COUNT(lists) + 3 * COUNT(refused) + 6 + COUNT(tasks) + LISTS));
    good_lists();
    bad_lists();
    long_names();
    task_lists();
    against_scontrol();
    return done();
}
