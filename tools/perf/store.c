/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf store: operations on the store by many clients at once, torch's beside muster's.
 */
#include "config.h"

#include "store.h"
#include "command_line.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What runs for one side while clients of one number are measured. */
typedef struct stage {
    store_crew server_crew, crew;
    perf_party server, clients;
} stage;

typedef struct conductor {
    const perf_options *options;
    store_side *sides;
    stage stages[STORE_NUM_SIDES];
    int64_t timeout_ms;
    long long shares; /* so many rounds of keys that all clients shared */
} conductor;

/* ---- A side -------------------------------------------------------------------------------- */

static bool side_starts(const conductor *all, int side)
{
    return all->sides[side].why_not[0] == '\0';
}

static bool side_failed(store_side *side, const char *why)
{
    snprintf(side->why_not, sizeof(side->why_not), "%s", why);
    return false;
}

static bool stage_ask(conductor *all, int side, perf_party *party, const char *order,
                      double numbers[2], char *rest, size_t rest_size)
{
    char why[512];
    return perf_party_ask(party, order, numbers, rest, rest_size, all->timeout_ms, why) ||
           side_failed(&all->sides[side], why);
}

static bool stage_start_server(conductor *all, int side, stage *here)
{
    bool torch = side == STORE_TORCH || side == STORE_CROSSED;
    double numbers[2];
    char what[100];
    if (!perf_party_start(&here->server, torch ? store_torch_serve : store_serve, &here->crew))
        return side_failed(&all->sides[side], "there is no process for the server");
    if (!stage_ask(all, side, &here->server, NULL, numbers, what, sizeof(what)))
        return false;
    here->crew.port = (int)numbers[0];
    snprintf(all->sides[side].title, sizeof(all->sides[side].title), "server: %s, clients: %s",
             what, side == STORE_TORCH ? "torch" : "muster");
    return true;
}

static bool stage_start(conductor *all, int side, long long clients)
{
    stage *here = &all->stages[side];
    double numbers[2];
    *here = (stage){
        .crew = {-1, clients, all->options->value_size, all->timeout_ms, all->options->python}};
    if (all->sides[side].has_server && !stage_start_server(all, side, here))
        return false;
    if (!perf_party_start(&here->clients, side == STORE_TORCH ? store_torch_clients : store_clients,
                          &here->crew))
        return side_failed(&all->sides[side], "there is no process for the clients");
    return stage_ask(all, side, &here->clients, NULL, numbers, NULL, 0);
}

static void stage_end(stage *here)
{
    perf_party_end(&here->clients);
    perf_party_end(&here->server);
}

/* CPU time of the server so far. */
static bool stage_cpu(conductor *all, int side, double *cpu)
{
    double numbers[2] = {0, 0};
    bool good = !all->sides[side].has_server ||
                stage_ask(all, side, &all->stages[side].server, "cpu\n", numbers, NULL, 0);
    *cpu = numbers[0];
    return good;
}

/* found: seconds, CPU time of the clients, CPU time of the server. */
static bool stage_run(conductor *all, int side, store_task task, long long operations,
                      double found[3])
{
    char order[64];
    double before, after;
    snprintf(order, sizeof(order), "%s %lld %lld\n", store_task_names[task], operations,
             all->shares);
    if (!stage_cpu(all, side, &before) ||
        !stage_ask(all, side, &all->stages[side].clients, order, found, NULL, 0) ||
        !stage_cpu(all, side, &after))
        return false;
    found[2] = after - before;
    return true;
}

/* ---- All sides ----------------------------------------------------------------------------- */

static bool figures_make(store_figures *figures, long long operations, long long rounds)
{
    double *numbers = calloc(3 * (size_t)rounds, sizeof(*numbers));
    if (numbers == NULL)
        return false;
    *figures = (store_figures){operations, numbers, numbers + rounds, numbers + 2 * rounds};
    return true;
}

static long long operations_each(const perf_options *options, long long clients)
{
    return options->operations > clients ? options->operations / clients : 1;
}

/* One round of one task, side by side; round -1 warms up, and is not counted. */
static void conduct_task(conductor *all, size_t count, long long round, store_task task)
{
    long long clients = all->options->counts[count];
    long long each = round < 0 || task == STORE_SHARE ? 1 : operations_each(all->options, clients);
    for (int side = 0; side < STORE_NUM_SIDES; side++) {
        store_figures *figures = &all->sides[side].figures[count][task];
        double found[3];
        if (!side_starts(all, side) || !stage_run(all, side, task, each, found) || round < 0)
            continue;
        if (figures->operations == 0 &&
            !figures_make(figures, each * clients, all->options->rounds)) {
            side_failed(&all->sides[side], "there is not enough memory for the figures");
            continue;
        }
        figures->seconds[round] = found[0];
        figures->client_cpu[round] = found[1];
        figures->server_cpu[round] = found[2];
    }
    all->shares += task == STORE_SHARE;
}

