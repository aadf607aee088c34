/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The handles of collectives and of messages between two ranks.
 */
#include "config.h"

#include "grouptest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 20000 };

/* user case 47: handles. */
static void handles(int rank, int size)
{
    (void)size;
    enum { MANY = 100 };
    muster_group *group = world_of("world", T);
    static int32_t in[MANY], out[MANY];
    muster_work *works[MANY] = {NULL}, *work = NULL;
    bool done = false;
    int32_t one = rank + 1, sum = 0;
    is_status(muster_all_reduce(group, &one, &sum, 1, MUSTER_INT32, MUSTER_SUM, &work), MUSTER_OK,
              "an all_reduce is started");
    muster_status status = MUSTER_OK;
    for (int64_t began = now_ms(); status == MUSTER_OK && !done && in_time(began, T);)
        status = muster_work_test(work, &done);
    ok(done && status == MUSTER_OK && sum == 3, "it ends with nobody waiting");
    muster_work_free(work);
    int started = 0, right = 0;
    for (int i = 0; i < MANY; i++) {
        in[i] = i * (rank + 1);
        started += muster_all_reduce(group, &in[i], &out[i], 1, MUSTER_INT32, MUSTER_SUM,
                                     &works[i]) == MUSTER_OK;
    }
    for (int i = MANY - 1; i >= 0; i--) {
        right += muster_work_wait(works[i], T) == MUSTER_OK && out[i] == 3 * i;
        muster_work_free(works[i]);
    }
    ok(started == MANY && right == MANY, "a hundred at once");
    ranks_barrier();
    int64_t began = now_ms();
    if (rank == 0) {
        is_status(muster_recv(group, &sum, 1, MUSTER_INT32, 1, &work), MUSTER_OK, "a receive");
        status = muster_work_test(work, &done);
        ok(status == MUSTER_OK && !done, "is not done yet");
        is_status(muster_work_wait(work, 0), MUSTER_ERR_TIMEOUT, "nor after 0 ms");
        is_status(muster_work_wait(work, 100), MUSTER_ERR_TIMEOUT, "nor after 100 ms");
        ok(in_time(began, 600) && now_ms() - began >= 100, "which are kept");
        ranks_barrier();
        is_status(muster_work_wait(work, T), MUSTER_OK, "but when it is sent");
        is_int(sum, 4711, "as it was sent");
        is_status(muster_work_wait(work, T), MUSTER_OK, "waiting again is fine");
        muster_work_free(work);
    } else {
        skip(5, "rank 0 waits");
        ranks_barrier();
        int32_t number = 4711;
        is_status(muster_send(group, &number, 1, MUSTER_INT32, 0, NULL), MUSTER_OK, "sent");
        skip(2, "rank 0 has it");
    }
    /* Freed early, it goes on. */
    is_status(muster_all_reduce(group, &one, &sum, 1, MUSTER_INT32, MUSTER_SUM, &work), MUSTER_OK,
              "one more");
    muster_work_free(work);
    ok(group_works(group) && sum == 3, "freed early, it is carried out all the same");
    ranks_barrier();
    muster_group_free(group);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "handles", .size = 2, .points = 13, .body = handles, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
