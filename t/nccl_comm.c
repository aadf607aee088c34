/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nccl plugin over the stand-in where all goes well: what opening and closing leave, groups out
 * of groups, streams, and what NCCL can and can't do.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_abi.h"
#include "nccl_ranks.h"
#include "standin.h"

static const muster_backend *plugin(void)
{
    return nccl_plugin();
}

static muster_call call_of(const nccl_group *group, muster_operation operation, void *send,
                           void *receive, size_t count)
{
    return (muster_call){.size = sizeof(muster_call),
                         .operation = operation,
                         .type = MUSTER_INT32,
                         .redop = MUSTER_SUM,
                         .count = count,
                         .send = send,
                         .receive = receive,
                         .uniform = true,
                         .stream = nccl_stream(group)};
}

/* ---- opening and closing ---- */

static void many_rounds(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    bool right = nccl_try_open(&group) == MUSTER_OK && nccl_works(&group);
    nccl_close(&group);
    nccl_holdings before = nccl_held();
    for (int i = 0; i < 30 && right; i++) {
        nccl_group_init(&group, rank, size);
        group.number = 1 + i;
        right = nccl_try_open(&group) == MUSTER_OK && nccl_works(&group);
        if (group.comm != NULL)
            nccl_close(&group);
    }
    ok(right, "groups are made and work: %s", muster_last_error());
    ok(nccl_nothing_left(before, 0), "and nothing is left of them");
}

static void described(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    const char *words = plugin()->describe(group.comm);
    has_str(words, "NCCL 2.28.9 on GPU ", "the version");
    has_str(words, "GPU-", "the device");
    has_str(words, "made anew", "and how it came to be");
    nccl_close(&group);
}

/* One comes later than the other and leaves later. */
static void not_together(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    if (rank == 1)
        usleep(100000);
    nccl_open(&group);
    ok(nccl_works(&group), "it works");
    if (rank == 1)
        usleep(300000);
    int64_t start = deadline_now_ns();
    nccl_close(&group);
    ok(deadline_now_ns() - start < patient(1000) * 1000000, "closing waits for nobody for long");
}

static void with_options(int rank, int size)
{
    static const char *const given[] = {
        "nccl.max_ctas", "4", "nccl.min_ctas", "2", "nccl.comm_name", "mine", NULL};
    static const char *const wrong[] = {"nccl.max_ctas", "-7", NULL};
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.options = given;
    nccl_open(&group);
    ok(nccl_works(&group), "it works with options");
    nccl_close(&group);
    nccl_group_init(&group, rank, size);
    group.options = wrong;
    ok(nccl_try_open(&group) != MUSTER_OK, "a wrong one is refused");
    has_str(muster_last_error(), "nccl.max_ctas", "and named");
}

/* ---- groups out of groups ---- */

static void halves(int rank, int size)
{
    nccl_group world, half, again;
    nccl_group_init(&world, rank, size);
    nccl_open(&world);
    nccl_group_init_half(&half, &world, 1 + rank % 2);
    nccl_open(&half);
    const char *version = getenv("T_NCCL");
    bool splits = version == NULL || strcmp(version, "2.14") != 0;
    has_str(plugin()->describe(half.comm), splits ? "split from" : "made anew", "how it was made");
    ok(nccl_works(&half) && nccl_works(&world) && nccl_works(&half), "all work");
    nccl_group_init_half(&again, &world, 3 + rank % 2);
    nccl_open(&again);
    nccl_close(&world);
    ok(nccl_works(&half) && nccl_works(&again), "without the one that they came from");
    nccl_close(&half);
    ok(nccl_works(&again), "and without each other");
    nccl_close(&again);
}

typedef struct worker {
    nccl_group group;
    void *memory, *stream;
    pthread_t thread;
    bool right;
} worker;

enum { WORKERS = 3, TIMES = 40 };

/* Each time the number becomes the sum of all ranks'. */
static void *work_hard(void *argument)
{
    worker *me = argument;
    me->right = true;
    for (int i = 0; i < TIMES && me->right; i++) {
        muster_call call =
            call_of(&me->group, MUSTER_OPERATION_ALL_REDUCE, me->memory, me->memory, 1);
        call.type = MUSTER_UINT32;
        call.stream = me->stream;
        me->right = nccl_run(&me->group, &call, patient(20000)) == MUSTER_OK;
    }
    return NULL;
}

