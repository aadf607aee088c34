/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nccl plugin over the stand-in where no communicator comes to be: in bounded time, with a
 * sentence that says what is known, and nothing is left.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl_ranks.h"

/* The time-out of what is to time out. */
enum { SHORT_MS = 700 };

/* 4 points: it fails as expected, in time, and leaves nothing but so many threads; and on rank 0
 * the one with which NCCL waits for all that know its unique id. */
static void expect_no_open(nccl_group *group, muster_status expected, const char *part,
                           int more_threads)
{
    more_threads += group->rank == 0;
    nccl_holdings before = nccl_held_with_device(group);
    int64_t start = nccl_now_ms();
    muster_status status = nccl_try_open(group);
    is_int(status, expected, "open fails as it should");
    has_str(muster_last_error(), part, "and says why");
    ok(nccl_in_time(start, group->timeout_ms + NCCL_CLOSE_MS + 500) && group->comm == NULL,
       "in time");
    ok(nccl_nothing_left(before, more_threads), "and nothing is left");
}

static void die(nccl_group *group)
{
    (void)group;
    raise(SIGKILL);
}

static void killed_before_init(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.timeout_ms = patient(SHORT_MS);
    if (rank == size - 1)
        group.after_exchange = die;
    expect_no_open(&group, MUSTER_ERR_TIMEOUT, "a rank has not come or does not answer", 0);
}

static void hang_in_init(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.timeout_ms = patient(SHORT_MS);
    expect_no_open(&group, MUSTER_ERR_TIMEOUT, "making a communicator on device", 0);
    ranks_barrier();
    nccl_group_init(&group, rank, size);
    group.number = 1;
    nccl_open(&group);
    ok(nccl_works(&group), "the next one works");
    nccl_close(&group);
}

/* A call that blocks, since the user's environment says so, can't be ended: one thread stays. */
static void hang_in_blocking_init(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.timeout_ms = patient(SHORT_MS);
    expect_no_open(&group, MUSTER_ERR_TIMEOUT, "making a communicator on device", 3);
    ranks_barrier();
    nccl_group_init(&group, rank, size);
    group.number = 1;
    nccl_open(&group);
    ok(nccl_works(&group), "the next one works, on another thread");
    nccl_close(&group);
}

static void cancel_soon(nccl_group *group)
{
    atomic_store(&group->cancelled, true);
}

static void cancelled(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.after_exchange = cancel_soon;
    group.timeout_ms = patient(60000);
    int64_t start = nccl_now_ms();
    expect_no_open(&group, MUSTER_ERR_FAILED, "was given up", 0);
    ok(nccl_in_time(start, 5000), "long before the time-out");
}

static void error_in_init(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.timeout_ms = patient(SHORT_MS);
    bool mine = rank == 0;
    expect_no_open(&group, mine ? MUSTER_ERR_SYSTEM : MUSTER_ERR_TIMEOUT,
                   mine ? "unhandled system error" : "does not answer", 0);
}

/* NCCL refuses at once, and may have left its thread inside a group. */
static void refused_init(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    expect_no_open(&group, MUSTER_ERR_SYSTEM, "making a communicator: unhandled cuda error", 0);
    nccl_group_init(&group, rank, size);
    group.number = 1;
    nccl_open(&group);
    ok(nccl_works(&group), "the next one works, on another thread");
    nccl_close(&group);
}

static void versions_differ(int rank, int size)
{
    nccl_group group;
    setenv("T_NCCL", rank == 1 ? "2.18" : "2.28", 1);
    nccl_group_init(&group, rank, size);
    expect_no_open(&group, MUSTER_ERR_MISMATCH, "rank 1 on host '", 0);
    has_str(muster_last_error(), "has NCCL 2.18.5 and rank 0 on host '", "both are named");
    has_str(muster_last_error(), "has NCCL 2.28.9; all ranks need the same version", "and why");
}

