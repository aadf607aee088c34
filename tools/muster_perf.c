/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf: measures groups, gathers and collectives on the ranks of a job, and stores.
 */
#include "config.h"

#include "perf/perf.h"
#include "command_line.h"
#include "stopwatch.h"

#include <stdlib.h>
#include <string.h>

static bool perf_measure(const perf_options *options, muster_group *world)
{
    if (strcmp(options->what, "groups") == 0)
        return perf_groups(options, world);
    if (strcmp(options->what, "gather_tokens") == 0)
        return perf_gather(options, world);
    if (strcmp(options->what, "overlap") == 0)
        return perf_overlap(options, world);
    return perf_sweep(options, world);
}

int main(int argc, char **argv)
{
    perf_options options;
    muster_group *world = NULL;
    int status;
    if (!perf_options_read(&options, argc, argv, &status))
        return status;
    if (strcmp(options.what, "store") == 0)
        return command_line_end(perf_store(&options) ? EXIT_SUCCESS : EXIT_FAILURE);
    double start = stopwatch_seconds();
    if (job_options_open(&options.job, "perf", &world) != MUSTER_OK) {
        command_line_say("%s", muster_last_error());
        return EXIT_FAILURE;
    }
    options.opening_seconds = stopwatch_seconds() - start;
    bool good = perf_measure(&options, world);
    /* Who leaves first, be it with wrong results, would look lost to a rank that is still here. */
    if (muster_group_check(world) == MUSTER_OK && muster_barrier(world, NULL) != MUSTER_OK)
        good = perf_failed(world);
    muster_group_free(world);
    return command_line_end(good ? EXIT_SUCCESS : EXIT_FAILURE);
}
