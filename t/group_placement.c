/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the ranks of a world are: on the devices of a real machine's topology, which the stand-in
 * for hardware has at the same places of the bus; without devices; by lists; and bound.
 */
#include "config.h"

#include "gpu_memory.h"
#include "grouptest.h"
#include "standin.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000 };

#define LASSEN "MUSTER_TOPOLOGY_FILE=" TOPOLOGIES "/mpibind-coral-lassen.xml"
static const char *const lassen[] = {
    LASSEN,
    "MUSTER_STANDIN_DEVICES=bus=0004:04:00.0,bus=0004:05:00.0,bus=0035:03:00.0,bus=0035:04:00.0",
    NULL};
static const char *const nowhere[] = {"MUSTER_STANDIN_DEVICES=0", NULL};

static muster_group *group_with(const char *name, const char *options)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = name;
    args.options = options;
    args.timeout_ms = (int64_t)((double)T * ranks_time_factor());
    return group_of(&args);
}

static void leave(muster_group *group)
{
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

static muster_placement placement_of(const muster_group *group, int rank)
{
    muster_placement at = MUSTER_PLACEMENT_INIT;
    if (muster_group_placement(group, rank, &at) != MUSTER_OK)
        diag("%s", muster_last_error());
    return at;
}

/* All ranks have the same table. */
static bool same_table(muster_group *group, int size)
{
    char mine[4096] = "", first[4096];
    size_t used = 0;
    for (int r = 0; r < size; r++) {
        muster_placement at = placement_of(group, r);
        used += (size_t)snprintf(mine + used, sizeof(mine) - used, "%d %d %s %s %s;", at.rank,
                                 at.device, at.device_bus_id, at.cpus, at.nic);
    }
    memcpy(first, mine, sizeof(mine));
    return muster_broadcast(group, first, sizeof(first), MUSTER_UINT8, 0, NULL) == MUSTER_OK &&
           strcmp(first, mine) == 0;
}

static void devices(int rank, int size)
{
    static const char *const buses[] = {"0004:04:00.0", "0004:05:00.0", "0035:03:00.0",
                                        "0035:04:00.0"};
    muster_group *group = group_with("world", NULL), *part = NULL;
    is_str(muster_group_backend(group), "cpu:local,cuda:nccl", "each rank has a GPU");
    muster_placement at = placement_of(group, rank);
    int device = -1;
    ok(at.device == rank && muster_group_device(group, &device) == MUSTER_OK && device == rank,
       "of its own");
    is_str(at.device_bus_id, buses[rank], "that of the place on the bus");
    is_str(at.distance, "local", "near to its cores");
    ok(at.numa_node == (rank < 2 ? 0 : 8) && at.package == rank / 2, "on this node");
    ok(strncmp(at.device_uuid, "GPU-", 4) == 0 && *at.device_name != '\0' && *at.why != '\0',
       "with name, UUID and a reason");
    ok(at.elsewhere && !at.kept && !at.shared && at.local_rank == rank &&
           strcmp(at.host, muster_group_host(group, rank)) == 0,
       "and where the table is from");
    ok(same_table(group, size), "all ranks have one table");
    char *text = NULL;
    muster_group_describe(group, true, &text);
    char words[64];
    snprintf(words, sizeof(words), "\"device_bus_id\":\"%s\"", buses[3]);
    has_str(text, words, "a group's description has all of it");
    has_str(text, "\"placement\":\"auto\"", "with the policy");
    muster_free(text);
    muster_group_describe(group, false, &text);
    has_str(text, "GPU 3 (0035:04:00.0, local)", "in words too");
    has_str(text, "NCCL_IB_HCA=mlx5_", "and what would be near for NCCL");
    muster_free(text);
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.options = "placement=scatter";
    is_status(muster_group_split(group, rank % 2, -rank, &args, &part), MUSTER_OK, "a sub-group");
    muster_placement other = placement_of(part, 0);
    ok(other.device == 2 + rank % 2 && other.rank == 0 && other.local_rank == 0 &&
           strcmp(other.device_bus_id, buses[2 + rank % 2]) == 0,
       "has the world's places, by its own ranks");
    muster_group_describe(part, false, &text);
    has_str(text, "(options text; without effect here)", "whatever it wants by itself");
    muster_free(text);
    leave(part);
    leave(group);
}

/* A rank that makes use of a device already keeps it, and so does one with an option. */
static void settled(int rank, int size)
{
    if (rank == 1)
        gpu_take(0);
    muster_group *group = group_with("world", rank == 0 ? "nccl.device=3" : NULL);
    ok(placement_of(group, 0).device == 3 && placement_of(group, 1).device == 0 &&
           placement_of(group, 2).device == 1,
       "what is settled stays, and others have what is left");
    ok(same_table(group, size), "all ranks have one table");
    char *text = NULL;
    muster_group_describe(group, false, &text);
    has_str(text, rank == 1 ? "the current device" : "device chosen", "and say so");
    muster_free(text);
    leave(group);
}

static void scarce(int rank, int size)
{
    muster_group *group = group_with("world", NULL), *none = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    is_str(muster_group_backend(group), "local", "with fewer GPUs than ranks host memory is left");
    ok((placement_of(group, rank).device >= 0) == (rank < 4), "some have one");
    has_str(placement_of(group, 5).shortage, "has 4 GPUs for 6 ranks: ranks 4-5 have none",
            "and a rank without is told why");
    char *text = NULL;
    muster_group_describe(group, false, &text);
    has_str(text, "has 4 GPUs for 6 ranks: ranks 4-5 have none", "which is why the backend is so");
    muster_free(text);
    ok(same_table(group, size), "all ranks have one table");
    args.group_name = "none";
    args.backend = "nccl";
    args.timeout_ms = (int64_t)((double)T * ranks_time_factor());
    is_status(muster_init_process_group(&none, &args), MUSTER_ERR_UNAVAILABLE, "asked for");
    has_str(muster_last_error(), "ranks 4-5 have none", "it says the same");
    leave(group);
}

static void lists(int rank, int size)
{
    (void)size;
    muster_group *group = group_with("world", "placement_list=3@8-11;0035:03:00.0;@16-19"),
                 *none = NULL;
    muster_placement at = placement_of(group, rank);
    ok(at.device == (rank == 0 ? 3 : rank == 1 ? 2 : -1), "a list is followed");
    is_str(rank == 1 ? "" : at.cpus, rank == 0 ? "8-11" : rank == 1 ? "" : "16-19", "CPUs too");
    leave(group);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.timeout_ms = (int64_t)((double)T * ranks_time_factor());
    args.group_name = "short";
    args.options = "placement_list=0;1";
    is_status(muster_init_process_group(&none, &args), MUSTER_ERR_ARGUMENT, "too short a list");
    args.group_name = "differ";
    args.options = rank == 1 ? "placement=scatter" : "placement=compact";
    is_status(muster_init_process_group(&none, &args), MUSTER_ERR_MISMATCH, "two wishes");
    has_str(muster_last_error(), "has placement=scatter", "both are quoted");
    has_str(muster_last_error(), "has placement=compact", "both are quoted");
    ranks_barrier();
}

/* ---- without devices ---- */

static int count_of(const char *list)
{
    int count = 0, first, last, used;
    for (const char *at = list; sscanf(at, "%d%n", &first, &used) == 1;) {
        at += used;
        last = first;
        if (*at == '-' && sscanf(at, "-%d%n", &last, &used) == 1)
            at += used;
        count += last - first + 1;
        at += *at == ',';
    }
    return count;
}

static int bound_to(void)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    return CPU_COUNT(&mask);
}

