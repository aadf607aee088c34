/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was found, as JSON.
 */
#include "config.h"

#include "info.h"
#include "json_words.h"

#include <stdio.h>
#include <stdlib.h>

json_t *json_words(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *words = json_string(text);
    if (words != NULL)
        return words;
    char plain[1024];
    size_t size = 0;
    for (; text[size] != '\0' && size + 1 < sizeof(plain); size++)
        plain[size] = (unsigned char)text[size] < 0x80 ? text[size] : '?';
    plain[size] = '\0';
    return json_string(plain);
}

static json_t *json_backend(const muster_backend_report *backend)
{
    return json_pack("{s:o, s:b, s:o, s:o, s:o}", "name", json_words(backend->name), "available",
                     backend->available, "version", json_words(backend->version), "file",
                     json_words(backend->file), "reason", json_words(backend->reason));
}

static json_t *json_option(const muster_option_report *option)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "name", option->name, "type",
                     option->type, "default", option->default_value, "since", option->since,
                     "until", option->until, "aliases", option->aliases, "help", option->help,
                     "usable", option->usable);
}

static json_t *json_job(const info_job *job)
{
    if (job->world == NULL)
        return json_null();
    return json_pack("{s:i, s:s, s:o, s:o}", "rank", job->rank, "backend",
                     muster_group_backend(job->world), "why", json_words(job->why), "ranks",
                     info_json_ranks(job->ranks, job->num_ranks));
}

bool info_print_json(const info *found)
{
    json_t *backends = json_array(), *options = json_array(), *environment = json_object();
    bool good = true;
    for (size_t i = 0; i < found->num_backends; i++)
        good &= json_array_append_new(backends, json_backend(&found->backends[i])) == 0;
    for (size_t i = 0; i < found->num_options; i++)
        good &= json_array_append_new(options, json_option(&found->options[i])) == 0;
    for (int i = 0; i < INFO_NUM_VARIABLES; i++)
        good &= json_object_set_new(environment, found->variables[i].name,
                                    json_words(found->variables[i].value)) == 0;
    json_t *all =
        json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version",
                  muster_version(), "backend_abi", atoi(BACKEND_ABI), "plugin_folder", BACKENDSDIR,
                  "backend_path", json_words(found->backend_path), "environment", environment,
                  "machine", json_loads(found->machine_json, 0, NULL), "launcher",
                  json_loads(found->started_json, 0, NULL), "backends", backends, "options",
                  options, "plan", found->plan == NULL ? json_null() : info_json_plan(found->plan),
                  "job", json_job(&found->job), "job_problem", json_words(found->job.problem));
    good = good && all != NULL && json_dumpf(all, stdout, JSON_INDENT(2)) == 0;
    if (good)
        putchar('\n');
    json_decref(all);
    return good;
}
