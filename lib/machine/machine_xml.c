/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether hwloc's readers of XML survive a text. There are two, one of hwloc's own and one of
 * libxml2, which understand the same text differently where it is not as hwloc writes it. So a text
 * is taken only where it is, in all that matters to them.
 */
#include "config.h"

#include "machine/machine_xml.h"

#include <string.h>

/* Elements within each other, for each of which hwloc's own reader calls itself; digits of the
 * objects in a matrix of distances, which hwloc multiplies without looking; attributes of a tag,
 * each of which is compared with the others here. All are more than any machine has. */
enum { DEEPEST = 200, MOST_DIGITS = 4, MOST_ATTRIBUTES = 64 };

/* A piece of the text. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

static const char *const blanks = " \t\n";

static bool is(piece p, const char *text)
{
    return p.length == strlen(text) && strncmp(p.at, text, p.length) == 0;
}

static bool has_only(piece p, const char *characters)
{
    return p.length == 0 || strspn(p.at, characters) >= p.length;
}

static bool ends_with(piece p, const char *text)
{
    size_t length = strlen(text);
    return p.length >= length && strncmp(p.at + p.length - length, text, length) == 0;
}

/* Takes the next attribute off the tag, which has some left. */
static bool take_attribute(piece *tag, piece *name, piece *value)
{
    const char *at = tag->at + strspn(tag->at, blanks), *end = tag->at + tag->length;
    *name = (piece){at, strspn(at, "abcdefghijklmnopqrstuvwxyz_")};
    const char *equals = at + name->length;
    if (name->length == 0 || equals + 1 >= end || equals[0] != '=' || equals[1] != '"')
        return false;
    const char *close = memchr(equals + 2, '"', (size_t)(end - (equals + 2)));
    if (close == NULL)
        return false;
    *value = (piece){equals + 2, (size_t)(close - (equals + 2))};
    tag->at = close + 1;
    tag->length = (size_t)(end - tag->at);
    return true;
}

static bool has_more(piece tag)
{
    return tag.length > 0 && strspn(tag.at, blanks) < tag.length;
}

/* The value of an attribute in a tag; none where it has no such attribute. */
static bool find_attribute(piece tag, const char *wanted, piece *value)
{
    piece name;
    while (has_more(tag) && take_attribute(&tag, &name, value))
        if (is(name, wanted))
            return true;
    return false;
}

/* hwloc counts the commas behind the first character, and trusts that count. */
static bool set_is_safe(piece set)
{
    return set.length == 0 || (set.at[0] != ',' && has_only(set, "0123456789abcdefx,."));
}

static bool attribute_is_safe(piece name, piece value, const char **why)
{
    *why = "a set of CPUs or nodes in it is none";
    if (ends_with(name, "cpuset") || ends_with(name, "nodeset"))
        return set_is_safe(value);
    *why = "a matrix in it has too many objects";
    return !is(name, "nbobjs") || (value.length <= MOST_DIGITS && has_only(value, "0123456789"));
}

/* All of a tag is attributes, each there once. */
static bool attributes_are_safe(piece tag, const char **why)
{
    piece name, value;
    int count = 0;
    for (piece rest = tag; has_more(rest);) {
        *why = "a tag in it is not as hwloc writes it";
        if (++count > MOST_ATTRIBUTES || !take_attribute(&rest, &name, &value))
            return false;
        piece others = rest, other, unused;
        while (has_more(others) && take_attribute(&others, &other, &unused))
            if (other.length == name.length && strncmp(other.at, name.at, name.length) == 0)
                return false;
        if (!attribute_is_safe(name, value, why))
            return false;
    }
    return true;
}

/* Whether a tag has sets of CPUs and nodes, as far as its version of XML knows them. */
static bool has_sets(piece tag, const char *const *names)
{
    for (; *names != NULL; names++) {
        piece set;
        if (!find_attribute(tag, *names, &set) || set.length == 0)
            return false;
    }
    return true;
}

/* Devices and what users add have no CPUs of their own; all else has. */
static bool object_is_safe(piece tag, const char **why)
{
    static const char *const without[] = {"Bridge", "PCIDev", "OSDev", "Misc"};
    static const char *const sets[] = {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset",
                                       NULL};
    piece type;
    *why = "an object in it has no type";
    if (!find_attribute(tag, "type", &type))
        return false;
    for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++)
        if (is(type, without[i]))
            return true;
    *why = "an object in it doesn't say which CPUs it has";
    return has_sets(tag, sets);
}

/* at is behind the tag's "<". */
static bool tag_is_safe(const char *at, int *depth, const char **why)
{
    piece name = {at, strcspn(at, " \t\r\n/>")};
    piece tag = {at + name.length, strcspn(at + name.length, ">")};
    bool closed = ends_with(tag, "/");
    tag.length -= closed ? 1 : 0;
    *why = "it has elements in elements in elements";
    if (!closed && ++*depth > DEEPEST)
        return false;
    *why = "a tag in it is not as hwloc writes it";
    if (at[name.length] == '\0' || memchr(name.at, ':', name.length) != NULL)
        return false;
    return attributes_are_safe(tag, why) && (!is(name, "object") || object_is_safe(tag, why));
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

/* What is read as another encoding may be other tags. */
static bool encoding_is_safe(const char *xml)
{
    static const char own[] = "encoding=\"UTF-8\"";
    const char *end = strncmp(xml, "<?xml", 5) == 0 ? strstr(xml, "?>") : NULL;
    const char *said = strstr(xml, "encoding");
    return end == NULL || said == NULL || said > end || strncmp(said, own, sizeof(own) - 1) == 0;
}

bool machine_xml_is_safe(const char *xml, const char **why)
{
    int depth = 0;
    *why = "it declares a document type of its own";
    if (!type_is_safe(xml))
        return false;
    *why = "it is not in UTF-8";
    if (!encoding_is_safe(xml))
        return false;
    for (const char *at = xml; (at = strchr(at, '<')) != NULL;) {
        at++;
        if (*at == '/')
            depth--;
        else if (*at != '?' && *at != '!' && !tag_is_safe(at, &depth, why))
            return false;
    }
    return true;
}
