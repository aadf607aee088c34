/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf from the outside: that it counts what it should; how fast anything is, is no test.
 */
#include "config.h"

#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static double number(const json_t *all, const char *name)
{
    const json_t *value = json_object_get(all, name);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static void groups(void)
{
    TOOLS_RANKS(4, "muster-perf", "groups", "-n", "2");
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "groups of 4 ranks");
    has_str(tools_run.out, "2 regular of 2 and 2 orthogonal of 2", "with the usual size");
    ok(tools_width(tools_run.out) <= 80, "a table for a terminal");
    TOOLS_RANKS(3, "muster-perf", "groups", "-n", "3", "-g", "1", "--json");
    json_t *all = tools_json();
    is_int((long long)number(all, "ranks"), 3, "JSON: ranks");
    is_int((long long)number(all, "group_size"), 1, "the size that was asked for");
    ok(number(all, "world_seconds") > 0 && number(all, "sub_groups_seconds") > 0, "time");
    ok(number(all, "world_store_operations") > 0, "store operations of the world");
    ok(number(all, "sub_groups_store_operations") > 0, "and of the sub-groups");
    ok(json_array_size(json_object_get(all, "world_rounds")) == 3 &&
           number(all, "first_world_seconds") > 0 &&
           json_object_get(all, "torch_world_seconds") == NULL,
       "all rounds, and the world before them");
    json_decref(all);
    TOOLS_RANKS(3, "muster-perf", "groups", "-g", "2");
    ok(tools_run.status == 1 && tools_count(tools_run.err, "does not divide the 3 ranks") == 1,
       "a size that does not divide");
}

static void gather(void)
{
    TOOLS_RANKS(2, "muster-perf", "gather_tokens", "-n", "2");
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "a gather of 2 ranks");
    has_str(tools_run.out, "of the payload", "wire against payload");
    ok(tools_width(tools_run.out) <= 80, "a table for a terminal");
    TOOLS_RANKS(3, "muster-perf", "gather", "-n", "1", "--json", "--ragged", "100x30,2x0",
                "--ragged", "1x1000");
    json_t *all = tools_json();
    is_int((long long)number(all, "lists"), 103, "JSON: lists");
    is_int((long long)number(all, "tokens"), 4000, "token ids");
    is_int((long long)number(all, "payload_bytes"), 4000 * 4 * 2, "payload");
    is_int((long long)number(all, "result_bytes"), (4000 + 104 + 4) * 8, "the result");
    ok(number(all, "wire_bytes") > number(all, "payload_bytes"), "and more on the wire");
    ok(number(all, "seconds") > 0, "time");
    json_decref(all);
    TOOLS_RANKS(2, "muster-perf", "gather", "-n", "1", "--json", "--tokens", PROMPTS);
    all = tools_json();
    is_int((long long)number(all, "tokens"), 77109, "the ids of a file");
    ok(number(all, "wire_bytes") <= 1.05 * number(all, "payload_bytes") + 16 * 1319,
       "little more than payload is sent for real prompts");
    json_decref(all);
    TOOLS_RANKS(2, "muster-perf", "gather", "--tokens", tools_path("nowhere"));
    ok(tools_run.status == 1 && tools_count(tools_run.err, "can't be read") == 1,
       "a file that is not there");
}

/* The results of a side; each has a time for each round. */
static int results_of(const json_t *all, const char *side, int rounds)
{
    int count = 0;
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(all, "results"), i, one)
    {
        const json_t *seconds = json_object_get(one, "seconds");
        bool good = json_array_size(seconds) == (size_t)rounds;
        for (size_t r = 0; good && r < json_array_size(seconds); r++)
            good = json_number_value(json_array_get(seconds, r)) > 0;
        good = good && number(one, "operations") > 0;
        count += good && strcmp(json_string_value(json_object_get(one, "side")), side) == 0;
    }
    return count;
}

static void store(void)
{
    TOOLS_ALONE("muster-perf", "store", "-n", "2", "--clients", "1,3", "--operations", "30");
    is_int(tools_run.status, 0, "store by 1 and 3 clients");
    is_str(tools_run.err,
           "muster-perf: measuring 1 client: warming up\n"
           "muster-perf: measuring 1 client: round 1 of 2\n"
           "muster-perf: measuring 1 client: round 2 of 2\n"
           "muster-perf: measuring 3 clients: warming up\n"
           "muster-perf: measuring 3 clients: round 1 of 2\n"
           "muster-perf: measuring 3 clients: round 2 of 2\n",
           "it says what it is at");
    has_str(tools_run.out, " check, wait of all, ms\n", "the columns are named as in the README");
    has_str(tools_run.out, "hash store, threads", "in the process");
    has_str(tools_run.out, "server: muster", "and over tcp");
    ok(tools_width(tools_run.out) <= 80, "a table for a terminal");
    TOOLS_ALONE("muster-perf", "store", "-n", "3", "--clients", "40,2", "--operations", "80",
                "--value-size", "0", "--json");
    json_t *all = tools_json();
    is_str(tools_run.err, "", "JSON: nothing beside it");
    is_int((long long)number(all, "rounds"), 3, "rounds");
    is_int(results_of(all, "hash", 3), 10, "five tasks for two numbers of threads");
    is_int(results_of(all, "muster", 3), 10, "and of clients over tcp");
    json_decref(all);
}