/* A side that broke off has no figures for this number of clients. */
static void conduct_forget(conductor *all, size_t count)
{
    for (int side = 0; side < STORE_NUM_SIDES; side++)
        for (int task = 0; task < STORE_NUM_TASKS && !side_starts(all, side); task++) {
            free(all->sides[side].figures[count][task].seconds);
            all->sides[side].figures[count][task] = (store_figures){0};
        }
}

/* It may take minutes. */
static void conduct_tell(const conductor *all, size_t count, long long round)
{
    long long clients = all->options->counts[count], rounds = all->options->rounds;
    const char *more = clients == 1 ? "" : "s";
    if (all->options->job.json)
        return;
    if (round < 0)
        command_line_say("measuring %lld client%s: warming up", clients, more);
    else
        command_line_say("measuring %lld client%s: round %lld of %lld", clients, more, round + 1,
                         rounds);
}

static void conduct(conductor *all, size_t count)
{
    for (int side = 0; side < STORE_NUM_SIDES; side++)
        if (side_starts(all, side))
            stage_start(all, side, all->options->counts[count]);
    for (long long round = -1; round < all->options->rounds; round++) {
        conduct_tell(all, count, round);
        for (int task = 0; task < STORE_NUM_TASKS; task++)
            if (round >= 0 || task != STORE_SHARE)
                conduct_task(all, count, round, (store_task)task);
    }
    for (int side = 0; side < STORE_NUM_SIDES; side++)
        stage_end(&all->stages[side]);
    conduct_forget(all, count);
}

/* Whether torch can be measured, where it is to be, found out before anything else is. */
static bool conduct_may_begin(conductor *all)
{
    stage trial = {.crew = {-1, 1, 0, all->timeout_ms, all->options->python}};
    double numbers[2];
    char why[512] = "there is no process for the server";
    if (all->options->python == NULL)
        return true;
    bool good = perf_party_start(&trial.server, store_torch_serve, &trial.crew) &&
                perf_party_ask(&trial.server, NULL, numbers, NULL, 0, all->timeout_ms, why);
    if (!good)
        command_line_say("--torch '%s': %s", all->options->python, why);
    stage_end(&trial);
    return good;
}

static bool conduct_well(const conductor *all)
{
    bool good = true;
    for (int side = 0; side < STORE_CROSSED; side++)
        if (!side_starts(all, side) && (side != STORE_TORCH || all->options->python != NULL)) {
            command_line_say("%s: %s", all->sides[side].label, all->sides[side].why_not);
            good = false;
        }
    return good;
}

static void conduct_all(conductor *all)
{
    static const store_side sides[STORE_NUM_SIDES] = {
        [STORE_HASH] = {.name = "hash", .label = "hash store", .title = "hash store, threads"},
        [STORE_MUSTER] = {.name = "muster", .label = "muster", .has_server = true},
        [STORE_TORCH] = {.name = "torch", .label = "torch", .has_server = true},
        [STORE_CROSSED] = {.name = "muster_on_torch",
                           .label = "torch's with muster's clients",
                           .has_server = true}};
    for (int side = 0; side < STORE_NUM_SIDES; side++)
        all->sides[side] = sides[side];
    for (int side = STORE_TORCH; side <= STORE_CROSSED && all->options->python == NULL; side++)
        side_failed(&all->sides[side], "it was not asked for");
    for (size_t i = 0; i < all->options->num_counts; i++)
        conduct(all, i);
    if (all->options->job.json)
        store_print_json(all->options, all->sides);
    else
        store_print(all->options, all->sides);
}

bool perf_store(const perf_options *options)
{
    conductor all = {.options = options, .timeout_ms = options->job.timeout_ms};
    all.sides = calloc(STORE_NUM_SIDES, sizeof(*all.sides));
    if (all.sides == NULL) {
        command_line_say("there is not enough memory for the figures");
        return false;
    }
    if (all.timeout_ms < 0)
        all.timeout_ms = 1800 * 1000;
    signal(SIGPIPE, SIG_IGN);
    bool good = conduct_may_begin(&all);
    if (good) {
        conduct_all(&all);
        good = conduct_well(&all);
    }
    for (size_t i = 0; i < STORE_NUM_SIDES * options->num_counts * STORE_NUM_TASKS; i++)
        free(all.sides[i / STORE_NUM_TASKS / options->num_counts]
                 .figures[i / STORE_NUM_TASKS % options->num_counts][i % STORE_NUM_TASKS]
                 .seconds);
    free(all.sides);
    return good;
}
