/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A standing as a line of text: words "name=value" with spaces between them, the parts of a value
 * told apart by slashes.
 *
 *     cpus=0-7 allowed=0-63 bound=1 memory=0 settled=user/2
 *     cores=PACKAGE/NODE/COUNT/STEP/CPUS   a run of cores
 *     gpu=ORDINAL/COST/PACKAGE/NODE/CPUS/BUS-ID/UUID   a device, slice=... a part of one
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "placement/standing.h"

/* Room for any list: three CPUs take ten letters at most. */
enum { LIST_SIZE = CPU_SET_LIMIT * 4 };

static void write_cpus(FILE *out, const cpu_set *set)
{
    char list[LIST_SIZE];
    cpu_set_write(set, list, sizeof(list));
    fputs(list, out);
}

static void write_run(FILE *out, const standing_run *run)
{
    fprintf(out, " cores=%d/%d/%d/%d/", run->package, run->node, run->count, run->step);
    write_cpus(out, &run->first);
}

static void write_device(FILE *out, const standing_device *device)
{
    fprintf(out, " %s=%d/%lld/%d/%d/", device->slice ? "slice" : "gpu", device->ordinal,
            (long long)device->cost, device->package, device->node);
    write_cpus(out, &device->cpus);
    fprintf(out, "/%s/", device->bus_id);
    for (const char *c = device->uuid; *c != '\0'; c++)
        fputc(*c > ' ' && *c < 127 ? *c : '?', out);
}

muster_status standing_write(const standing *s, char **text)
{
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    if (out == NULL)
        return error_no_memory(1024, "where a rank stands");
    fputs("cpus=", out);
    write_cpus(out, &s->cpus);
    fputs(" allowed=", out);
    write_cpus(out, &s->allowed);
    fprintf(out, " bound=%d", s->bound);
    if (s->memory_node >= 0)
        fprintf(out, " memory=%d", s->memory_node);
    if (s->settled != STANDING_OPEN)
        fprintf(out, " settled=%s/%d", s->settled == STANDING_BY_USER ? "user" : "use",
                s->settled_ordinal);
    for (size_t i = 0; i < s->num_runs; i++)
        write_run(out, &s->runs[i]);
    for (size_t i = 0; i < s->num_devices; i++)
        write_device(out, &s->devices[i]);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(written);
        return error_no_memory(1024, "where a rank stands");
    }
    *text = written;
    return MUSTER_OK;
}