/* The CPUs of this process's threads but the calling one, as the kernel writes them. */
static int threads_on(const char *cpus)
{
    DIR *tasks = opendir("/proc/self/task");
    int found = 0;
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        char path[300], line[512];
        snprintf(path, sizeof(path), "/proc/self/task/%.100s/status", task->d_name);
        FILE *file = isdigit((unsigned char)task->d_name[0]) ? fopen(path, "r") : NULL;
        while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            if (strncmp(line, "Cpus_allowed_list:\t", 19) == 0)
                found += strcmp(line + 19, cpus) == 0;
        }
        if (file != NULL)
            fclose(file);
    }
    closedir(tasks);
    return found;
}

static void bound(int rank, int size)
{
    int before = bound_to();
    muster_group *group = group_with("free", NULL);
    is_int(bound_to(), before, "nothing is bound unless it is asked for");
    leave(group);
    group = group_with("bound", "bind=core");
    muster_placement at = placement_of(group, rank);
    ok(at.device == -1 && strcmp(at.distance, "none") == 0, "there are no GPUs");
    has_str(at.shortage, "has no GPU that its ranks can use", "which is said");
    is_int(bound_to(), at.kept ? before : count_of(at.cpus), "a rank has its cores");
    ok(same_table(group, size), "all ranks have one table");
    ok(at.kept || before < 2 || threads_on(at.cpus) == 1, "and muster's threads are elsewhere");
    char *text = NULL;
    muster_group_describe(group, false, &text);
    has_str(text, at.kept ? "by the launcher, which is left as it is" : "to its cores",
            "the group says so");
    muster_free(text);
    leave(group);
    ok(at.kept || bound_to() < before || before < 2, "it stays bound");
    group = group_with("again", "bind=numa");
    ok(before < 2 || placement_of(group, rank).kept, "a binding that was there is kept");
    leave(group);
}

