/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware: each version of its NCCL lacks what it lacks, and reads a config as
 * it did.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "standin.h"
#include "standin_nccl.h"

/* ---- names ---- */

static const struct {
    const char *version;
    int number;
    const char *has, *lacks;
} libraries[] = {
    {"2.13", 21304, "ncclCommInitRank", "ncclCommInitRankConfig"},
    {"2.14", 21403, "ncclCommFinalize", "ncclCommSplit"},
    {"2.18", 21805, "ncclCommSplit", "ncclCommRegister"},
    {"2.23", 22304, "ncclCommInitRankScalable", "ncclCommShrink"},
    {"2.28", 22809, "ncclCommRevoke", "ncclCommGrow"},
    {"2.30", 23007, "ncclAlltoAll", "driver_find"},
};
enum { LIBRARIES = sizeof(libraries) / sizeof(*libraries) };

static void names(int rank, int size)
{
    (void)rank, (void)size;
    for (int i = 0; i < LIBRARIES; i++) {
        int version = 0;
        nccl_result (*get_version)(int *);
        standin_use(libraries[i].version);
        *(void **)&get_version = standin_function("ncclGetVersion");
        ok(get_version != NULL && get_version(&version) == NCCL_SUCCESS &&
               version == libraries[i].number,
           "%s says which it is", libraries[i].version);
        ok(standin_function(libraries[i].has) != NULL, "it has %s", libraries[i].has);
        ok(standin_function(libraries[i].lacks) == NULL, "it lacks %s", libraries[i].lacks);
    }
}

/* ---- configs ---- */

enum { UNSET = NCCL_CONFIG_UNSET };

