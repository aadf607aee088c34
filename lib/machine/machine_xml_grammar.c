/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The grammar of hwloc's XML, as tables.
 */
#include "config.h"

#include "machine/machine_xml_grammar.h"

#include <string.h>

#define DIGITS "0123456789"
#define HEX DIGITS "abcdef"

/* Groups of 32 CPUs in a set: more than any machine has. */
enum { MOST_GROUPS = 2048, GROUP_BITS = 32 };

/* What a value is made of, and how long it may be. */
typedef enum form {
    NUMBER,
    SIGNED,
    COUNT, /* of objects in a matrix, which hwloc multiplies without looking */
    SMALL,
    BRIDGE,
    PCI,
    RELEASE,
    SET,
    TEXT,
} form;

static const struct {
    const char *characters;
    size_t longest;
} forms[] = {
    [NUMBER] = {DIGITS, 20},     [SIGNED] = {DIGITS "-.", 40}, [COUNT] = {DIGITS, 4},
    [SMALL] = {DIGITS, 1},       [BRIDGE] = {"01-", 3},        [PCI] = {HEX " :.-[]", 40},
    [RELEASE] = {DIGITS ".", 8},
};

typedef struct attribute {
    const char *name;
    form form;
} attribute;

static const attribute of_topology[] = {{"version", RELEASE}, {NULL, TEXT}};
static const attribute of_object[] = {
    {"type", TEXT},
    {"os_index", NUMBER},
    {"gp_index", NUMBER},
    {"cpuset", SET},
    {"complete_cpuset", SET},
    {"allowed_cpuset", SET},
    {"online_cpuset", SET},
    {"nodeset", SET},
    {"complete_nodeset", SET},
    {"allowed_nodeset", SET},
    {"name", TEXT},
    {"subtype", TEXT},
    {"cache_size", NUMBER},
    {"cache_linesize", NUMBER},
    {"cache_associativity", SIGNED},
    {"cache_type", SMALL},
    {"local_memory", NUMBER},
    {"depth", NUMBER},
    {"kind", NUMBER},
    {"subkind", NUMBER},
    {"dont_merge", SMALL},
    {"pci_busid", PCI},
    {"pci_type", PCI},
    {"pci_link_speed", SIGNED},
    {"bridge_type", BRIDGE},
    {"bridge_pci", PCI},
    {"osdev_type", SMALL},
    {"os_level", SIGNED},
    {NULL, TEXT},
};
static const attribute of_info[] = {{"name", TEXT}, {"value", TEXT}, {NULL, TEXT}};
static const attribute of_page_type[] = {{"size", NUMBER}, {"count", NUMBER}, {NULL, TEXT}};
static const attribute of_userdata[] = {
    {"name", TEXT}, {"length", NUMBER}, {"encoding", TEXT}, {NULL, TEXT}};
static const attribute of_distances[] = {
    {"nbobjs", COUNT}, {"relative_depth", SIGNED}, {"latency_base", SIGNED}, {NULL, TEXT}};
static const attribute of_latency[] = {{"value", SIGNED}, {NULL, TEXT}};
static const attribute of_distances2[] = {{"type", TEXT}, {"nbobjs", COUNT},  {"kind", NUMBER},
                                          {"name", TEXT}, {"indexing", TEXT}, {NULL, TEXT}};
static const attribute of_values[] = {{"length", COUNT}, {NULL, TEXT}};
static const attribute of_support[] = {{"name", TEXT}, {"value", SMALL}, {NULL, TEXT}};
static const attribute of_memattr[] = {{"name", TEXT}, {"flags", NUMBER}, {NULL, TEXT}};
static const attribute of_memattr_value[] = {
    {"target_obj_gp_index", NUMBER},
    {"target_obj_type", TEXT},
    {"value", NUMBER},
    {"initiator_cpuset", SET},
    {"initiator_obj_gp_index", NUMBER},
    {"initiator_obj_type", TEXT},
    {NULL, TEXT},
};
static const attribute of_cpukind[] = {
    {"cpuset", SET}, {"forced_efficiency", SIGNED}, {NULL, TEXT}};

#define IN(parent) (1U << (parent))

