/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether hwloc's readers of XML survive a text.
 */
#include "config.h"

#include "machine/machine_xml.h"

#include <string.h>

/* A piece of the text. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

static bool is(piece p, const char *text)
{
    return p.length == strlen(text) && strncmp(p.at, text, p.length) == 0;
}

/* The value of an attribute in a tag, which begins behind the element's name; none where it has no
 * such attribute. */
static bool find_attribute(piece tag, const char *name, piece *value)
{
    const char *at = tag.at, *end = tag.at + tag.length;
    while (at < end) {
        const char *equals = memchr(at, '=', (size_t)(end - at));
        if (equals == NULL || equals + 1 >= end || equals[1] != '"')
            return false;
        const char *begin = equals + 2, *close = memchr(begin, '"', (size_t)(end - begin));
        if (close == NULL)
            return false;
        at += strspn(at, " \t\r\n");
        if (is((piece){at, (size_t)(equals - at)}, name)) {
            *value = (piece){begin, (size_t)(close - begin)};
            return true;
        }
        at = close + 1;
    }
    return false;
}

/* Whether a tag has sets of CPUs and nodes, as far as its version of XML knows them. */
static bool has_sets(piece tag, const char *const *names)
{
    for (; *names != NULL; names++) {
        piece set;
        if (!find_attribute(tag, *names, &set) || set.length == 0 ||
            strspn(set.at, "0123456789abcdefx,") < set.length)
            return false;
    }
    return true;
}

/* Devices and what users add have no CPUs of their own; all else has. */
static bool object_is_safe(piece tag, const char *const *names, const char **why)
{
    static const char *const without[] = {"Bridge", "PCIDev", "OSDev", "Misc"};
    piece type;
    *why = "an object in it has no type";
    if (!find_attribute(tag, "type", &type))
        return false;
    for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++)
        if (is(type, without[i]))
            return true;
    *why = "an object in it doesn't say which CPUs it has";
    return has_sets(tag, names);
}

/* One declaration of a type at most, of hwloc's own and with nothing inside. */
static bool type_is_safe(const char *xml)
{
    static const char own[] = "<!DOCTYPE topology SYSTEM \"";
    const char *type = strstr(xml, "<!DOCTYPE");
    if (type == NULL)
        return true;
    size_t length = sizeof(own) - 1;
    return strncmp(type, own, length) == 0 && type[length + strcspn(type + length, "[>")] == '>' &&
           strstr(type + length, "<!DOCTYPE") == NULL;
}

bool machine_xml_is_safe(const char *xml, const char **why)
{
    static const char *const sets[] = {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset",
                                       NULL};
    *why = "it declares a document type of its own";
    if (!type_is_safe(xml))
        return false;
    for (const char *at = xml; (at = strstr(at, "<object")) != NULL;) {
        at += strlen("<object");
        if (!object_is_safe((piece){at, strcspn(at, ">")}, sets, why))
            return false;
    }
    return true;
}
