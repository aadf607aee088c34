/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What rank 0 says in the end, in words or in JSON.
 */
#include "config.h"

#include "job.h"
#include "paragraph.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 14 };

/* What muster says of the world; NULL where it can't. */
static json_t *summary_facts(gather_job *job)
{
    char *text = NULL;
    if (muster_group_describe(job->world, true, &text) != MUSTER_OK) {
        job_refuse(job, "%s", muster_last_error());
        return NULL;
    }
    json_t *facts = json_loads(text, 0, NULL);
    muster_free(text);
    if (facts == NULL)
        job_refuse(job, "muster's description of the world is no JSON");
    return facts;
}

static const char *summary_text(const json_t *facts, const char *name)
{
    const char *text = json_string_value(json_object_get(facts, name));
    return text == NULL ? "" : text;
}

static long long summary_hosts(const json_t *facts)
{
    return json_integer_value(json_object_get(facts, "hosts"));
}

static const char *summary_s(long long count)
{
    return count == 1 ? "" : "s";
}

static void summary_words(const gather_job *job, const json_t *facts, FILE *out)
{
    const gather_options *options = job->options;
    int regular = muster_group_size(job->regular);
    int orthogonal = muster_group_size(job->orthogonal);
    long long hosts = summary_hosts(facts);
    fputs("muster-gather: every rank received what the file says\n", out);
    paragraph_print(out, INDENT, "ranks", "%d on %lld host%s", job->size, hosts, summary_s(hosts));
    paragraph_print(out, INDENT, "sub-groups", "%d regular of %d, %d orthogonal of %d", orthogonal,
                    regular, regular, orthogonal);
    bool shared = strncmp(summary_text(facts, "within_this_host"), "local", strlen("local")) == 0;
    paragraph_print(out, INDENT, "backend", "%s %s%s", muster_group_backend(job->world),
                    summary_text(facts, "backend_version"),
                    shared ? ", within a host by shared memory (local)" : "");
    paragraph_print(out, INDENT, "why", "%s", summary_text(facts, "why"));
    paragraph_print(out, INDENT, "prompts", "%zu", job->prompts.count);
    paragraph_print(out, INDENT, "tokens", "%zu", job->prompts.num_tokens);
    paragraph_print(out, INDENT, "bytes moved",
                    "%llu for token ids, %llu for prompts, by all ranks together",
                    (unsigned long long)job->token_bytes, (unsigned long long)job->object_bytes);
    paragraph_print(out, INDENT, "seconds", "%.4f groups, %.4f token ids, %.4f prompts",
                    job->group_seconds, job->token_seconds, job->object_seconds);
    if (options->output != NULL)
        paragraph_print(out, INDENT, "written to", "%s", options->output);
}

static bool summary_json(gather_job *job, const json_t *facts, FILE *out)
{
    json_t *summary = json_pack(
        "{s:i, s:I, s:i, s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:s?}",
        "ranks", job->size, "hosts", (json_int_t)summary_hosts(facts), "regular_size",
        muster_group_size(job->regular), "orthogonal_size", muster_group_size(job->orthogonal),
        "backend", muster_group_backend(job->world), "backend_version",
        summary_text(facts, "backend_version"), "why", summary_text(facts, "why"), "file",
        job->options->file, "prompts", (json_int_t)job->prompts.count, "tokens",
        (json_int_t)job->prompts.num_tokens, "token_bytes_moved", (json_int_t)job->token_bytes,
        "object_bytes_moved", (json_int_t)job->object_bytes, "group_seconds", job->group_seconds,
        "token_seconds", job->token_seconds, "object_seconds", job->object_seconds, "output",
        job->options->output);
    /* A file's name need not be UTF-8, JSON text must. */
    bool good = summary != NULL && json_dumpf(summary, out, JSON_INDENT(2)) == 0;
    if (good)
        fputc('\n', out);
    else
        job_refuse(job, "the summary can't be said in JSON: are the names of the files UTF-8?");
    json_decref(summary);
    return good;
}

static void summary_groups(const gather_job *job, FILE *out)
{
    muster_group *groups[] = {job->world, job->regular, job->orthogonal};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        char *text = NULL;
        if (muster_group_describe(groups[i], false, &text) != MUSTER_OK)
            continue;
        fprintf(out, "\n%s", text);
        muster_free(text);
    }
}

bool summary_print(gather_job *job)
{
    const gather_options *options = job->options;
    if (job->rank != 0 || options->quiet)
        return true;
    /* Prompts on the standard output are not mixed with words. */
    FILE *out = options->output != NULL && strcmp(options->output, "-") == 0 ? stderr : stdout;
    json_t *facts = summary_facts(job);
    if (facts == NULL)
        return false;
    bool good = true;
    if (options->job.json)
        good = summary_json(job, facts, out);
    else
        summary_words(job, facts, out);
    if (options->verbose)
        summary_groups(job, options->job.json ? stderr : out);
    json_decref(facts);
    return good;
}
