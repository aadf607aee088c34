/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether hwloc's readers of XML survive a text. There are two, one of hwloc's own and one of
 * libxml2, which understand the same text differently where it is not as hwloc writes it, and both
 * believe what they read. So a text is taken only where it is as hwloc writes it: by the grammar,
 * and in what objects say of themselves.
 */
#include "config.h"

#include "machine/machine_xml.h"

#include <stdlib.h>
#include <string.h>

#include "machine/machine_xml_grammar.h"

/* Elements within each other, for each of which hwloc's own reader calls itself; attributes of a
 * tag, each of which is compared with the others here. Both are more than any machine has. */
enum { DEEPEST = 200, MOST_ATTRIBUTES = 64 };

/* What has been seen of the text so far. */
typedef struct survey {
    xml_element within[DEEPEST + 1]; /* the first is outside of all */
    int depth;
    bool has_topology;
    bool has_root;
    bool has_cpus;
    bool has_nodes;
    const char *why; /* it is not safe */
} survey;

static const char blanks[] = " \t\n";

/* Takes the next attribute off the tag, which has some left. */
static bool take_attribute(xml_piece *tag, xml_piece *name, xml_piece *value)
{
    const char *at = tag->at + strspn(tag->at, blanks), *end = tag->at + tag->length;
    *name = (xml_piece){at, strspn(at, "abcdefghijklmnopqrstuvwxyz_")};
    const char *equals = at + name->length;
    if (name->length == 0 || equals + 1 >= end || equals[0] != '=' || equals[1] != '"')
        return false;
    const char *close = memchr(equals + 2, '"', (size_t)(end - (equals + 2)));
    if (close == NULL)
        return false;
    *value = (xml_piece){equals + 2, (size_t)(close - (equals + 2))};
    tag->at = close + 1;
    tag->length = (size_t)(end - tag->at);
    return true;
}

static bool has_more(xml_piece tag)
{
    return tag.length > 0 && strspn(tag.at, blanks) < tag.length;
}

/* The value of an attribute in a tag; none where it has no such attribute. */
static bool find_attribute(xml_piece tag, const char *wanted, xml_piece *value)
{
    xml_piece name;
    while (has_more(tag) && take_attribute(&tag, &name, value))
        if (xml_piece_is(name, wanted))
            return true;
    return false;
}

/* The same for one that is a number. */
static long find_number(xml_piece tag, const char *wanted)
{
    xml_piece value;
    return find_attribute(tag, wanted, &value) ? strtol(value.at, NULL, 10) : -1;
}

/* All of a tag is attributes, each there once and one that hwloc writes. */
static bool attributes_are_safe(xml_element element, xml_piece tag, survey *all)
{
    xml_piece name, value;
    int count = 0;
    for (xml_piece rest = tag; has_more(rest);) {
        all->why = "a tag in it is not as hwloc writes it";
        if (++count > MOST_ATTRIBUTES || !take_attribute(&rest, &name, &value))
            return false;
        xml_piece others = rest, other, unused;
        while (has_more(others) && take_attribute(&others, &other, &unused))
            if (other.length == name.length && strncmp(other.at, name.at, name.length) == 0)
                return false;
        all->why = "an attribute in it is not as hwloc writes it";
        if (!xml_attribute_is_known(element, name, value))
            return false;
    }
    return true;
}

/* How many of its sets of CPUs and nodes an object has that are not empty texts. */
static int count_sets(xml_piece tag)
{
    static const char *const names[] = {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset"};
    int count = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        xml_piece set;
        count += find_attribute(tag, names[i], &set) ? 1 : 0;
    }
    return count;
}

/* A hardware thread is one CPU, and a node one node, of the number that the object has. */
static bool number_is_safe(xml_piece type, xml_piece tag)
{
    xml_piece set;
    bool pu = xml_piece_is(type, "PU");
    if (!pu && !xml_piece_is(type, "NUMANode"))
        return true;
    return find_attribute(tag, pu ? "cpuset" : "nodeset", &set) && xml_set_only(set) >= 0 &&
           xml_set_only(set) == find_number(tag, "os_index");
}

/* hwloc 1 wrote caches without saying in their type which ones they are. */
static bool cache_is_safe(xml_piece type, xml_piece tag)
{
    long depth = find_number(tag, "depth"), kind = find_number(tag, "cache_type");
    return !xml_piece_is(type, "Cache") ||
           (depth >= 1 && kind >= 0 && kind <= 2 && depth <= (kind == 2 ? 3 : 5));
}

/* Devices and what users add have no CPUs of their own, or say all of them; all else does. */
static bool sets_are_safe(xml_piece type, xml_piece tag)
{
    static const char *const without[] = {"Bridge", "PCIDev", "OSDev", "Misc", NULL};
    int sets = count_sets(tag);
    return sets == 4 || (sets == 0 && xml_piece_is_one_of(type, without));
}