/* Nothing is measured, and one sentence says why. */
static void no_torch(const char *python, const char *words)
{
    TOOLS_ALONE("muster-perf", "store", "-n", "1", "--clients", "2", "--operations", "2", "--torch",
                python);
    ok(tools_run.status == 1 && tools_run.out[0] == '\0', "%s: it fails at once", python);
    is_int(tools_count(tools_run.err, "\n"), 1, "with one line");
    has_str(tools_run.err, words, "that says why");
}

static void no_torches(void)
{
    char words[300];
    const char *nowhere = tools_path("nowhere");
    snprintf(words, sizeof(words),
             "muster-perf: --torch '%s': it can't be run: No such file or directory\n", nowhere);
    no_torch(nowhere, words);
    no_torch("true", "muster-perf: --torch 'true': a process of the measurement gave no answer");
    /* -S leaves out where torch is installed. */
    const char *bare = tools_write("bare", "#!/bin/sh\nexec python3 -S -E \"$@\"\n");
    chmod(bare, 0700);
    if (system("python3 -S -E -c '' 2>/dev/null") != 0)
        skip(3, "there is no python3");
    else
        no_torch(bare, "': it has no torch: No module named 'torch'\n");
}

/* A Python with torch is needed: the distribution's. */
static void store_torch(void)
{
    TOOLS_ALONE("muster-perf", "store", "-n", "1", "--clients", "2", "--operations", "4", "--torch",
                "/usr/bin/python3", "--json", "--timeout", "10");
    json_t *all = tools_json();
    if (strstr(tools_run.err, "it has no torch: ") != NULL ||
        strstr(tools_run.err, "can't be run") != NULL)
        skip(1, "/usr/bin/python3 has no torch");
    else
        is_int(results_of(all, "torch", 1), 5, "torch beside muster");
    json_decref(all);
}

/* ---- Beside torch -------------------------------------------------------------------------- */

/* A program that answers as a rank of torch does. */
static const char *peer(const char *answer)
{
    char text[512];
    snprintf(text, sizeof(text),
             "#!/bin/sh\necho '12 0'\nread -r line\necho '2 0'\n"
             "while read -r line; do echo '%s'; done\n",
             answer);
    const char *path = tools_write("peer", text);
    chmod(path, 0700);
    return path;
}

static void peer_in_words(void)
{
    TOOLS_RANKS(2, "muster-perf", "groups", "-n", "2", "--peer", "torch", "--torch", peer("5 4"));
    has_str(tools_run.out, "  world                                             5000.00 ",
            "groups: what torch took");
    has_str(tools_run.out, "muster's share\n", "and muster's share of it");
    ok(tools_width(tools_run.out) <= 80, "a table for a terminal");
    TOOLS_RANKS(2, "muster-perf", "gather_tokens", "-n", "1", "--ragged", "3x5", "--peer", "torch",
                "--torch", peer("5 4"));
    has_str(tools_run.out, "  torch's time, padded               5000.000 ms", "a gather");
    has_str(tools_run.out, "  of that, between ranks             4000.000 ms",
            "and its calls alone");
    ok(tools_width(tools_run.out) <= 80, "a table for a terminal too");
    static const char *const words[][2] = {{"groups", "-n"}, {"gather_tokens", "--rounds"}};
    for (size_t i = 0; i < 2; i++) {
        TOOLS_RANKS(2, "muster-perf", words[i][0], words[i][1], "1", "--peer", "torch", "--torch",
                    peer("-1 0 it has no such thing"));
        ok(tools_run.status == 1 &&
               strstr(tools_run.err, "--peer torch: it has no such thing") != NULL,
           "%s: what a peer lacks ends it", words[i][0]);
        TOOLS_RANKS(2, "muster-perf", words[i][0], words[i][1], "1", "--peer", "torch", "--torch",
                    peer("!its lists differ"));
        ok(tools_run.status == 1 && strstr(tools_run.err, "--peer torch: its lists differ") != NULL,
           "%s: a peer that gives up does too", words[i][0]);
    }
}

