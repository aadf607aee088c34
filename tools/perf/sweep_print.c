/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of muster-perf OPERATION, that of nccl-tests first, and the same as JSON.
 */
#include "config.h"

#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const sweep_side_names[SWEEP_NUM_SIDES] = {"muster", "mpi", "torch"};

double sweep_bandwidth(const sweep_call *one, double seconds)
{
    return seconds > 0 ? sweep_bytes(one) / seconds / 1e9 : 0;
}

static const char *print_redop(const sweep_call *one)
{
    return one->operation->reduces ? muster_reduction_name(one->kind) : "none";
}

static int print_root(const sweep_call *one)
{
    return one->operation->rooted ? one->root : -1;
}

/* ---- The table of nccl-tests --------------------------------------------------------------- */

void sweep_print_head(const perf_options *options, muster_group *world, const sweep_call *one)
{
    const sweep_options *how = &options->sweep;
    printf("# ");
    perf_print_title(options, world);
    printf("# %s: %lld calls after %lld, time of the slowest rank, results %s\n#\n",
           one->operation->name, how->iterations, how->warmups,
           how->check != 0 ? "checked" : "not checked");
    printf("# %78s %34s\n", "out-of-place", "in-place");
    printf("# %12s %12s %11s %10s %6s", "size", "count", "type", "redop", "root");
    for (int inside = 0; inside < 2; inside++)
        printf("  %10s %7s %7s %6s", "time", "algbw", "busbw", "#wrong");
    printf("\n# %12s %12s %41s %7s %7s %18s %7s %7s\n", "(B)", "(elements)", "(us)", "(GB/s)",
           "(GB/s)", "(us)", "(GB/s)", "(GB/s)");
}

static void print_half(const sweep_call *one, double seconds, double wrong)
{
    double bandwidth = sweep_bandwidth(one, seconds);
    if (seconds < 0)
        printf("  %10s %7s %7s", "N/A", "N/A", "N/A");
    else
        printf("  %10.2f %7.2f %7.2f", seconds * 1e6, bandwidth, bandwidth * sweep_bus_factor(one));
    if (seconds < 0 || wrong < 0)
        printf(" %6s", "N/A");
    else
        printf(" %6.0f", wrong);
}

void sweep_print_line(const perf_options *options, const sweep_call *one, const sweep_line *line)
{
    (void)options;
    printf("  %12.0f %12zu %11s %10s %6d", sweep_bytes(one), one->base, muster_type_name(one->type),
           print_redop(one), print_root(one));
    for (int inside = 0; inside < 2; inside++)
        print_half(one, line->seconds[inside], line->wrong[inside]);
    putchar('\n');
    /* It may be long until the next. */
    fflush(stdout);
}

/* ---- The table of peers -------------------------------------------------------------------- */

