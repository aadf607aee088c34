/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is measured with: groups, what they say of themselves, medians, memory.
 */
#include "config.h"

#include "perf.h"
#include "command_line.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool perf_failed(const muster_group *world)
{
    command_line_say("rank %d: %s", muster_group_rank(world), muster_last_error());
    return false;
}

static json_t *measure_facts(muster_group *group)
{
    char *text = NULL;
    if (muster_group_describe(group, true, &text) != MUSTER_OK)
        return NULL;
    json_t *facts = json_loads(text, 0, NULL);
    muster_free(text);
    return facts;
}

long long perf_fact(muster_group *group, const char *name)
{
    json_t *facts = measure_facts(group);
    const json_t *fact = json_object_get(facts, name);
    long long value = json_is_integer(fact) ? json_integer_value(fact) : -1;
    json_decref(facts);
    return value;
}

void perf_fact_text(muster_group *group, const char *name, char *text, size_t size)
{
    json_t *facts = measure_facts(group);
    const char *words = json_string_value(json_object_get(facts, name));
    snprintf(text, size, "%s", words == NULL ? "" : words);
    json_decref(facts);
}

bool perf_largest(muster_group *world, double *values, size_t count)
{
    return muster_all_reduce(world, values, values, count, MUSTER_FLOAT64, MUSTER_MAX, NULL) ==
               MUSTER_OK ||
           perf_failed(world);
}

static int measure_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double perf_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), measure_compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void perf_memory_reset(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    /* 5: the highest so far becomes what it is now (see proc(5)). Without it the highest is that
     * of the whole run, which is never less. */
    ssize_t written = write(file, "5", 1);
    (void)written;
    close(file);
}

/* A line of /proc/self/status, which counts in kB. */
static double measure_status(const char *name)
{
    char line[256];
    double bytes = -1;
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL)
        return -1;
    while (bytes < 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            bytes = strtod(line + strlen(name), NULL) * 1024;
    fclose(file);
    return bytes;
}

double perf_memory_now(void)
{
    return measure_status("VmRSS:");
}

double perf_memory_most(void)
{
    return measure_status("VmHWM:");
}

void perf_print_title(const perf_options *options, muster_group *world)
{
    char version[64], within[160];
    long long hosts = perf_fact(world, "hosts");
    int ranks = muster_group_size(world);
    perf_fact_text(world, "backend_version", version, sizeof(version));
    perf_fact_text(world, "within_this_host", within, sizeof(within));
    bool shared = strncmp(within, "local", strlen("local")) == 0;
    printf("muster-perf %s: %d rank%s on %lld host%s, %s %s%s, median of %lld round%s\n",
           options->what, ranks, ranks == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s",
           muster_group_backend(world), version, shared ? " with shared memory" : "",
           options->rounds, options->rounds == 1 ? "" : "s");
}