static void one_device(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.device = rank == 2 ? 0 : rank;
    expect_no_open(&group, MUSTER_ERR_MISMATCH, "use the same GPU", 0);
    has_str(muster_last_error(), "rank 0 on host '", "both are named");
    has_str(muster_last_error(), " and rank 2 on host '", "both are named");
}

static void no_device(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    nccl_holdings before = nccl_held_with_device(&group);
    group.device = -1;
    is_int(nccl_try_open(&group), MUSTER_ERR_ARGUMENT, "there must be a device");
    has_str(muster_last_error(), "nccl.device", "and it says how to set it");
    group.device = 63;
    ok(nccl_try_open(&group) != MUSTER_OK, "one that there is");
    has_str(muster_last_error(), "no device 63", "and it says which there isn't");
    ok(nccl_nothing_left(before, 0), "and nothing is left");
}

/* Nobody knows the unique id, on which the others wait. */
static void hang_in_id(int rank, int size)
{
    nccl_group group;
    nccl_group_init(&group, rank, size);
    group.timeout_ms = patient(SHORT_MS);
    bool mine = rank == 0;
    expect_no_open(&group, MUSTER_ERR_TIMEOUT,
                   mine ? "making NCCL's unique id on device 0 in time; it waits for no rank"
                        : "rank 0 does not come",
                   0);
}

/* ---- splitting ---- */

/* The first to give up breaks the parent, which others may find out before their own time is over.
 */
static void hang_in_split(int rank, int size)
{
    nccl_group world, half;
    nccl_group_init(&world, rank, size);
    nccl_holdings before = nccl_held_with_device(&world);
    nccl_open(&world);
    nccl_group_init_half(&half, &world, 1 + rank % 2);
    half.timeout_ms = patient(SHORT_MS);
    muster_status status = nccl_try_open(&half);
    ok(status == MUSTER_ERR_TIMEOUT || status == MUSTER_ERR_PEER_LOST, "the split fails");
    const char *part = status == MUSTER_ERR_TIMEOUT
                           ? "splitting the parent's communicator on device"
                           : "remote process exited";
    has_str(muster_last_error(), part, "and says so");
    ok(nccl_await_broken(&world, patient(3000)), "the parent is broken");
    is_int(world.broken_status, status, "for that");
    nccl_expect_close(&world, before, 0);
}

static const struct ranks_case cases[] = {
    NCCL_DIES("killed before init", 3, 4, killed_before_init, NULL),
    NCCL_DIES("killed before init, 2.14", 3, 4, killed_before_init, "T_NCCL=2.14"),
    NCCL_CASE("hang in init", 2, 6, hang_in_init, NCCL_FAULT("init@1:1:hang")),
    NCCL_CASE("hang in init, 2.14", 2, 6, hang_in_init, NCCL_FAULT("init@1:1:hang"), "T_NCCL=2.14"),
    NCCL_CASE("hang in init that blocks", 2, 6, hang_in_blocking_init, NCCL_FAULT("init@1:1:hang"),
              NCCL_BLOCKING, NCCL_LEAKS),
    NCCL_CASE("opening is cancelled", 2, 5, cancelled, NCCL_FAULT("init@1:1:hang")),
    NCCL_CASE("an error in init", 2, 4, error_in_init, NCCL_FAULT("init@0:1:2")),
    NCCL_CASE("init is refused", 2, 6, refused_init, NCCL_FAULT("ncclCommInitRankConfig:1:1")),
    NCCL_CASE("versions differ", 3, 6, versions_differ, NULL),
    NCCL_CASE("two ranks on one device", 3, 6, one_device, NULL),
    NCCL_CASE("hang in making the unique id", 2, 4, hang_in_id,
              NCCL_FAULT("ncclGetUniqueId:1:hang"), NCCL_LEAKS),
    NCCL_CASE("no device", 2, 5, no_device, NULL),
    NCCL_CASE("hang in a split", 4, 7, hang_in_split, NCCL_FAULT("split@1:1:hang")),
};

int main(int argc, char **argv)
{
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