/* Whether torch's part of the JSON is there: a median, and a time for each round. */
static bool has_torch(const json_t *all, const char *median, const char *rounds)
{
    return number(all, median) > 0 && json_array_size(json_object_get(all, rounds)) == 2;
}

/* The distribution's torch, where it is. Token lists with ids of -1 and without any are told apart
 * by it too, or it would say so. */
static void real_torch(void)
{
    if (system("/usr/bin/python3 -c 'import torch.distributed' 2>/dev/null") != 0) {
        skip(3, "/usr/bin/python3 has no torch");
        return;
    }
    TOOLS_RANKS(4, "muster-perf", "groups", "-n", "2", "--json", "--timeout", "60", "--peer",
                "torch", "--torch", "/usr/bin/python3");
    json_t *all = tools_json();
    ok(has_torch(all, "torch_world_seconds", "torch_world_rounds") &&
           has_torch(all, "torch_sub_groups_seconds", "torch_sub_groups_rounds") &&
           number(all, "torch_first_world_seconds") > 0,
       "groups beside torch");
    json_decref(all);
    const char *lists = tools_write("lists", "{\"prompt\":\"a\",\"token_ids\":[-1,5]}\n"
                                             "{\"prompt\":\"b\",\"token_ids\":[]}\n"
                                             "{\"prompt\":\"c\",\"token_ids\":[7,-1,-1]}\n");
    const char *files[] = {lists, PROMPTS};
    for (size_t i = 0; i < 2; i++) {
        TOOLS_RANKS(2, "muster-perf", "gather_tokens", "-n", "2", "--tokens", files[i], "--json",
                    "--timeout", "60", "--peer", "torch", "--torch", "/usr/bin/python3");
        all = tools_json();
        ok(has_torch(all, "torch_seconds", "torch_rounds") &&
               number(all, "torch_moving_seconds") > 0,
           "a gather of %s beside torch", i == 0 ? "odd lists" : "real prompts");
        json_decref(all);
    }
}

static void refused(const char *name, const char *words)
{
    ok(tools_run.status == 2 && strstr(tools_run.err, words) != NULL, "%s is refused", name);
}

static void command_line(void)
{
    tools_common("muster-perf");
    TOOLS_ALONE("muster-perf", NULL);
    refused("nothing", "nothing to measure");
    TOOLS_ALONE("muster-perf", "patience");
    refused("something else", "not 'patience'");
    TOOLS_ALONE("muster-perf", "--help");
    const char *overlap = strstr(tools_run.out, "\n\noverlap: "),
               *store = strstr(tools_run.out, "\n\nstore: "),
               *operation = strstr(tools_run.out, "\n\nOPERATION is ");
    ok(overlap != NULL && store > overlap && operation > store,
       "--help has a paragraph for each measurement, in the order of its usage");
    static const struct {
        const char *option, *value, *words;
    } wrong[] = {
        {"--clients", "0", "not '0'"},
        {"--clients", "1,,2", "not '1,,2'"},
        {"--clients", "-1", "not '-1'"},
        {"--clients", "10001", "not '10001'"},
        {"--clients", "1,", "not '1,'"},
        {"--operations", "0", "not '0'"},
        {"--value-size", "-1", "not '-1'"},
        {"--torch", "", "--torch takes"},
        {"--ragged", "1x1", "are for gather_tokens"},
        {"--group-size", "2", "is for groups"},
        {"--value-size", "8388609", "8388609'"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        TOOLS_ALONE("muster-perf", "store", wrong[i].option, wrong[i].value);
        refused(wrong[i].option, wrong[i].words);
    }
    TOOLS_ALONE("muster-perf", "gather_tokens", "--clients", "2");
    refused("clients for gather", "are for store");
    TOOLS_ALONE("muster-perf", "groups", "--ragged", "1x1");
    refused("lists for groups", "are for gather_tokens");
    TOOLS_ALONE("muster-perf", "gather_tokens", "-g", "2");
    refused("a size for gather", "is for groups");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "1x");
    refused("half a shape", "not '1x'");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "-1x2");
    refused("a negative shape", "not '-1x2'");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "1x1", "--tokens", "x");
    refused("two sources", "not both");
    TOOLS_ALONE("muster-perf", "gather_tokens", "--rounds", "0");
    refused("no round", "not '0'");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "2147483647x2147483647");
    ok(tools_run.status == 1 && strstr(tools_run.err, "not enough memory") != NULL,
       "more than memory holds");
}

int main(void)
{
    needs_gloo();
    plan(TOOLS_COMMON_POINTS + 10 + 10 + 24 + 10 + 9 + 1 + 10 + 3);
    command_line();
    groups();
    gather();
    store();
    no_torches();
    store_torch();
    peer_in_words();
    real_torch();
    tools_clean();
    return done();
}