/* The machine comes first, and its type before what hwloc understands by the type. */
static bool object_is_safe(xml_piece tag, survey *all)
{
    static const char *const types[] = {
        "Machine",  "System",   "Package",  "Socket",  "Die",     "Group",   "Core",     "PU",
        "Cache",    "L1Cache",  "L2Cache",  "L3Cache", "L4Cache", "L5Cache", "MemCache", "NUMANode",
        "L1iCache", "L2iCache", "L3iCache", "Bridge",  "PCIDev",  "OSDev",   "Misc",     NULL};
    static const char *const roots[] = {"Machine", "System", NULL};
    xml_piece rest = tag, name, type;
    all->why = "an object in it has no type";
    if (!has_more(rest) || !take_attribute(&rest, &name, &type) || !xml_piece_is(name, "type") ||
        !xml_piece_is_one_of(type, types))
        return false;
    all->why = "its first object is no machine, or a machine is in another one";
    if (all->has_root == xml_piece_is_one_of(type, roots))
        return false;
    all->has_root = true;
    all->why = "an object in it doesn't say which CPUs it has";
    if (!sets_are_safe(type, tag))
        return false;
    all->why = "a CPU or a node in it is several, or another one than it says";
    if (!number_is_safe(type, tag))
        return false;
    all->why = "a cache in it is of no level";
    all->has_cpus = all->has_cpus || xml_piece_is(type, "PU");
    all->has_nodes = all->has_nodes || xml_piece_is(type, "NUMANode");
    return cache_is_safe(type, tag);
}

/* Takes an opening tag, or one that is closed at once; *at is behind its "<". */
static bool opening_is_safe(const char **at, survey *all)
{
    xml_piece name = {*at, strcspn(*at, " \t\r\n/>")};
    xml_piece tag = {*at + name.length, strcspn(*at + name.length, ">")};
    xml_element within = all->within[all->depth], element = xml_element_in(name, within);
    all->why = "an element in it is none of hwloc's, or in the wrong place";
    if (element == XML_ELEMENTS || tag.at[tag.length] != '>' ||
        (element == XML_TOPOLOGY && all->has_topology))
        return false;
    all->has_topology = true;
    *at = tag.at + tag.length + 1;
    bool closed = tag.length > 0 && tag.at[tag.length - 1] == '/';
    tag.length -= closed ? 1 : 0;
    all->why = "it has elements in elements in elements";
    if (!closed && all->depth == DEEPEST)
        return false;
    if (!closed)
        all->within[++all->depth] = element;
    if (!attributes_are_safe(element, tag, all))
        return false;
    if (element != XML_OBJECT)
        return true;
    bool another = within == XML_TOPOLOGY && all->has_root;
    all->why = "it has several machines";
    return !another && object_is_safe(tag, all);
}

/* *at is behind its "</". */
static bool closing_is_safe(const char **at, survey *all)
{
    xml_piece name = {*at, strcspn(*at, ">")};
    all->why = "an element in it ends before it begins";
    if (all->depth == 0 || !xml_piece_is(name, xml_element_name(all->within[all->depth])) ||
        name.at[name.length] != '>')
        return false;
    *at = name.at + name.length + 1;
    all->depth--;
    return true;
}

/* A declaration of XML and one of hwloc's type of documents may stand before the topology. What is
 * read as another encoding may be other tags, and a type may declare what no tag shows. */
static bool head_is_safe(const char **at, survey *all)
{
    static const char *const heads[] = {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<?xml version=\"1.0\"?>",
        "<!DOCTYPE topology SYSTEM \"hwloc.dtd\">", "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        size_t length = strlen(heads[i]);
        *at += strspn(*at, " \t\r\n");
        if (strncmp(*at, heads[i], length) == 0)
            *at += length;
    }
    all->why = "it begins with what hwloc doesn't write";
    return strncmp(*at, "<?", 2) != 0 && strncmp(*at, "<!", 2) != 0;
}

static bool elements_are_safe(const char *at, survey *all)
{
    bool safe = true;
    while (safe && *at != '\0') {
        xml_piece text = {at, strcspn(at, "<")};
        all->why = "there is text where hwloc writes none";
        safe = xml_element_holds(all->within[all->depth], text);
        at += text.length;
        if (!safe || *at == '\0')
            break;
        bool closing = *++at == '/';
        at += closing ? 1 : 0;
        safe = closing ? closing_is_safe(&at, all) : opening_is_safe(&at, all);
    }
    return safe;
}

bool machine_xml_is_safe(const char *xml, const char **why)
{
    survey all = {.within = {XML_ELEMENTS}};
    bool safe = head_is_safe(&xml, &all) && elements_are_safe(xml, &all);
    if (safe) {
        all.why = "its end is missing";
        safe = all.depth == 0 && all.has_topology;
    }
    if (safe) {
        all.why = "there is no CPU in it, or no memory";
        safe = all.has_cpus && all.has_nodes;
    }
    *why = all.why;
    return safe;
}
