/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: options written as text, and their check against what backends declare.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "options/options.h"

static const muster_option gloo[] = {
    {.name = "gloo.iface", .type = MUSTER_OPTION_STRING, .aliases = "gloo.interface gloo.nic"},
    {.name = "gloo.threads", .type = MUSTER_OPTION_INTEGER, .default_value = "2"},
    {.name = "gloo.eager", .type = MUSTER_OPTION_BOOLEAN, .default_value = "yes"},
    {.name = NULL},
};
static const muster_option nccl[] = {
    {.name = "nccl.max_ctas", .type = MUSTER_OPTION_INTEGER, .since = "2.17"},
    {.name = "nccl.tree", .type = MUSTER_OPTION_STRING, .until = "2.6"},
    {.name = NULL},
};
static const options_table tables[] = {
    {"gloo", gloo, "", true, true},
    {"nccl", nccl, "2.10.3", true, true},
    {"ucx", NULL, "", false, false},
};

static void no_line(void *user, muster_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

/* What text says is the same when each of its settings is set by itself. */
static void set_one_by_one(const muster_options *parsed)
{
    muster_options *again;
    fuzz_hold(muster_options_new(&again) == MUSTER_OK, "there is memory");
    for (size_t i = 0; i < options_count(parsed); i++) {
        const options_setting *one = options_at(parsed, i);
        const char *value = NULL;
        fuzz_hold(one->name[0] != '\0', "no name is empty");
        if (one->name[strlen(one->name) - 1] == '?')
            continue; /* by itself it would be an optional one of another name */
        fuzz_hold(muster_options_set(again, one->name, one->value) == MUSTER_OK,
                  "what was read can be set");
        fuzz_hold(muster_options_get(again, one->name, &value) == MUSTER_OK &&
                      strcmp(value, one->value) == 0,
                  "a setting is what it was set to");
    }
    muster_options_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    muster_options *parsed, *collected = NULL;
    muster_set_log(no_line, NULL, MUSTER_LOG_WARNING);
    fuzz_hold(muster_options_new(&parsed) == MUSTER_OK, "there is memory");
    muster_status status = muster_options_parse(parsed, text);
    fuzz_hold(status == MUSTER_OK || options_count(parsed) == 0, "all or nothing is taken");
    if (status == MUSTER_OK)
        set_one_by_one(parsed);
    if (options_collect(NULL, parsed, text, &collected) == MUSTER_OK) {
        fuzz_hold(status == MUSTER_OK, "what is refused is refused in both places");
        if (options_check(collected, tables, sizeof(tables) / sizeof(*tables)) == MUSTER_OK) {
            const char *source, *threads = options_value(collected, gloo, "gloo.threads", &source);
            fuzz_hold(threads != NULL && strtoll(threads, NULL, 10) >= INT64_MIN,
                      "what was checked has a value");
        }
        muster_options_free(collected);
    }
    muster_options_free(parsed);
    free(text);
    return 0;
}
