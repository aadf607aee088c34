/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that share one GPU: refused where nccl was asked for by name, on gloo with the reason where
 * the choice is muster's.
 */
#include "config.h"

#include "gpu/common.h"
#include "gpu_memory.h"

#include <stdlib.h>

static void shared(int rank, int size)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    muster_group *none = NULL;
    char *text = NULL;
    (void)rank;
    gpu_take(0);
    muster_group *group = common_group("auto");
    is_str(muster_group_backend(group), "local", "auto goes by shared memory");
    is_status(muster_group_describe(group, false, &text), MUSTER_OK, "and says why");
    has_str(text != NULL ? text : "", "have the same GPU", "which is the shared GPU");
    muster_free(text);
    int32_t *there = gpu_alloc(GPU_DEVICE, sizeof(int32_t)), number = 1;
    gpu_put(there, &number, sizeof(number));
    is_status(muster_all_reduce(group, there, there, 1, MUSTER_INT32, MUSTER_SUM, NULL), MUSTER_OK,
              "an all_reduce of device memory");
    gpu_get(&number, there, sizeof(number));
    is_int(number, size, "is right");
    args.group_name = "none";
    args.backend = "nccl";
    args.timeout_ms = patient(COMMON_TIMEOUT_MS);
    is_status(muster_init_process_group(&none, &args), MUSTER_ERR_UNAVAILABLE,
              "nccl by name is refused");
    has_str(muster_last_error(), "have the same GPU", "saying the same");
    common_leave(group);
    gpu_free(GPU_DEVICE, there);
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "2 ranks on one GPU", .size = 2, .points = 7, .body = shared, .seconds = 20},
        {.name = "4 ranks on one GPU", .size = 4, .points = 7, .body = shared, .seconds = 20},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