static bool worker_begin(worker *me, int number, int rank, int size)
{
    const uint32_t one = 1;
    nccl_group_init(&me->group, rank, size);
    me->group.number = number;
    bool right = nccl_try_open(&me->group) == MUSTER_OK;
    plugin()->devices->stream_open(rank, false, 30000, &me->stream);
    me->memory = nccl_memory(&me->group, sizeof(one));
    nccl_put(&me->group, me->memory, &one, sizeof(one));
    return right;
}

static bool worker_end(worker *me)
{
    uint32_t got, expected = 1;
    pthread_join(me->thread, NULL);
    nccl_get(&me->group, &got, me->memory, sizeof(got));
    nccl_close(&me->group);
    for (int i = 0; i < TIMES; i++)
        expected *= (uint32_t)me->group.size;
    return me->right && got == expected;
}

/* Groups on one device, each used by a thread of its own in the order that comes. */
static void several_at_once(int rank, int size)
{
    static worker workers[WORKERS];
    bool right = true;
    for (int i = 0; i < WORKERS; i++)
        right = worker_begin(&workers[i], i, rank, size) && right;
    ok(right, "groups on one device open");
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i].thread, NULL, work_hard, &workers[i]);
    for (int i = 0; i < WORKERS; i++)
        right = worker_end(&workers[i]) && right;
    ok(right, "and work, several at once");
}

/* ---- streams and the device ---- */

/* Whatever the caller's device is, it stays. */
static void own_device(int rank, int size)
{
    int device = -1;
    nccl_group group;
    nccl_group_init(&group, rank, size);
    cuda_error (*set)(int) = (cuda_error(*)(int))standin_function("cudaSetDevice");
    cuda_error (*get)(int *) = (cuda_error(*)(int *))standin_function("cudaGetDevice");
    set(5);
    nccl_open(&group);
    ok(nccl_works(&group), "it works");
    nccl_close(&group);
    get(&device);
    is_int(device, 5, "the caller's device is what it was");
}

/* What follows on the stream comes behind the operation, without any wait. */
static void in_order(int rank, int size)
{
    nccl_group group;
    int32_t mine = rank + 1, sum = 0;
    muster_request *request = NULL;
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    char *memory = nccl_memory(&group, 2 * sizeof(mine));
    nccl_put(&group, memory, &mine, sizeof(mine));
    muster_call call = call_of(&group, MUSTER_OPERATION_ALL_REDUCE, memory, memory + 4, 1);
    is_int(plugin()->call(group.comm, &call, &request), MUSTER_OK, "it starts");
    nccl_get(&group, &sum, memory + 4, sizeof(sum));
    is_int(sum, size * (size + 1) / 2, "a copy behind it has the result");
    ok(plugin()->test(group.comm, request), "and then it is complete");
    is_int(plugin()->wait(group.comm, request, 0), MUSTER_OK, "for wait as well");
    nccl_close(&group);
}

/* Operations that need memory in between, on two streams at once. */
static void two_streams(int rank, int size)
{
    enum { COUNT = 1000, OPERATIONS = 20 };
    static int32_t numbers[COUNT];
    size_t counts[2] = {COUNT / 2, COUNT / 2}, offsets[2] = {0, COUNT / 2};
    nccl_group group;
    void *streams[2], *memory[OPERATIONS];
    muster_request *requests[OPERATIONS];
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    streams[0] = nccl_stream(&group);
    plugin()->devices->stream_open(group.device, true, 30000, &streams[1]);
    bool right = true;
    for (int i = 0; i < OPERATIONS; i++) {
        for (int n = 0; n < COUNT; n++)
            numbers[n] = i * 1000000 + rank * 10000 + n;
        memory[i] = nccl_memory(&group, sizeof(numbers));
        nccl_put(&group, memory[i], numbers, sizeof(numbers));
    }
    for (int i = 0; i < OPERATIONS; i++) {
        muster_call call =
            call_of(&group, MUSTER_OPERATION_ALL_TO_ALL, memory[i], memory[i], COUNT / 2);
        call.send_counts = call.receive_counts = counts;
        call.send_offsets = call.receive_offsets = offsets;
        call.stream = streams[i % 2];
        right = plugin()->call(group.comm, &call, &requests[i]) == MUSTER_OK && right;
    }
    for (int i = OPERATIONS - 1; i >= 0; i--) {
        right = plugin()->wait(group.comm, requests[i], patient(20000)) == MUSTER_OK && right;
        nccl_get(&group, numbers, memory[i], sizeof(numbers));
        for (int n = 0; n < COUNT && right; n++)
            right = numbers[n] ==
                    i * 1000000 + n / (COUNT / 2) * 10000 + rank * (COUNT / 2) + n % (COUNT / 2);
        plugin()->devices->free_memory(group.device, memory[i]);
    }
    ok(right, "they don't disturb each other");
    ok(nccl_works(&group), "it works");
    plugin()->devices->stream_close(group.device, streams[1]);
    nccl_close(&group);
}

