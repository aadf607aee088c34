/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of muster-perf store, and the same as JSON.
 */
#include "config.h"

#include "store.h"

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

/* Operations in a second of the clock or of the server's CPU time; of a share, milliseconds. */
static double print_value(store_task task, const store_figures *figures, double *seconds,
                          long long rounds)
{
    double time = perf_median(seconds, (size_t)rounds);
    if (task == STORE_SHARE)
        return 1000 * time;
    return time > 0 ? (double)figures->operations / time : 0;
}

/* Of a column, as its heading has it. */
static int print_width(int task)
{
    return task == STORE_SHARE ? 10 : task == STORE_MIX ? 11 : 8;
}

static void print_head(const char *title)
{
    printf("%s\n%80s\n%80s\n  %7s %-20s", title, "all have", "the values", "clients", "");
    for (int task = 0; task < STORE_MIX; task++)
        printf(" %8s", store_task_names[task]);
    printf(" %11s %10s\n", "check, wait", "of all, ms");
}

static void print_row(const perf_options *options, const char *label, const double *values)
{
    (void)options;
    printf(" %-20s", label);
    for (int task = 0; task < STORE_SHARE; task++)
        printf(" %*.0f", print_width(task), values[task]);
    printf(" %10.2f\n", values[STORE_SHARE]);
}

static void print_side(const perf_options *options, store_side *side)
{
    print_head(side->title);
    for (size_t i = 0; i < options->num_counts; i++) {
        double values[STORE_NUM_TASKS], cpu[STORE_NUM_TASKS];
        if (side->figures[i][0].operations == 0)
            continue;
        for (int task = 0; task < STORE_NUM_TASKS; task++) {
            store_figures *one = &side->figures[i][task];
            values[task] = print_value((store_task)task, one, one->seconds, options->rounds);
            cpu[task] = print_value((store_task)task, one, one->server_cpu, options->rounds);
        }
        printf("  %7lld", options->counts[i]);
        print_row(options, "a second", values);
        if (!side->has_server)
            continue;
        printf("  %7s", "");
        print_row(options, "  of server CPU time", cpu);
    }
}

/* How many times as fast as other, by the clock and by the server's CPU time. */
static void print_against(const perf_options *options, store_side *side, store_side *other,
                          const char *title)
{
    print_head(title);
    for (size_t i = 0; i < options->num_counts; i++) {
        if (side->figures[i][0].operations == 0 || other->figures[i][0].operations == 0)
            continue;
        for (int cpu = 0; cpu < 2; cpu++) {
            printf("  %7.0lld %-20s", cpu ? 0 : options->counts[i],
                   cpu ? "  by server CPU time" : "times as fast");
            for (int task = 0; task < STORE_NUM_TASKS; task++) {
                store_figures *a = &side->figures[i][task], *b = &other->figures[i][task];
                double x = perf_median(cpu ? a->server_cpu : a->seconds, (size_t)options->rounds);
                double y = perf_median(cpu ? b->server_cpu : b->seconds, (size_t)options->rounds);
                printf(" %*.2f", print_width(task), x > 0 ? y / x : 0);
            }
            puts("");
        }
    }
}

/* The server's part of the CPU time of a side, in percent; -1 where there is none. */
static double print_part(const perf_options *options, const store_side *side)
{
    double server = 0, clients = 0;
    for (size_t i = 0; i < options->num_counts; i++)
        for (int task = 0; task < STORE_NUM_TASKS; task++)
            for (long long r = 0; side->figures[i][task].operations > 0 && r < options->rounds;
                 r++) {
                server += side->figures[i][task].server_cpu[r];
                clients += side->figures[i][task].client_cpu[r];
            }
    return server + clients > 0 ? 100 * server / (server + clients) : -1;
}

void store_print(const perf_options *options, store_side sides[STORE_NUM_SIDES])
{
    printf("muster-perf store: operations a second of all clients together; values of %lld\n"
           "bytes, median of %lld round%s\n\n",
           options->value_size, options->rounds, options->rounds == 1 ? "" : "s");
    for (int side = 0; side < STORE_NUM_SIDES; side++) {
        if (sides[side].figures[0][0].operations > 0)
            print_side(options, &sides[side]);
        else if (options->python != NULL)
            printf("%s: %.100s\n", sides[side].label, sides[side].why_not);
        else
            continue;
        puts("");
    }
    if (sides[STORE_TORCH].figures[0][0].operations > 0)
        print_against(options, &sides[STORE_MUSTER], &sides[STORE_TORCH],
                      "muster against torch, each with its own clients");
    if (sides[STORE_CROSSED].figures[0][0].operations > 0)
        print_against(options, &sides[STORE_MUSTER], &sides[STORE_CROSSED],
                      "muster's server against torch's, both with muster's clients");
    printf("Clients and servers share %ld CPUs; of the CPU time used, the server had",
           sysconf(_SC_NPROCESSORS_ONLN));
    for (int side = STORE_MUSTER; side < STORE_NUM_SIDES; side++)
        if (print_part(options, &sides[side]) >= 0)
            printf("%s\n%.0f %% (%s)", side == STORE_MUSTER ? "" : ",",
                   print_part(options, &sides[side]), sides[side].label);
    puts(".");
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static json_t *json_numbers(const double *values, long long count)
{
    json_t *list = json_array();
    for (long long i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

static void json_side(const perf_options *options, const store_side *side, json_t *results)
{
    for (size_t i = 0; i < options->num_counts; i++)
        for (int task = 0; task < STORE_NUM_TASKS; task++) {
            const store_figures *one = &side->figures[i][task];
            if (one->operations == 0)
                continue;
            json_array_append_new(
                results,
                json_pack("{s:s, s:I, s:s, s:I, s:o, s:o, s:o}", "side", side->name, "clients",
                          (json_int_t)options->counts[i], "task", store_task_names[task],
                          "operations", (json_int_t)one->operations, "seconds",
                          json_numbers(one->seconds, options->rounds), "server_cpu_seconds",
                          json_numbers(one->server_cpu, options->rounds), "client_cpu_seconds",
                          json_numbers(one->client_cpu, options->rounds)));
        }
}

void store_print_json(const perf_options *options, store_side sides[STORE_NUM_SIDES])
{
    json_t *results = json_array(), *titles = json_object(), *missing = json_object();
    for (int side = 0; side < STORE_NUM_SIDES; side++) {
        json_side(options, &sides[side], results);
        json_object_set_new(
            sides[side].why_not[0] == '\0' ? titles : missing, sides[side].name,
            json_string(sides[side].why_not[0] == '\0' ? sides[side].title : sides[side].why_not));
    }
    json_t *all =
        json_pack("{s:s, s:I, s:I, s:i, s:o, s:o, s:o}", "measured", "store", "rounds",
                  (json_int_t)options->rounds, "value_bytes", (json_int_t)options->value_size,
                  "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN), "sides", titles, "not_measured",
                  missing, "results", results);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}