static void wrong(int rank, int size)
{
    (void)size;
    static const struct {
        const char *options, *words;
    } rows[] = {
        {"placement=fast", "there is no placement policy \"fast\""},
        {"placement=explicit", "placement=explicit needs a list"},
        {"placement=auto,placement_list=0", "placement_list=0 is for placement=explicit"},
        {"placement_list=0@x", "x"},
        {"bind=socket", "can't be bound to \"socket\""},
        {"placment=auto", "did you mean 'placement'?"},
    };
    muster_group *group = group_with("world", NULL), *none = NULL;
    muster_placement at = MUSTER_PLACEMENT_INIT;
    is_status(muster_group_placement(NULL, 0, &at), MUSTER_ERR_NOT_MEMBER, "no group");
    is_status(muster_group_placement(group, 0, NULL), MUSTER_ERR_ARGUMENT, "no place for it");
    is_status(muster_group_placement(group, 1, &at), MUSTER_ERR_ARGUMENT, "a rank beyond");
    is_status(muster_group_placement(group, -1, &at), MUSTER_ERR_ARGUMENT, "a rank below");
    at.struct_size = 8;
    is_status(muster_group_placement(group, 0, &at), MUSTER_ERR_ARGUMENT, "a struct of no size");
    at = placement_of(group, rank);
    is_status(muster_bind_thread(&at, "none"), MUSTER_OK, "binding to nothing");
    is_status(muster_bind_thread(&at, "socket"), MUSTER_ERR_ARGUMENT, "to what there is not");
    is_status(muster_bind_thread(NULL, "core"), MUSTER_ERR_ARGUMENT, "of no placement");
    is_status(muster_bind_thread(&at, NULL), MUSTER_ERR_ARGUMENT, "and no word");
    at.kept = at.elsewhere = false;
    at.cpus = "8000";
    is_status(muster_bind_thread(&at, "core"), MUSTER_ERR_SYSTEM, "to CPUs that are not there");
    has_str(muster_last_error(), "8000", "which are named");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        args.group_name = "none";
        args.options = rows[i].options;
        is_status(muster_init_process_group(&none, &args), MUSTER_ERR_ARGUMENT, "%s",
                  rows[i].options);
        has_str(muster_last_error(), rows[i].words, "says so");
    }
    leave(group);
    group = group_with("unplaced", "placement=none,bind=core");
    at = placement_of(group, rank);
    ok(at.kept && !at.elsewhere && count_of(at.cpus) == bound_to() && at.numa_node == -1,
       "with 'none' a rank is where it was");
    has_str(at.why, "placing is off", "and says so");
    leave(group);
}

int main(int argc, char **argv)
{
    needs_gloo();
    standin_use("2.28");
    static const struct ranks_case cases[] = {
        {.name = "devices", .size = 4, .points = 15, .body = devices, .environment = lassen},
        {.name = "settled", .size = 3, .points = 3, .body = settled, .environment = lassen},
        {.name = "scarce", .size = 6, .points = 7, .body = scarce, .environment = lassen},
        {.name = "lists", .size = 3, .points = 6, .body = lists, .environment = lassen},
        {.name = "bound", .size = 2, .points = 9, .body = bound, .environment = nowhere},
        {.name = "wrong", .size = 1, .points = 25, .body = wrong, .environment = nowhere},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
