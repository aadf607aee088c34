/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nccl plugin over the stand-in when something goes wrong: in every phase it ends in bounded
 * time, with a sentence that says what is known, and nothing is left.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl_ranks.h"

/* The time-out of what is to time out, and how long an abort is waited for. */
enum { SHORT_MS = 700, ABORT_MS = 600 };

/* A group, and an operation of it. */
typedef struct party {
    nccl_group group;
    nccl_holdings before; /* what this process had before */
    muster_call call;     /* an all_reduce */
    muster_request *request;
} party;

/* A point: the group opens. timeout_ms 0 is the usual one. */
static void party_begin(party *p, int rank, int size, int64_t timeout_ms)
{
    *p = (party){.request = NULL};
    nccl_group_init(&p->group, rank, size);
    p->before = nccl_held_with_device(&p->group);
    if (timeout_ms > 0)
        p->group.timeout_ms = patient(timeout_ms);
    nccl_open(&p->group);
    void *memory = nccl_memory(&p->group, 400);
    p->call = (muster_call){.size = sizeof(muster_call),
                            .operation = MUSTER_OPERATION_ALL_REDUCE,
                            .type = MUSTER_INT32,
                            .redop = MUSTER_SUM,
                            .count = 100,
                            .send = memory,
                            .receive = memory,
                            .stream = nccl_stream(&p->group)};
}

static muster_status party_call(party *p)
{
    return nccl_plugin()->call(p->group.comm, &p->call, &p->request);
}

static muster_status party_wait(party *p, int64_t timeout_ms)
{
    return nccl_plugin()->wait(p->group.comm, p->request, timeout_ms);
}

/* 2 points. */
static void party_end(party *p)
{
    nccl_expect_close(&p->group, p->before, 0);
}

/* 2 points: after a communicator that left a thread behind. */
static void expect_another(int rank, int size)
{
    nccl_group group;
    ranks_barrier();
    nccl_group_init(&group, rank, size);
    group.number = 1;
    nccl_open(&group);
    ok(nccl_works(&group), "the next one works, on another thread");
    nccl_close(&group);
}

static void last_dies(int rank, int size)
{
    ranks_barrier();
    if (rank == size - 1)
        raise(SIGKILL);
}

/* ---- operations ---- */

/* The last rank is not there any more; nobody notices. */
static void killed_before_operation(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    last_dies(rank, size);
    is_int(party_call(&p), MUSTER_OK, "it starts");
    ok(!nccl_plugin()->test(p.group.comm, p.request), "it is not complete");
    int64_t start = nccl_now_ms();
    is_int(party_wait(&p, SHORT_MS), MUSTER_ERR_TIMEOUT, "it times out");
    is_str(muster_last_error(), "", "with nothing to say besides");
    ok(nccl_in_time(start, SHORT_MS + 500), "in time");
    is_int(party_call(&p), MUSTER_ERR_FAILED, "the communicator is broken");
    has_str(muster_last_error(), "all_reduce has not ended on device", "for that");
    ok(p.group.broken_count == 0, "the core has been told by wait alone");
    party_end(&p);
}

/* The same where NCCL notices. */
static void loss_noticed(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    if (rank < size - 1)
        is_int(party_call(&p), MUSTER_OK, "it starts");
    last_dies(rank, size);
    ok(nccl_await_broken(&p.group, patient(5000)), "the core is told while nobody waits");
    is_int(p.group.broken_status, MUSTER_ERR_PEER_LOST, "what it is");
    has_str(p.group.broken_sentence, "NCCL has found an error: remote", "and in words");
    ok(nccl_plugin()->test(p.group.comm, p.request), "the request has failed");
    int64_t start = nccl_now_ms();
    is_int(party_wait(&p, patient(20000)), MUSTER_ERR_PEER_LOST, "and waiting says so");
    ok(nccl_in_time(start, 1000), "at once");
    party_end(&p);
}

