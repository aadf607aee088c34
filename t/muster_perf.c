/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf from the outside: that it counts what it should; how fast anything is, is no test.
 */
#include "config.h"

#include "tools.h"

#include <string.h>

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
    is_int((long long)json_array_size(json_object_get(all, "world_rounds")), 3, "all rounds");
    json_decref(all);
    TOOLS_RANKS(3, "muster-perf", "groups", "-g", "2");
    ok(tools_run.status == 1 && tools_count(tools_run.err, "does not divide the 3 ranks") == 1,
       "a size that does not divide");
}

static void gather(void)
{
    TOOLS_RANKS(2, "muster-perf", "gather", "-n", "2");
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
    TOOLS_ALONE("muster-perf", "groups", "--ragged", "1x1");
    refused("lists for groups", "are for gather");
    TOOLS_ALONE("muster-perf", "gather", "-g", "2");
    refused("a size for gather", "is for groups");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "1x");
    refused("half a shape", "not '1x'");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "-1x2");
    refused("a negative shape", "not '-1x2'");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "1x1", "--tokens", "x");
    refused("two sources", "not both");
    TOOLS_ALONE("muster-perf", "gather", "--rounds", "0");
    refused("no round", "not '0'");
    TOOLS_ALONE("muster-perf", "gather", "--ragged", "2147483647x2147483647");
    ok(tools_run.status == 1 && strstr(tools_run.err, "not enough memory") != NULL,
       "more than memory holds");
}

int main(void)
{
    needs_gloo();
    plan(TOOLS_COMMON_POINTS + 9 + 10 + 12);
    command_line();
    groups();
    gather();
    tools_clean();
    return done();
}
