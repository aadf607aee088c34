/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All prompts, gathered to rank 0 and written as JSON lines. A file is written beside its place and
 * then moved there, so that it is never seen half written.
 */
#include "config.h"

#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool output_failed(gather_job *job, const char *doing)
{
    return job_refuse(job, "'%s' can't be %s: %s", job->options->output, doing, strerror(errno));
}

static bool output_lines(FILE *out, const muster_objects *all)
{
    for (size_t i = 0; i < all->num_objects; i++) {
        fwrite(all->objects[i].data, 1, all->objects[i].size, out);
        fputc('\n', out);
        if (ferror(out))
            return false;
    }
    return fflush(out) == 0;
}

/* A pipe, a device or the standard output: nothing to move there. */
static bool output_in_place(gather_job *job, const muster_objects *all)
{
    bool is_stdout = strcmp(job->options->output, "-") == 0;
    FILE *out = is_stdout ? stdout : fopen(job->options->output, "we");
    if (out == NULL)
        return output_failed(job, "opened");
    bool good = output_lines(out, all) || output_failed(job, "written");
    if (!is_stdout && fclose(out) != 0 && good)
        good = output_failed(job, "written");
    return good;
}

/* The permissions that a new file would get. */
static mode_t output_usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool output_fill(gather_job *job, int file, mode_t mode, const muster_objects *all)
{
    FILE *out = fdopen(file, "w");
    if (out == NULL) {
        output_failed(job, "written");
        close(file);
        return false;
    }
    bool good = output_lines(out, all) && fchmod(file, mode) == 0 && fsync(file) == 0;
    if (!good)
        output_failed(job, "written");
    if (fclose(out) != 0 && good)
        good = output_failed(job, "written");
    return good;
}

static bool output_replace(gather_job *job, const char *place, mode_t mode,
                           const muster_objects *all)
{
    char beside[PATH_MAX + 16];
    snprintf(beside, sizeof(beside), "%s.XXXXXX", place);
    int file = mkostemp(beside, O_CLOEXEC);
    if (file < 0)
        return output_failed(job, "written");
    bool good = output_fill(job, file, mode, all);
    if (good && rename(beside, place) != 0)
        good = output_failed(job, "replaced");
    if (!good)
        unlink(beside);
    return good;
}

/* A link stays, and what it leads to is replaced. */
static bool output_put(gather_job *job, const muster_objects *all)
{
    struct stat old;
    char place[PATH_MAX];
    if (strcmp(job->options->output, "-") == 0)
        return output_in_place(job, all);
    if (realpath(job->options->output, place) == NULL) {
        if (errno != ENOENT)
            return output_failed(job, "written");
        if (snprintf(place, sizeof(place), "%s", job->options->output) >= (int)sizeof(place)) {
            errno = ENAMETOOLONG;
            return output_failed(job, "written");
        }
        return output_replace(job, place, output_usual_mode(), all);
    }
    if (stat(place, &old) != 0)
        return output_failed(job, "written");
    if (S_ISREG(old.st_mode))
        return output_replace(job, place, old.st_mode & 07777, all);
    return output_in_place(job, all);
}

bool output_write(gather_job *job)
{
    const prompts *list = &job->prompts;
    size_t from = prompts_share(list->count, job->rank, job->size);
    size_t to = prompts_share(list->count, job->rank + 1, job->size);
    muster_object_list mine = {to - from, list->lines + from};
    muster_objects *all = NULL;
    if (muster_gather_objects(job->world, &mine, 0, &all) != MUSTER_OK)
        return job_refuse(job, "%s", muster_last_error());
    bool good = all == NULL || output_put(job, all);
    muster_objects_free(all);
    return good;
}