/* Each rank is told to break off, as the core does. */
static void broken_off(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    ok(rank == 0 || party_call(&p) == MUSTER_OK, "it starts on all but the first");
    ranks_barrier();
    int64_t start = nccl_now_ms();
    nccl_plugin()->abort(p.group.comm);
    nccl_plugin()->abort(p.group.comm);
    ok(nccl_in_time(start, 200), "breaking off does not block");
    is_int(rank > 0 ? party_wait(&p, patient(20000)) : party_call(&p), MUSTER_ERR_FAILED,
           "waiting ends, and nothing starts any more");
    has_str(muster_last_error(), "broken off on this rank", "for that");
    ok(nccl_in_time(start, 1000), "at once");
    ok(p.group.broken_count == 0, "and the core is not told what it knows");
    party_end(&p);
}

/* Only one rank breaks off: the others find out what NCCL lets them. */
static void peer_aborts(int rank, int size)
{
    bool noticed = getenv("MUSTER_STANDIN_PEERS") != NULL;
    party p;
    party_begin(&p, rank, size, 0);
    if (rank > 0)
        party_call(&p);
    ranks_barrier();
    int64_t start = nccl_now_ms();
    if (rank == 0)
        nccl_plugin()->abort(p.group.comm);
    muster_status status = rank > 0 ? party_wait(&p, SHORT_MS) : party_call(&p);
    ok(status == (rank == 0 ? MUSTER_ERR_FAILED
                  : noticed ? MUSTER_ERR_PEER_LOST
                            : MUSTER_ERR_TIMEOUT),
       "it ends");
    ok(nccl_in_time(start, SHORT_MS + 500), "in time");
    party_end(&p);
}

static void hang_in_abort(int rank, int size)
{
    party p;
    nccl_group another;
    party_begin(&p, rank, size, 0);
    ranks_barrier();
    nccl_plugin()->abort(p.group.comm);
    int64_t start = nccl_now_ms();
    is_int(party_call(&p), MUSTER_ERR_FAILED, "nothing starts");
    has_str(muster_last_error(), "NCCL has not come back from breaking off", "and it says so");
    ok(nccl_in_time(start, ABORT_MS + 500), "in time");
    start = nccl_now_ms();
    is_int(party_call(&p), MUSTER_ERR_FAILED, "nothing starts");
    ok(nccl_in_time(start, 500), "which is said at once from then on");
    nccl_close(&p.group);
    ok(nccl_in_time(start, 500 + NCCL_CLOSE_MS), "close returns within a second");
    nccl_group_init(&another, rank, size);
    another.timeout_ms = patient(SHORT_MS);
    start = nccl_now_ms();
    is_int(nccl_try_open(&another), MUSTER_ERR_UNAVAILABLE, "the device is of no use any more");
    has_str(muster_last_error(), "does not come back from breaking off another group", "said so");
    ok(nccl_in_time(start, SHORT_MS + NCCL_CLOSE_MS), "in time");
}

/* NCCL's call itself does not come back. */
static void hang_in_call(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    p.call.timeout_ms = patient(SHORT_MS);
    int64_t start = nccl_now_ms();
    is_int(party_call(&p), MUSTER_ERR_TIMEOUT, "it times out");
    has_str(muster_last_error(), "NCCL has not started all_reduce on device", "and says so");
    ok(nccl_in_time(start, SHORT_MS + ABORT_MS + 500), "in time");
    start = nccl_now_ms();
    nccl_close(&p.group);
    ok(nccl_in_time(start, NCCL_CLOSE_MS), "close returns within a second");
    expect_another(rank, size);
}

/* A blocking call that comes back when all is over ends what it was about. */
static void late_return(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    p.call.timeout_ms = 300;
    is_int(party_call(&p), MUSTER_ERR_TIMEOUT, "it times out");
    party_end(&p);
    expect_another(rank, size);
}

/* A kernel that touches what it can't spoils the device for the process. */
static void illegal_address(int rank, int size)
{
    static int32_t here[100];
    party p;
    party_begin(&p, rank, size, 0);
    p.call.send = rank == 0 ? here : p.call.send;
    muster_status status = party_call(&p);
    if (status == MUSTER_OK)
        status = party_wait(&p, SHORT_MS);
    ok(status == (rank == 0 ? MUSTER_ERR_SYSTEM : MUSTER_ERR_TIMEOUT) ||
           status == MUSTER_ERR_FAILED,
       "it fails");
    if (status == MUSTER_ERR_TIMEOUT)
        is_str(muster_last_error(), "", "with nothing to say besides");
    else
        has_str(muster_last_error(), rank == 0 ? "(" : "all_reduce has not ended", "and says why");
    int64_t start = nccl_now_ms();
    nccl_close(&p.group);
    ok(nccl_in_time(start, NCCL_CLOSE_MS), "close returns within a second");
}

