/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-gather: gathers the prompts of a file over the ranks of a job, and checks them.
 */
#include "config.h"

#include "gather/job.h"
#include "agree.h"
#include "command_line.h"

#include <signal.h>
#include <stdlib.h>

/* After each step all ranks know whether to go on. */
static bool run_agree(gather_job *job, bool went_well)
{
    return agree(job->world, went_well ? "" : job->why);
}

static bool run_steps(gather_job *job, bool has_file)
{
    return run_agree(job, has_file) && run_agree(job, groups_check_size(job)) &&
           run_agree(job, groups_make_parts(job)) && run_agree(job, gathers_run_tokens(job)) &&
           run_agree(job, gathers_run_objects(job)) &&
           (job->options->output == NULL || run_agree(job, output_write(job))) &&
           run_agree(job, summary_print(job));
}

int main(int argc, char **argv)
{
    gather_options options;
    int status;
    if (!options_read(&options, argc, argv, &status))
        return status;
    /* A file that grows beyond the limit is then an error of the write. */
    signal(SIGXFSZ, SIG_IGN);
    gather_job job = {.options = &options};
    char why[sizeof(job.why)];
    bool has_file = prompts_read(&job.prompts, options.file, why, sizeof(why));
    bool good = groups_make_world(&job);
    if (!good)
        command_line_say("%s", has_file ? job.why : why);
    else if (has_file)
        good = run_steps(&job, true);
    else
        good = run_steps(&job, job_refuse(&job, "%s", why));
    muster_group_free(job.orthogonal);
    muster_group_free(job.regular);
    muster_group_free(job.world);
    prompts_free(&job.prompts);
    /* What went wrong has been said, be it that the output can't be written. */
    return good ? command_line_end(EXIT_SUCCESS) : EXIT_FAILURE;
}
