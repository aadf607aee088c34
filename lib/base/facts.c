/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts in words or in JSON.
 */
#include "config.h"

#include "base/facts.h"

#include <stdlib.h>

#include "base/error.h"

muster_status facts_begin(facts *f, bool json)
{
    *f = (facts){.json = json, .first = true};
    f->out = open_memstream(&f->text, &f->size);
    if (f->out == NULL)
        return error_no_memory(4096, "a description");
    if (json)
        fputc('{', f->out);
    return MUSTER_OK;
}

muster_status facts_end(facts *f, char **text)
{
    if (f->json)
        fputs("}\n", f->out);
    bool written = !ferror(f->out);
    if (fclose(f->out) != 0 || !written) {
        free(f->text);
        return error_no_memory(4096, "a description");
    }
    *text = f->text;
    return MUSTER_OK;
}

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
void facts_part(const facts *f, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        int size = utf8_size(at);
        if (size == 0)
            fputs(f->json ? "\\ufffd" : "?", f->out);
        else if (*at < ' ' || *at == 127)
            fprintf(f->out, f->json ? "\\u%04x" : "\\x%02x", *at);
        else if (f->json && (*at == '"' || *at == '\\'))
            fprintf(f->out, "\\%c", *at);
        else
            fwrite(at, 1, (size_t)size, f->out);
        at += size == 0 ? 1 : size;
    }
}

static void separate(facts *f)
{
    if (!f->first && f->json)
        fputc(',', f->out);
    f->first = false;
}

/* Names as JSON's readers like them: "world_size" for "world size". */
static void write_json_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name != '\0'; name++)
        fputc(*name == ' ' || *name == '-' ? '_' : *name, out);
    fputs("\":", out);
}

/* A fact in words begins with its name, and ends after any number of parts by facts_part. */
void facts_open(facts *f, const char *name)
{
    separate(f);
    if (!f->json) {
        fprintf(f->out, "  %-16s ", name);
        return;
    }
    write_json_name(f->out, name);
    fputc('"', f->out);
}

void facts_close(facts *f)
{
    fputc(f->json ? '"' : '\n', f->out);
}

void facts_text(facts *f, const char *name, const char *value)
{
    facts_open(f, name);
    facts_part(f, value);
    facts_close(f);
}

void facts_number(facts *f, const char *name, long long value)
{
    separate(f);
    if (!f->json) {
        fprintf(f->out, "  %-16s %lld\n", name, value);
        return;
    }
    write_json_name(f->out, name);
    fprintf(f->out, "%lld", value);
}

void facts_open_list(facts *f, const char *name, char bracket)
{
    separate(f);
    if (f->json && name != NULL)
        write_json_name(f->out, name);
    if (f->json)
        fputc(bracket, f->out);
    f->first = true;
}

void facts_close_list(facts *f, char bracket)
{
    if (f->json)
        fputc(bracket, f->out);
    f->first = false;
}