/* From the third piece on; the first two are the test's. */
static void no_memory(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    p.call.operation = MUSTER_OPERATION_BARRIER;
    is_int(party_call(&p), MUSTER_ERR_NO_MEMORY, "a barrier needs memory");
    has_str(muster_last_error(), "barrier on device", "and says so");
    party_end(&p);
}

/* ---- closing ---- */

static void hang_in_finalize(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, SHORT_MS);
    ok(nccl_works(&p.group), "it works");
    party_end(&p);
}

static void killed_before_close(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, SHORT_MS);
    ok(nccl_works(&p.group), "it works");
    last_dies(rank, size);
    party_end(&p);
}

static void closed_while_running(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    if (rank > 0)
        party_call(&p);
    ranks_barrier();
    party_end(&p);
}

static void destroy_refused(int rank, int size)
{
    party p;
    party_begin(&p, rank, size, 0);
    party_end(&p);
}

static const struct ranks_case cases[] = {
    NCCL_DIES("killed before an operation", 3, 11, killed_before_operation, NULL),
    NCCL_DIES("killed before an operation, 2.14", 3, 11, killed_before_operation, "T_NCCL=2.14"),
    NCCL_DIES("killed before an operation, 2.18", 3, 11, killed_before_operation, "T_NCCL=2.18"),
    NCCL_DIES("killed before an operation, 2.23", 3, 11, killed_before_operation, "T_NCCL=2.23"),
    NCCL_DIES("killed before an operation, blocking", 3, 11, killed_before_operation,
              NCCL_BLOCKING),
    NCCL_DIES("a loss that NCCL notices", 3, 10, loss_noticed, "MUSTER_STANDIN_PEERS=noticed"),
    NCCL_CASE("broken off", 3, 9, broken_off, NULL),
    NCCL_CASE("broken off, 2.14", 3, 9, broken_off, "T_NCCL=2.14"),
    NCCL_CASE("broken off, 2.18", 3, 9, broken_off, "T_NCCL=2.18"),
    NCCL_CASE("broken off, 2.23", 3, 9, broken_off, "T_NCCL=2.23"),
    NCCL_CASE("a peer aborts", 3, 5, peer_aborts, NULL),
    NCCL_CASE("a peer aborts, 2.14", 3, 5, peer_aborts, "T_NCCL=2.14"),
    NCCL_CASE("a peer aborts, which NCCL notices", 3, 5, peer_aborts,
              "MUSTER_STANDIN_PEERS=noticed"),
    NCCL_CASE("hang in abort", 2, 10, hang_in_abort, NCCL_FAULT("ncclCommAbort:1:hang"),
              NCCL_LEAKS),
    NCCL_CASE("hang in a call", 2, 7, hang_in_call, NCCL_FAULT("ncclAllReduce:1:hang"), NCCL_LEAKS),
    NCCL_CASE("a call that comes back late", 2, 6, late_return,
              NCCL_FAULT("ncclAllReduce:1:2000ms")),
    NCCL_CASE("an illegal address", 2, 4, illegal_address, NCCL_LEAKS),
    NCCL_CASE("no memory on the device", 2, 5, no_memory, NCCL_FAULT("cudaMalloc:3+:2")),
    NCCL_CASE("hang in finalize", 2, 4, hang_in_finalize, NCCL_FAULT("finalize@0:1:hang")),
    NCCL_CASE("hang in finalize, 2.14", 2, 4, hang_in_finalize, NCCL_FAULT("finalize@0:1:hang"),
              "T_NCCL=2.14"),
    NCCL_DIES("killed before close", 3, 4, killed_before_close, NULL),
    NCCL_CASE("closed while operations run", 3, 3, closed_while_running, NULL),
    NCCL_CASE("destroy is refused", 2, 3, destroy_refused, NCCL_FAULT("ncclCommDestroy:1:3")),
};

int main(int argc, char **argv)
{
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