static const struct {
    const char *name;
    unsigned parents;
    const attribute *attributes;
    const char *text; /* what may stand in it beside white space */
} elements[XML_ELEMENTS] = {
    [XML_TOPOLOGY] = {"topology", IN(XML_ELEMENTS), of_topology, ""},
    [XML_OBJECT] = {"object", IN(XML_TOPOLOGY) | IN(XML_OBJECT), of_object, ""},
    [XML_INFO] = {"info", IN(XML_OBJECT) | IN(XML_CPUKIND), of_info, ""},
    [XML_PAGE_TYPE] = {"page_type", IN(XML_OBJECT), of_page_type, ""},
    [XML_USERDATA] = {"userdata", IN(XML_OBJECT), of_userdata, NULL},
    [XML_DISTANCES] = {"distances", IN(XML_OBJECT), of_distances, ""},
    [XML_LATENCY] = {"latency", IN(XML_DISTANCES), of_latency, ""},
    [XML_DISTANCES2] = {"distances2", IN(XML_TOPOLOGY), of_distances2, ""},
    [XML_DISTANCES2HETERO] = {"distances2hetero", IN(XML_TOPOLOGY), of_distances2, ""},
    [XML_INDEXES] = {"indexes", IN(XML_DISTANCES2) | IN(XML_DISTANCES2HETERO), of_values,
                     DIGITS ":abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    [XML_U64VALUES] = {"u64values", IN(XML_DISTANCES2) | IN(XML_DISTANCES2HETERO), of_values,
                       DIGITS},
    [XML_SUPPORT] = {"support", IN(XML_TOPOLOGY), of_support, ""},
    [XML_MEMATTR] = {"memattr", IN(XML_TOPOLOGY), of_memattr, ""},
    [XML_MEMATTR_VALUE] = {"memattr_value", IN(XML_MEMATTR), of_memattr_value, ""},
    [XML_CPUKIND] = {"cpukind", IN(XML_TOPOLOGY), of_cpukind, ""},
};

bool xml_piece_is(xml_piece p, const char *text)
{
    return p.length == strlen(text) && strncmp(p.at, text, p.length) == 0;
}

bool xml_piece_is_one_of(xml_piece p, const char *const *texts)
{
    while (*texts != NULL && !xml_piece_is(p, *texts))
        texts++;
    return *texts != NULL;
}

bool xml_piece_has_only(xml_piece p, const char *characters)
{
    return p.length == 0 || strspn(p.at, characters) >= p.length;
}

xml_element xml_element_in(xml_piece name, xml_element parent)
{
    xml_element e = XML_TOPOLOGY;
    while (e < XML_ELEMENTS &&
           !(xml_piece_is(name, elements[e].name) && (elements[e].parents & IN(parent)) != 0))
        e++;
    return e;
}

const char *xml_element_name(xml_element element)
{
    return elements[element].name;
}

/* hwloc writes no other characters, and these of markup by their names. */
static bool text_is_known(xml_piece text)
{
    static const char *const names[] = {"&#10;", "&#13;", "&#9;",  "&quot;",
                                        "&lt;",  "&gt;",  "&amp;", NULL};
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= 127 || (c < ' ' && strchr("\t\n\r", c) == NULL))
            return false;
        const char *const *name = names;
        while (c == '&' && *name != NULL && strncmp(text.at + i, *name, strlen(*name)) != 0)
            name++;
        if (*name == NULL)
            return false;
    }
    return true;
}

bool xml_element_holds(xml_element element, xml_piece text)
{
    char allowed[80] = " \t\r\n";
    if (element < XML_ELEMENTS && elements[element].text == NULL)
        return text_is_known(text);
    if (element < XML_ELEMENTS)
        strcat(allowed, elements[element].text);
    return xml_piece_has_only(text, allowed);
}

/* "0x" and up to eight digits, or nothing, between commas; it does not begin with a comma, which
 * hwloc does not count. */
static bool set_is_known(xml_piece set)
{
    const char *at = set.at, *end = set.at + set.length;
    for (int groups = 1; groups <= MOST_GROUPS; groups++) {
        size_t length = strcspn(at, ",\"");
        xml_piece digits = {at + 2, length - 2};
        bool empty = length == 0 && groups > 1;
        if (!empty && (length < 3 || length > 10 || strncmp(at, "0x", 2) != 0 ||
                       !xml_piece_has_only(digits, HEX)))
            return false;
        if (at + length >= end)
            return !empty;
        at += length + 1;
    }
    return false;
}

/* Of a digit that has one bit. */
static int bit_of(char digit)
{
    const char *digits = "1248", *found = strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

long xml_set_only(xml_piece set)
{
    long only = -1, above = 0, in_group = 0;
    for (size_t i = set.length; i-- > 0 && only != -2;) {
        char c = set.at[i];
        if (c == ',') {
            above += GROUP_BITS;
            in_group = 0;
        } else if (c != 'x') {
            int bit = bit_of(c);
            if (c != '0')
                only = only == -1 && bit >= 0 ? above + in_group + bit : -2;
            in_group += 4;
        }
    }
    return only < 0 ? -1 : only;
}

static bool form_is_known(form wanted, xml_piece value)
{
    if (wanted == TEXT)
        return text_is_known(value);
    if (wanted == SET)
        return set_is_known(value);
    return value.length > 0 && value.length <= forms[wanted].longest &&
           xml_piece_has_only(value, forms[wanted].characters);
}

bool xml_attribute_is_known(xml_element element, xml_piece name, xml_piece value)
{
    const attribute *a = elements[element].attributes;
    while (a->name != NULL && !xml_piece_is(name, a->name))
        a++;
    return a->name != NULL && form_is_known(a->form, value);
}