static const struct config_row {
    const char *version, *name;
    size_t offset; /* of the number that is set; 0: none */
    int value;
    int size, as_version; /* of the struct; 0: as it is */
    nccl_result result;
} rows[] = {
    {"2.14", "a newer struct", 0, 0, 0, 0, NCCL_SUCCESS},
    {"2.14", "blocking unset", offsetof(nccl_config, blocking), UNSET, 0, 0, NCCL_INVALID_ARGUMENT},
    {"2.14", "what it does not know is dropped", offsetof(nccl_config, max_ctas), -7, 0, 0,
     NCCL_SUCCESS},
    {"2.14", "a wrong magic", offsetof(nccl_config, magic), 7, 0, 0, NCCL_INVALID_ARGUMENT},
    {"2.18", "blocking unset", offsetof(nccl_config, blocking), UNSET, 0, 0, NCCL_SUCCESS},
    {"2.18", "blocking 2", offsetof(nccl_config, blocking), 2, 0, 0, NCCL_INVALID_ARGUMENT},
    {"2.18", "max_ctas alone", offsetof(nccl_config, max_ctas), 2, 0, 0, NCCL_SUCCESS},
    {"2.18", "min_ctas alone", offsetof(nccl_config, min_ctas), 2, 0, 0, NCCL_INVALID_ARGUMENT},
    {"2.18", "no max_ctas", offsetof(nccl_config, max_ctas), 0, 0, 0, NCCL_INVALID_ARGUMENT},
    {"2.18", "too short for its magic", 0, 0, 8, 0, NCCL_SUCCESS},
    {"2.23", "too short for its magic", 0, 0, 8, 0, NCCL_INVALID_ARGUMENT},
    {"2.23", "collnet_enable 2", offsetof(nccl_config, collnet_enable), 2, 0, 0, NCCL_SUCCESS},
    {"2.28", "collnet_enable 2", offsetof(nccl_config, collnet_enable), 2, 0, 0,
     NCCL_INVALID_ARGUMENT},
    {"2.28", "in a struct that says it is older", offsetof(nccl_config, collnet_enable), 2, 0,
     22304, NCCL_SUCCESS},
    {"2.28", "in a struct that is shorter", offsetof(nccl_config, collnet_enable), 2, 40, 0,
     NCCL_SUCCESS},
    {"2.28", "24 bytes of 2.14", 0, 0, 24, 21400, NCCL_SUCCESS},
    {"2.28", "split_share 2", offsetof(nccl_config, split_share), 2, 0, 0, NCCL_INVALID_ARGUMENT},
    {"2.28", "n_channels_per_net_peer 65", offsetof(nccl_config, n_channels_per_net_peer), 65, 0, 0,
     NCCL_INVALID_ARGUMENT},
    {"2.28", "max_p2p_peers -1", offsetof(nccl_config, max_p2p_peers), -1, 0, 0, NCCL_SUCCESS},
    {"2.30", "max_p2p_peers -1", offsetof(nccl_config, max_p2p_peers), -1, 0, 0,
     NCCL_INVALID_ARGUMENT},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

/* On a communicator of one rank; every row has the library of its version. */
static void configs(int rank, int size)
{
    (void)rank, (void)size;
    standin_use("2.28");
    standin_api_get()->cudaSetDevice(0);
    for (int i = 0; i < ROWS; i++) {
        nccl_unique_id id;
        nccl_comm *comm = NULL;
        nccl_result (*get_id)(nccl_unique_id *);
        nccl_result (*init)(nccl_comm **, int, nccl_unique_id, int, nccl_config *);
        nccl_result (*drop)(nccl_comm *);
        standin_use(rows[i].version);
        *(void **)&get_id = standin_function("ncclGetUniqueId");
        *(void **)&init = standin_function("ncclCommInitRankConfig");
        *(void **)&drop = standin_function("ncclCommAbort");
        nccl_config config = standin_config(1);
        config.version = rows[i].as_version != 0 ? (unsigned)rows[i].as_version : 23007;
        config.size = rows[i].size != 0 ? (size_t)rows[i].size : sizeof(config);
        if (rows[i].offset != 0)
            memcpy((char *)&config + rows[i].offset, &rows[i].value, sizeof(int));
        get_id(&id);
        is_int(init(&comm, 1, id, 0, &config), rows[i].result, "%s: %s", rows[i].version,
               rows[i].name);
        drop(comm);
    }
}

/* ---- what else depends on the version ---- */

/* Without a device the thread stays inside a group, from 2.23 on. */
static void leaks_a_group(const char *version, bool leaks)
{
    nccl_unique_id id;
    nccl_comm *comm = NULL;
    standin_use(version);
    const standin_api *api = standin_api_get();
    nccl_config config = standin_config(0);
    is_int(api->ncclGetUniqueId(&id), NCCL_SUCCESS, "there is a unique id");
    is_int(api->ncclCommInitRankConfig(&comm, 1, id, 0, &config), NCCL_UNHANDLED_CUDA_ERROR,
           "but no communicator");
    ok(comm == NULL, "nothing is written");
    is_int(api->ncclGroupEnd(), leaks ? NCCL_SUCCESS : NCCL_INVALID_USAGE, "a group %s",
           leaks ? "was left open" : "was not left open");
    is_int(api->ncclGroupEnd(), NCCL_INVALID_USAGE, "no more than one");
}

static void leaks_in_2_18(int rank, int size)
{
    (void)rank, (void)size;
    leaks_a_group("2.18", false);
}

static void leaks_in_2_23(int rank, int size)
{
    (void)rank, (void)size;
    leaks_a_group("2.23", true);
}

/* Two versions in one communicator: from 2.23 on they notice. */
static void versions_differ(int rank, int size)
{
    nccl_comm *comm = NULL;
    standin_use(rank == 0 ? "2.23" : "2.28");
    const standin_api *api = standin_api_get();
    nccl_unique_id id = standin_share_id(rank);
    nccl_config config = standin_config(0);
    api->cudaSetDevice(rank);
    is_int(api->ncclCommInitRankConfig(&comm, size, id, rank, &config), NCCL_IN_PROGRESS,
           "they begin");
    is_int(standin_settle(comm, patient(5000)), NCCL_INVALID_USAGE, "and find out");
    has_str(api->ncclGetLastError(NULL), "Mismatched NCCL version", "and say so");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "it is aborted");
}