static double print_number(const json_t *line, const char *name)
{
    const json_t *value = json_object_get(line, name);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static double print_against(const json_t *line, int side)
{
    return print_number(json_object_get(line, "against"), sweep_side_names[side]);
}

/* Two digits that say something, whatever the size. */
static void print_ratio(double ratio)
{
    int decimals = ratio > 0 ? 1 - (int)floor(log10(ratio)) : 2;
    printf(" %8.*f", decimals < 0 ? 0 : decimals > 9 ? 9 : decimals, ratio);
}

/* Why a peer has N/A, once for each reason. */
static void print_lacks(const json_t *lines, int side)
{
    size_t i, before;
    const json_t *line;
    json_array_foreach(lines, i, line)
    {
        json_t *lack = json_object_get(json_object_get(line, "lacks"), sweep_side_names[side]);
        for (before = 0; before < i && lack != NULL; before++)
            if (json_equal(lack,
                           json_object_get(json_object_get(json_array_get(lines, before), "lacks"),
                                           sweep_side_names[side])))
                lack = NULL;
        if (lack != NULL)
            printf("# N/A of %s: %s\n", sweep_side_names[side], json_string_value(lack));
    }
}

static void print_peers(bool asked[SWEEP_NUM_SIDES], const json_t *lines)
{
    size_t i;
    const json_t *line;
    printf("#\n# Time of a call in microseconds, and times as fast as muster is:\n");
    printf("# %12s %11s %10s %6s %12s", "size", "type", "redop", "root", "muster");
    for (int side = SWEEP_MPI; side < SWEEP_NUM_SIDES; side++)
        if (asked[side])
            printf(" %12s %8s", sweep_side_names[side], "ratio");
    putchar('\n');
    json_array_foreach(lines, i, line)
    {
        double mine = print_against(line, SWEEP_MUSTER);
        printf("  %12.0f %11s %10s %6.0f %12.2f", print_number(line, "size"),
               json_string_value(json_object_get(line, "type")),
               json_string_value(json_object_get(line, "redop")), print_number(line, "root"),
               1e6 * mine);
        for (int side = SWEEP_MPI; side < SWEEP_NUM_SIDES; side++) {
            double other = print_against(line, side);
            if (asked[side] && other >= 0 && mine > 0)
                printf(" %12.2f", 1e6 * other), print_ratio(other / mine);
            else if (asked[side])
                printf(" %12s %8s", "N/A", "N/A");
        }
        putchar('\n');
    }
    for (int side = SWEEP_MPI; side < SWEEP_NUM_SIDES; side++)
        print_lacks(lines, side);
}

void sweep_print_end(const perf_options *options, long long wrong, double bus, const json_t *lines)
{
    bool asked[SWEEP_NUM_SIDES] = {
        [SWEEP_MPI] = options->sweep.mpi, [SWEEP_TORCH] = options->sweep.torch};
    if (asked[SWEEP_MPI] || asked[SWEEP_TORCH])
        print_peers(asked, lines);
    if (options->sweep.check != 0)
        printf("# Out of bounds values : %lld %s\n", wrong, wrong == 0 ? "OK" : "FAILED");
    printf("# Avg bus bandwidth    : %g\n", bus);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static json_t *json_number_or_null(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *json_half(const sweep_call *one, double seconds, double wrong)
{
    double bandwidth = sweep_bandwidth(one, seconds);
    if (seconds < 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:o}", "seconds", seconds, "algbw", bandwidth, "busbw",
                     bandwidth * sweep_bus_factor(one), "wrong", json_number_or_null(wrong));
}

json_t *sweep_json_line(const sweep_call *one, const sweep_line *line)
{
    json_t *against = json_object(), *lacks = json_object();
    for (int side = 0; side < SWEEP_NUM_SIDES; side++)
        if (line->against[side] >= 0)
            json_object_set_new(against, sweep_side_names[side], json_real(line->against[side]));
        else if (line->lacks[side][0] != '\0')
            json_object_set_new(lacks, sweep_side_names[side], json_string(line->lacks[side]));
    return json_pack(
        "{s:I, s:I, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "size", (json_int_t)sweep_bytes(one),
        "count", (json_int_t)one->base, "type", muster_type_name(one->type), "redop",
        print_redop(one), "root", print_root(one), "out_of_place",
        json_half(one, line->seconds[0], line->wrong[0]), "in_place",
        json_half(one, line->seconds[1], line->wrong[1]), "against", against, "lacks", lacks);
}

void sweep_print_json(const perf_options *options, muster_group *world, const char *measured,
                      long long wrong, double bus, json_t *lines)
{
    json_t *all =
        json_pack("{s:s, s:i, s:I, s:s, s:I, s:I, s:I, s:b, s:I, s:f, s:O}", "measured", measured,
                  "ranks", muster_group_size(world), "hosts", (json_int_t)perf_fact(world, "hosts"),
                  "backend", muster_group_backend(world), "rounds", (json_int_t)options->rounds,
                  "iterations", (json_int_t)options->sweep.iterations, "warmups",
                  (json_int_t)options->sweep.warmups, "checked", options->sweep.check != 0, "wrong",
                  (json_int_t)wrong, "busbw", bus, "results", lines);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}
