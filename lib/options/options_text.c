/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options written as text: "gloo.iface=^lo,docker,gloo.hostname=10.0.0.1".
 */
#include <stdlib.h>
#include <string.h>

#include "options/options.h"

/* One "name=value" of a text, in a copy of it that may be written to. */
typedef struct options_part {
    char *name;
    char *value;
} options_part;

static bool options_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Cuts the spaces off both ends of [begin, end) and puts an end to it. */
static char *options_trim(char *begin, char *end)
{
    while (begin < end && options_is_space(*begin))
        begin++;
    while (end > begin && options_is_space(end[-1]))
        end--;
    *end = '\0';
    return begin;
}

/* Whether the part at part goes on with the value before: it has no '=', or begins with one, since
 * an option can't have an empty name ("gloo.iface==eth0,=eth1"). An empty part is no part. */
static bool options_continues(const char *part)
{
    part += strspn(part, " \t\r\n");
    size_t name = strcspn(part, ",=");
    return name == 0 ? *part == '=' : part[name] != '=';
}

/* The end of a bare value that begins at value: the comma before the next name, or the end. */
static char *options_bare_end(char *value)
{
    char *end = value + strcspn(value, ",");
    while (*end == ',' && options_continues(end + 1))
        end += 1 + strcspn(end + 1, ",");
    return end;
}

/* Takes a value in quotes; *rest is what stands behind it, its comma included. */
static muster_status options_take_quoted(char *value, options_part *part, char **rest,
                                         const char *what)
{
    char *end = strchr(value + 1, '"');
    if (end == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%sthe quotes of '%s' are not closed in '%s'", what,
                         part->name, value);
    *rest = end + 1 + strspn(end + 1, " \t\r\n");
    if (**rest != '\0' && (**rest != ',' || options_continues(*rest + 1)))
        return error_set(
            MUSTER_ERR_ARGUMENT,
            "%s'%s' stands behind the quotes of '%s'; put all of the value inside them", what,
            *rest, part->name);
    *end = '\0';
    part->value = value + 1;
    return MUSTER_OK;
}

/* Takes the part at *at, which is neither empty nor begins with a comma, and goes behind it. */
static muster_status options_take_part(char **at, options_part *part, const char *what)
{
    char *equals = *at + strcspn(*at, ",=");
    if (*equals != '=' || equals == *at)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s'%s' does not begin with a name and '='; write backend.option=value",
                         what, *at);
    part->name = options_trim(*at, equals);
    char *value = equals + 1 + strspn(equals + 1, " \t\r\n");
    char *rest = value;
    if (*value == '"') {
        muster_status status = options_take_quoted(value, part, &rest, what);
        if (status != MUSTER_OK)
            return status;
        *at = rest;
        return MUSTER_OK;
    }
    rest = options_bare_end(value);
    *at = rest + (*rest != '\0');
    part->value = options_trim(value, rest);
    return MUSTER_OK;
}

static muster_status options_put_part(muster_options *options, const options_part *part,
                                      options_strength strength, const char *source,
                                      const char *what)
{
    size_t length = strlen(part->name);
    bool optional = part->name[length - 1] == '?';
    if (optional)
        options_trim(part->name, part->name + length - 1);
    if (part->name[0] == '\0')
        return error_set(MUSTER_ERR_ARGUMENT, "%sthe name of the option set to '%s' is empty", what,
                         part->value);
    options_setting setting = {part->name, part->value, optional, strength, source};
    return options_put(options, &setting);
}

static muster_status options_put_parts(muster_options *options, char *text,
                                       options_strength strength, const char *source,
                                       const char *what)
{
    muster_status status = MUSTER_OK;
    for (char *at = text; status == MUSTER_OK;) {
        at += strspn(at, ", \t\r\n");
        if (*at == '\0')
            break;
        options_part part = {NULL, NULL};
        status = options_take_part(&at, &part, what);
        if (status == MUSTER_OK)
            status = options_put_part(options, &part, strength, source, what);
    }
    return status;
}

/* All or nothing: the text is read into settings of its own first. */
muster_status options_put_text(muster_options *options, const char *text, options_strength strength,
                               const char *source, const char *what)
{
    char *copy = strdup(text);
    if (copy == NULL)
        return error_no_memory(strlen(text) + 1, "options");
    muster_options *read;
    muster_status status = muster_options_new(&read);
    if (status == MUSTER_OK) {
        status = options_put_parts(read, copy, strength, source, what);
        if (status == MUSTER_OK)
            status = options_move(options, read);
        muster_options_free(read);
    }
    free(copy);
    return status;
}