static void old_versions_differ(int rank, int size)
{
    nccl_comm *comm = NULL;
    standin_use(rank == 0 ? "2.14" : "2.18");
    const standin_api *api = standin_api_get();
    nccl_unique_id id = standin_share_id(rank);
    nccl_config config = standin_config(0);
    api->cudaSetDevice(rank);
    api->ncclCommInitRankConfig(&comm, size, id, rank, &config);
    is_int(standin_settle(comm, 300), NCCL_IN_PROGRESS, "older ones hang");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "until they are aborted");
}

/* The answer to float8_e4m3: a copy, and a sum. */
static void small_floats(const char *version, nccl_result copied, nccl_result summed)
{
    standin_use(version);
    const standin_api *api = standin_api_get();
    nccl_comm *comm = standin_open(0, 1, 1);
    void *memory = standin_upload(NULL, 64);
    is_int(api->ncclBroadcast(memory, memory, 8, NCCL_FLOAT8_E4M3, 0, comm, NULL), copied,
           "%s moves 8 bits", version);
    is_int(api->ncclAllReduce(memory, memory, 8, NCCL_FLOAT8_E4M3, NCCL_SUM, comm, NULL), summed,
           "%s sums them", version);
    is_int(api->ncclAllReduce(memory, memory, 8, NCCL_BFLOAT16, NCCL_AVG, comm, NULL), NCCL_SUCCESS,
           "it averages bfloat16");
    is_int(api->ncclAllReduce(memory, memory, 8, (nccl_type)12, NCCL_SUM, comm, NULL),
           NCCL_INVALID_ARGUMENT, "there is no type 12");
    is_int(api->ncclAllReduce(memory, memory, 8, NCCL_INT8, (nccl_op)7, comm, NULL),
           NCCL_INVALID_ARGUMENT, "nor an operation 7");
    ok(standin_close(comm), "the communicator is still good");
    api->cudaFree(memory);
}

static void small_floats_old(int rank, int size)
{
    (void)rank, (void)size;
    small_floats("2.23", NCCL_INVALID_ARGUMENT, NCCL_INVALID_ARGUMENT);
}

static void small_floats_new(int rank, int size)
{
    (void)rank, (void)size;
    small_floats("2.28", NCCL_SUCCESS, NCCL_SUCCESS);
}

static void small_floats_old_device(int rank, int size)
{
    (void)rank, (void)size;
    small_floats("2.28", NCCL_SUCCESS, NCCL_INVALID_ARGUMENT);
}

int main(int argc, char **argv)
{
    static const char *const none[] = {"MUSTER_STANDIN_DEVICES=0", NULL};
    static const char *const old[] = {"MUSTER_STANDIN_DEVICES=cc=8.0", NULL};
    static const struct ranks_case cases[] = {
        {.name = "names", .size = 1, .points = 3 * LIBRARIES, .body = names},
        {.name = "configs", .size = 1, .points = ROWS, .body = configs},
        {.name = "leak", .size = 1, .points = 5, .body = leaks_in_2_18, .environment = none},
        {.name = "leak 2.23", .size = 1, .points = 5, .body = leaks_in_2_23, .environment = none},
        {.name = "mismatch", .size = 2, .points = 4, .body = versions_differ},
        {.name = "old mismatch", .size = 2, .points = 2, .body = old_versions_differ},
        {.name = "8 bits, old", .size = 1, .points = 6, .body = small_floats_old},
        {.name = "8 bits", .size = 1, .points = 6, .body = small_floats_new},
        {.name = "8 bits, old device",
         .size = 1,
         .points = 6,
         .body = small_floats_old_device,
         .environment = old},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