/* The stand-in's streams are slow here. */
static void tested(int rank, int size)
{
    nccl_group group;
    muster_request *request = NULL;
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    muster_call call = call_of(&group, MUSTER_OPERATION_BARRIER, NULL, NULL, 0);
    is_int(plugin()->call(group.comm, &call, &request), MUSTER_OK, "a barrier starts");
    ok(!plugin()->test(group.comm, request), "it is not complete at once");
    deadline end = deadline_in(patient(10000));
    while (!plugin()->test(group.comm, request) && deadline_left_ms(end) > 0)
        usleep(1000);
    ok(plugin()->test(group.comm, request), "but after a while");
    is_int(plugin()->wait(group.comm, request, 1000), MUSTER_OK, "and went well");
    nccl_close(&group);
}

/* ---- what NCCL can do ---- */

static bool can(const nccl_group *group, muster_operation operation, muster_type type,
                muster_reduction redop)
{
    muster_call asked = call_of(group, operation, NULL, NULL, 1);
    asked.type = type;
    asked.redop = redop;
    return plugin()->can(group->comm, &asked);
}

static void abilities(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    const char *fp8 = getenv("T_FP8");
    const muster_operation reduce = MUSTER_OPERATION_ALL_REDUCE;
    bool moves = true;
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        moves = moves && can(&group, MUSTER_OPERATION_SEND_RECV, (muster_type)t, MUSTER_BXOR);
    ok(moves, "everything is moved");
    ok(can(&group, reduce, MUSTER_BFLOAT16, MUSTER_AVG), "bfloat16 and averages are NCCL's own");
    ok(can(&group, reduce, MUSTER_UINT64, MUSTER_PREMUL_SUM), "so are scaled sums");
    ok(!can(&group, reduce, MUSTER_INT32, MUSTER_AVG), "averages of whole numbers are not");
    ok(!can(&group, reduce, MUSTER_INT32, MUSTER_BOR), "nor is what is bitwise");
    ok(!can(&group, reduce, MUSTER_BOOL, MUSTER_MAX), "nor what is true or false");
    ok(can(&group, reduce, MUSTER_FLOAT8_E4M3, MUSTER_SUM) == (fp8 != NULL),
       "fp8 where version and device have it");
    ok(!can(&group, reduce, MUSTER_FLOAT8_E5M2, MUSTER_AVG), "but no averages of it");
    ok(!can(&group, (muster_operation)77, MUSTER_INT8, MUSTER_SUM), "nor what is no operation");
    nccl_close(&group);
}

static void refused(int rank, int size)
{
    nccl_group group;
    muster_request *request = NULL;
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    muster_call call = call_of(&group, MUSTER_OPERATION_ALL_REDUCE, NULL, NULL, 0);
    call.redop = MUSTER_BAND;
    is_int(plugin()->call(group.comm, &call, &request), MUSTER_ERR_UNSUPPORTED, "refused");
    has_str(muster_last_error(), "NCCL 2.28.9 has no all_reduce of this kind", "with a reason");
    call.redop = MUSTER_SUM;
    is_int(nccl_run(&group, &call, 1000), MUSTER_OK, "of nothing it is fine");
    ok(nccl_works(&group), "and it works");
    nccl_close(&group);
}

