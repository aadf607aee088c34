/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_group_describe: what a group is and why, in words or in JSON, from one list of facts.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "group.h"

/* One way of writing facts down. */
typedef struct writer {
    FILE *out;
    bool json;
    bool first; /* in the present object or list */
} writer;

/* The bytes of the UTF-8 character that begins here; 0 where none does. */
static int utf8_size(const unsigned char *at)
{
    int size = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    if (*at > 0xf4 || (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    for (int i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

/* Names and reasons come from other ranks: they must neither break JSON nor move a cursor. */
static void write_escaped(const writer *w, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        int size = utf8_size(at);
        if (size == 0)
            fputs(w->json ? "\\ufffd" : "?", w->out);
        else if (*at < ' ' || *at == 127)
            fprintf(w->out, w->json ? "\\u%04x" : "\\x%02x", *at);
        else if (w->json && (*at == '"' || *at == '\\'))
            fprintf(w->out, "\\%c", *at);
        else
            fwrite(at, 1, (size_t)size, w->out);
        at += size == 0 ? 1 : size;
    }
}

static void separate(writer *w)
{
    if (!w->first && w->json)
        fputc(',', w->out);
    w->first = false;
}

/* Names as JSON's readers like them: "world_size" for "world size". */
static void write_json_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name != '\0'; name++)
        fputc(*name == ' ' || *name == '-' ? '_' : *name, out);
    fputs("\":", out);
}

/* A fact in words begins with its name, and ends after any number of parts by write_escaped. */
static void fact_begin(writer *w, const char *name)
{
    separate(w);
    if (!w->json) {
        fprintf(w->out, "  %-16s ", name);
        return;
    }
    write_json_name(w->out, name);
    fputc('"', w->out);
}

static void fact_end(writer *w)
{
    fputc(w->json ? '"' : '\n', w->out);
}

static void fact_text(writer *w, const char *name, const char *value)
{
    fact_begin(w, name);
    write_escaped(w, value);
    fact_end(w);
}

static void fact_number(writer *w, const char *name, long long value)
{
    separate(w);
    if (!w->json) {
        fprintf(w->out, "  %-16s %lld\n", name, value);
        return;
    }
    write_json_name(w->out, name);
    fprintf(w->out, "%lld", value);
}

static void open_list(writer *w, const char *name, char bracket)
{
    separate(w);
    if (w->json) {
        write_json_name(w->out, name);
        fputc(bracket, w->out);
    }
    w->first = true;
}

static void close_list(writer *w, char bracket)
{
    if (w->json)
        fputc(bracket, w->out);
    w->first = false;
}

static void write_rank(writer *w, const muster_group *group, int rank)
{
    const rank_record *record = &group->ranks.ranks[rank];
    if (!w->json) {
        char name[32];
        snprintf(name, sizeof(name), "rank %d", rank);
        fact_begin(w, name);
        write_escaped(w, record->host);
        fprintf(w->out, ", pid %lld, rank %d of the world%s", record->pid, group->to_world[rank],
                rank == group->rank ? " (this one)" : "");
        fact_end(w);
        return;
    }
    separate(w);
    fputc('{', w->out);
    w->first = true;
    fact_number(w, "rank", rank);
    fact_number(w, "world_rank", group->to_world[rank]);
    fact_text(w, "host", record->host);
    fact_number(w, "pid", record->pid);
    close_list(w, '}');
}

static void write_options(writer *w, const muster_group *group)
{
    open_list(w, "options", '{');
    for (size_t i = 0; i < options_count(group->options); i++) {
        const options_setting *set = options_at(group->options, i);
        fact_begin(w, set->name);
        write_escaped(w, set->value);
        write_escaped(w, " (");
        write_escaped(w, set->source);
        write_escaped(w, ")");
        fact_end(w);
    }
    close_list(w, '}');
}

/* Why not the other backends, as this rank has them. */
static void write_others(writer *w, const muster_group *group)
{
    const rank_record *self = &group->ranks.ranks[group->rank];
    open_list(w, "unavailable", '{');
    for (size_t i = 0; i < self->num_backends; i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", w->json ? "" : "not ", self->backends[i].name);
        if (*self->backends[i].reason != '\0')
            fact_text(w, name, self->backends[i].reason);
    }
    close_list(w, '}');
}

static void write_backend(writer *w, const muster_group *group)
{
    muster_comm *comm = group->comm;
    const muster_backend *ops = group->backend->ops;
    fact_text(w, "backend", group->backend->name);
    fact_text(w, "backend version", group->backend->info.version);
    fact_text(w, "backend file", group->backend->file);
    fact_text(w, "why", group->why);
    if (comm != NULL && ops->describe != NULL)
        fact_text(w, "transport", ops->describe(comm));
    if (group->address != NULL) {
        const rank_backend *has =
            rank_record_backend(&group->ranks.ranks[group->rank], group->backend->name);
        bool across = has != NULL && strcmp(has->address, group->address) == 0;
        fact_text(w, "address", group->address);
        fact_text(w, "interface", across ? has->interface : "lo");
        fact_text(w, "address chosen", group->address_why);
    }
}

static void write_facts(writer *w, muster_group *group)
{
    fact_text(w, "group", group->name);
    fact_number(w, "rank", group->rank);
    fact_number(w, "size", group->size);
    fact_number(w, "world size", group->world_size);
    fact_number(w, "hosts", roster_num_hosts(&group->ranks));
    write_backend(w, group);
    fact_number(w, "time-out ms", (long long)group->timeout_ms);
    fact_number(w, "set-up us", group->costs.nanoseconds / 1000);
    fact_number(w, "store operations", group->costs.store_operations);
    fact_number(w, "bytes sent", (long long)group->bytes_sent);
    fact_number(w, "bytes received", (long long)group->bytes_received);
    bool failed = muster_group_check(group) != MUSTER_OK;
    fact_text(w, "state", failed ? muster_last_error() : "working");
    write_options(w, group);
    write_others(w, group);
    open_list(w, "ranks", '[');
    for (int r = 0; r < group->size; r++)
        write_rank(w, group, r);
    close_list(w, ']');
}

muster_status muster_group_describe(muster_group *group, bool json, char **text)
{
    muster_status status = group_enter(group);
    if (status != MUSTER_OK)
        return error_prefix(status, "muster_group_describe: ");
    if (text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_group_describe: text is NULL");
    char *buffer = NULL;
    size_t size = 0;
    writer w = {open_memstream(&buffer, &size), json, true};
    if (w.out == NULL)
        return error_no_memory(4096, "a description");
    if (json)
        fputc('{', w.out);
    write_facts(&w, group);
    if (json)
        fputs("}\n", w.out);
    bool written = !ferror(w.out);
    if (fclose(w.out) != 0 || !written) {
        free(buffer);
        return error_no_memory(4096, "a description");
    }
    *text = buffer;
    return MUSTER_OK;
}
