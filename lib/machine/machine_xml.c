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

/* What has been seen of the text so far. */
typedef struct survey {
    int depth;
    bool has_root;
    bool has_cpus;
    const char *why; /* it is not safe */
} survey;

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

static bool attribute_is_safe(piece name, piece value, survey *all)
{
    all->why = "a set of CPUs or nodes in it is none";
    if (ends_with(name, "cpuset") || ends_with(name, "nodeset"))
        return set_is_safe(value);
    all->why = "a matrix in it has too many objects";
    return !is(name, "nbobjs") || (value.length <= MOST_DIGITS && has_only(value, "0123456789"));
}

/* All of a tag is attributes, each there once. */
static bool attributes_are_safe(piece tag, survey *all)
{
    piece name, value;
    int count = 0;
    for (piece rest = tag; has_more(rest);) {
        all->why = "a tag in it is not as hwloc writes it";
        if (++count > MOST_ATTRIBUTES || !take_attribute(&rest, &name, &value))
            return false;
        piece others = rest, other, unused;
        while (has_more(others) && take_attribute(&others, &other, &unused))
            if (other.length == name.length && strncmp(other.at, name.at, name.length) == 0)
                return false;
        if (!attribute_is_safe(name, value, all))
            return false;
    }
    return true;
}

/* Whether a tag has sets of CPUs and nodes, as far as its version of XML knows them. */
static bool has_sets(piece tag)
{
    static const char *const names[] = {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        piece set;
        if (!find_attribute(tag, names[i], &set) || set.length == 0)
            return false;
    }
    return true;
}

static bool is_one_of(piece type, const char *const *types)
{
    while (*types != NULL && !is(type, *types))
        types++;
    return *types != NULL;
}

/* The machine comes first. Devices and what users add have no CPUs of their own; all else has. */
static bool object_is_safe(piece tag, survey *all)
{
    static const char *const roots[] = {"Machine", "System", NULL};
    static const char *const without[] = {"Bridge", "PCIDev", "OSDev", "Misc", NULL};
    piece type, cpus;
    all->why = "an object in it has no type";
    if (!find_attribute(tag, "type", &type))
        return false;
    all->why = "its first object is no machine";
    if (!all->has_root && !is_one_of(type, roots))
        return false;
    all->has_root = true;
    all->why = "an object in it doesn't say which CPUs it has";
    if (is_one_of(type, without))
        return true;
    bool has_some = find_attribute(tag, "cpuset", &cpus) && !has_only(cpus, "0x,");
    all->has_cpus = all->has_cpus || (has_some && is(type, "PU"));
    return has_sets(tag);
}

/* at is behind the tag's "<". */
static bool tag_is_safe(const char *at, survey *all)
{
    piece name = {at, strcspn(at, " \t\r\n/>")};
    piece tag = {at + name.length, strcspn(at + name.length, ">")};
    bool closed = ends_with(tag, "/");
    tag.length -= closed ? 1 : 0;
    all->why = "it has elements in elements in elements";
    if (!closed && ++all->depth > DEEPEST)
        return false;
    all->why = "a tag in it is not as hwloc writes it";
    if (at[name.length] == '\0' || memchr(name.at, ':', name.length) != NULL)
        return false;
    return attributes_are_safe(tag, all) && (!is(name, "object") || object_is_safe(tag, all));
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

static bool tags_are_safe(const char *xml, survey *all)
{
    for (const char *at = xml; (at = strchr(at, '<')) != NULL;) {
        at++;
        if (*at == '/')
            all->depth--;
        else if (*at != '?' && *at != '!' && !tag_is_safe(at, all))
            return false;
    }
    all->why = "there is no CPU in it";
    return all->has_cpus;
}

bool machine_xml_is_safe(const char *xml, const char **why)
{
    survey all = {.why = "it declares a document type of its own"};
    bool safe = type_is_safe(xml);
    if (safe) {
        all.why = "it is not in UTF-8";
        safe = encoding_is_safe(xml) && tags_are_safe(xml, &all);
    }
    *why = all.why;
    return safe;
}