/* More elements than 32 bits count, which takes gigabytes. */
static void large(int rank, int size)
{
    const size_t count = ((size_t)1 << 31) + 7;
    const char *wanted = getenv("MUSTER_TEST_LARGE");
    nccl_group group;
    if (wanted == NULL || strcmp(wanted, "1") != 0)
        ranks_skip_case("it takes gigabytes: set MUSTER_TEST_LARGE=1");
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    char *memory = nccl_memory(&group, count);
    uint64_t end = rank == 0 ? UINT64_C(0x0102030405060708) : 0;
    nccl_put(&group, memory + count - sizeof(end), &end, sizeof(end));
    muster_call call = call_of(&group, MUSTER_OPERATION_BROADCAST, memory, memory, count);
    call.type = MUSTER_UINT8;
    is_int(nccl_run(&group, &call, patient(60000)), MUSTER_OK, "a broadcast");
    nccl_get(&group, &end, memory + count - sizeof(end), sizeof(end));
    ok(end == UINT64_C(0x0102030405060708), "to the last element");
    nccl_close(&group);
}

/* ---- fork ---- */

static int in_child(nccl_group *group)
{
    plugin()->forget(group->comm);
    nccl_group another;
    nccl_group_init(&another, group->rank, group->size);
    another.timeout_ms = 300;
    if (nccl_try_open(&another) == MUSTER_OK)
        return 1;
    return strstr(muster_last_error(), "fork") != NULL ? 0 : 2;
}

static void forked(int rank, int size)
{
    nccl_group group;
    muster_request *request = NULL;
    nccl_group_init(&group, rank, size);
    nccl_open(&group);
    muster_call call = call_of(&group, MUSTER_OPERATION_BARRIER, NULL, NULL, 0);
    is_int(plugin()->call(group.comm, &call, &request), MUSTER_OK, "an operation is under way");
    pid_t child = fork();
    if (child == 0)
        _exit(in_child(&group));
    int status = -1;
    waitpid(child, &status, 0);
    is_int(status, 0, "a child forgets the group and makes none");
    is_int(plugin()->wait(group.comm, request, patient(10000)), MUSTER_OK, "the parent goes on");
    ok(nccl_works(&group), "and works");
    nccl_close(&group);
}

#define EVERY_VERSION(words, ranks, count, function)                                               \
    NCCL_CASE(words ", 2.14", ranks, count, function, "T_NCCL=2.14"),                              \
        NCCL_CASE(words ", 2.18", ranks, count, function, "T_NCCL=2.18"),                          \
        NCCL_CASE(words ", 2.23", ranks, count, function, "T_NCCL=2.23"),                          \
        NCCL_CASE(words ", 2.28", ranks, count, function, "T_NCCL=2.28"),                          \
        NCCL_CASE(words ", 2.30", ranks, count, function, "T_NCCL=2.30")
#define OLD_DEVICES "MUSTER_STANDIN_DEVICES=cc=8.0,cc=9.0"
#define NEW_DEVICES "MUSTER_STANDIN_DEVICES=cc=9.0,cc=10.0"

static const struct ranks_case cases[] = {
    EVERY_VERSION("many rounds", 2, 2, many_rounds),
    EVERY_VERSION("halves", 4, 7, halves),
    NCCL_CASE("halves that block", 4, 7, halves, "NCCL_COMM_BLOCKING=1"),
    NCCL_CASE("rounds that block, 2.14", 2, 2, many_rounds, "NCCL_COMM_BLOCKING=1", "T_NCCL=2.14"),
    NCCL_CASE("described", 2, 4, described, NULL),
    NCCL_CASE("not together", 2, 3, not_together, NULL),
    NCCL_CASE("options", 2, 4, with_options, NULL),
    NCCL_CASE("several at once", 3, 2, several_at_once, NULL),
    NCCL_CASE("the caller's device", 2, 3, own_device, NULL),
    NCCL_CASE("in the order of the stream", 2, 5, in_order, "MUSTER_STANDIN_DELAY_US=20000"),
    NCCL_CASE("two streams", 2, 3, two_streams, NULL),
    NCCL_CASE("tested", 2, 5, tested, "MUSTER_STANDIN_DELAY_US=100000"),
    NCCL_CASE("abilities, 2.18", 2, 10, abilities, "T_NCCL=2.18", NEW_DEVICES),
    NCCL_CASE("abilities on an older device", 2, 10, abilities, OLD_DEVICES),
    NCCL_CASE("abilities", 2, 10, abilities, NEW_DEVICES, "T_FP8=1"),
    NCCL_CASE("refused", 2, 5, refused, NULL),
    NCCL_CASE("large", 2, 3, large, NULL),
    NCCL_CASE("forked", 2, 5, forked, NULL),
};

int main(int argc, char **argv)
{
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
