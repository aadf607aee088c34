/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is taken for hwloc's XML: a small machine as hwloc writes it, and the same text with one
 * piece of it changed, which is refused, with the reason.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "machine/machine_xml.h"
#include "machine/machine_xml_grammar.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SETS " cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "

static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";
static const char machine[] =
    "<topology version=\"2.0\">\n"
    "  <object type=\"Machine\" os_index=\"0\"" SETS "gp_index=\"1\">\n"
    "    <info name=\"Backend\" value=\"a &lt;b&gt; &amp;#10;\"/>\n"
    "    <object type=\"NUMANode\" os_index=\"0\"" SETS "gp_index=\"2\" local_memory=\"4096\">\n"
    "      <page_type size=\"4096\" count=\"1\"/>\n"
    "    </object>\n"
    "    <object type=\"L3Cache\"" SETS "depth=\"3\" cache_type=\"0\" gp_index=\"3\">\n"
    "      <object type=\"PU\" os_index=\"0\"" SETS "gp_index=\"4\"/>\n"
    "    </object>\n"
    "    <object type=\"PCIDev\" pci_busid=\"0000:3b:00.0\" gp_index=\"5\"\n"
    "      pci_type=\"0302 [10de:1db5] [10de:1249] a1\" pci_link_speed=\"15.75\"/>\n"
    "  </object>\n"
    "  <distances2 type=\"NUMANode\" nbobjs=\"1\" kind=\"5\" name=\"NUMALatency\" "
    "indexing=\"os\">\n"
    "    <indexes length=\"2\">0 </indexes>\n"
    "    <u64values length=\"3\">10 </u64values>\n"
    "  </distances2>\n"
    "  <support name=\"discovery.pu\"/>\n"
    "  <cpukind cpuset=\"0x1\" forced_efficiency=\"-1\"><info name=\"a\" value=\"\"/></cpukind>\n"
    "</topology>\n";

#define NO_TAG "a tag in it is not as hwloc writes it"
#define NO_ATTRIBUTE "an attribute in it is not as hwloc writes it"
#define NO_ELEMENT "an element in it is none of hwloc's, or in the wrong place"
#define NO_TEXT "there is text where hwloc writes none"
#define NO_NUMBER "a CPU or a node in it is several, or another one than it says"
#define NO_SETS "an object in it doesn't say which CPUs it has"
#define NO_TYPE "an object in it has no type"
#define NO_CACHE "a cache in it is of no level"

static const struct change {
    const char *from, *to, *why; /* NULL: it is taken */
} changes[] = {
    {"version=\"2.0\"", "", NULL},
    {"\n", "\r\n", NULL},
    {"0x1\" complete", "0x1,0x1\" complete", NULL}, /* the machine's */
    {"type=\"PU\"", "type = \"PU\"", NO_TAG},
    {"type=\"PU\"", "type='PU'", NO_TAG},
    {"type=\"PU\"", "type=\"PU", NO_TAG},
    {"os_index=\"0\"", "os_index=\"0\" os_index=\"0\"", NO_TAG},
    {"os_index=\"0\"", "os_index=\"-1\"", NO_ATTRIBUTE},
    {"os_index=\"0\"", "os_index=\"\"", NO_ATTRIBUTE},
    {"os_index=\"0\"", "memory_kB=\"0\"", NO_TAG},
    {"os_index=\"0\"", "memory=\"0\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\",0x1\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\"0x1,\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\"\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\"0x\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\"1\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\"0xf...f\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\"0x123456789\"", NO_ATTRIBUTE},
    {"cpuset=\"0x1\"", "cpuset=\"&#48;x1\"", NO_ATTRIBUTE},
    {"Backend",
     "Back\x01"
     "end",
     NO_ATTRIBUTE},
    {"Backend", "Back\xc3\xa4", NO_ATTRIBUTE},
    {"Backend", "&quot;&x;", NO_ATTRIBUTE},
    {"nbobjs=\"1\"", "nbobjs=\"65536\"", NO_ATTRIBUTE},
    {"cache_type=\"0\"", "cache_type=\"10\"", NO_ATTRIBUTE},
    {"0000:3b:00.0", "%s", NO_ATTRIBUTE},
    {"<support ", "<support><support ", NO_ELEMENT},
    {"<support ", "<x:support ", NO_ELEMENT},
    {"<support ", "<info ", NO_ELEMENT},
    {"<support ", "<topology ", NO_ELEMENT},
    {"<support ", "<!-- x --><support ", NO_ELEMENT},
    {"<support ", "<?x?><support ", NO_ELEMENT},
    {"<support ", "x<support ", NO_TEXT},
    {"10 </u64", "1&#48; </u64", NO_TEXT},
    {"10 </u64", "-1 </u64", NO_TEXT},
    {"</topology>\n", "</topology>\n<topology/>", NO_ELEMENT},
    {"</topology>\n", "</topology>\nx", NO_TEXT},
    {"</topology>\n", "", "its end is missing"},
    {"</topology>\n", "</topology>\n</topology>", "an element in it ends before it begins"},
    {"</topology>\n", "</topology", "an element in it ends before it begins"},
    {"</object>", "</objects>", "an element in it ends before it begins"},
    {"type=\"Machine\" os_index=\"0\"", "os_index=\"0\" type=\"Machine\"", NO_TYPE},
    {"type=\"PU\"", "", NO_TYPE},
    {"\"PU\"", "\"PUs\"", NO_TYPE},
    {"\"PU\"", "\"L9Cache\"", NO_TYPE},
    {"\"Machine\"", "\"Group\"", "its first object is no machine, or a machine is in another one"},
    {"\"L3Cache\"", "\"Machine\"",
     "its first object is no machine, or a machine is in another one"},
    {"  <support ", "<object type=\"Machine\"/><support ", "it has several machines"},
    {"complete_cpuset=\"0x1\"", "", NO_SETS},
    {"complete_nodeset=\"0x1\"", "", NO_SETS},
    {"<object type=\"PCIDev\"", "<object type=\"PCIDev\" cpuset=\"0x1\"", NO_SETS},
    {"type=\"PU\" os_index=\"0\"", "type=\"PU\" os_index=\"1\"", NO_NUMBER},
    {"type=\"PU\" os_index=\"0\"", "type=\"PU\"", NO_NUMBER},
    {"type=\"PU\" os_index=\"0\" cpuset=\"0x1\"", "type=\"PU\" os_index=\"0\" cpuset=\"0x3\"",
     NO_NUMBER},
    {"type=\"NUMANode\" os_index=\"0\"", "type=\"NUMANode\" os_index=\"1\"", NO_NUMBER},
    {"\"L3Cache\"", "\"Cache\"", NULL},
    {"\"L3Cache\" cpuset=\"0x1\"", "\"Cache\" os_level=\"-1\" cpuset=\"0x1\"", NULL},
    {"\"PU\"", "\"Core\"", "there is no CPU in it, or no memory"},
    {"\"NUMANode\"", "\"Group\"", "there is no CPU in it, or no memory"},
    {"<topology", "<!DOCTYPE topology [<!ENTITY x \"y\">]><topology",
     "it begins with what hwloc doesn't write"},
    {"<topology", "<?xml version=\"1.0\" encoding=\"UTF-7\"?><topology",
     "it begins with what hwloc doesn't write"},
    {"<topology", "<root", NO_ELEMENT},
};

/* The machine with the first such piece changed. */
static void change(const struct change *c, char *text, size_t size)
{
    const char *found = strstr(machine, c->from);
    if (found == NULL)
        bail_out("the machine has no '%s'", c->from);
    snprintf(text, size, "%.*s%s%s", (int)(found - machine), machine, c->to,
             found + strlen(c->from));
}

static void is_why(const char *text, const char *expected, const char *what)
{
    const char *why = NULL;
    bool safe = machine_xml_is_safe(text, &why);
    if (expected == NULL)
        ok(safe, "%s: it is taken%s%s", what, safe ? "" : ", and not refused since ",
           safe ? "" : why);
    else if (ok(!safe, "%s: it is refused", what))
        is_str(why, expected, "and why");
    else
        ok(false, "and why");
}

static void changed(void)
{
    for (size_t i = 0; i < COUNT(changes); i++) {
        char text[4096], what[160];
        snprintf(what, sizeof(what), "'%.60s' for '%.60s'", changes[i].to, changes[i].from);
        for (char *end = what; (end = strchr(end, '\n')) != NULL;)
            *end = ' ';
        change(&changes[i], text, sizeof(text));
        is_why(text, changes[i].why, what);
    }
}

static void heads(void)
{
    char text[4096];
    snprintf(text, sizeof(text), "%s%s", head, machine);
    is_why(text, NULL, "with both declarations");
    is_why(machine, NULL, "without them");
    is_why("", "its end is missing", "nothing");
}

/* A cache of hwloc 1 has a level that there is. */
static void caches(void)
{
    static const struct {
        int depth, type;
        bool fine;
    } cases[] = {{0, 0, false}, {1, 0, true},  {5, 1, true}, {6, 0, false},
                 {3, 2, true},  {4, 2, false}, {1, 3, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[4096], to[80];
        snprintf(to, sizeof(to), "depth=\"%d\" cache_type=\"%d\"", cases[i].depth, cases[i].type);
        struct change c = {"depth=\"3\" cache_type=\"0\"", to, NULL};
        change(&c, text, sizeof(text));
        char *type = strstr(text, "\"L3Cache\"");
        memcpy(type, "\"Cache\"  ", strlen("\"L3Cache\""));
        is_why(text, cases[i].fine ? NULL : NO_CACHE, to);
    }
}

static void only(void)
{
    static const struct {
        const char *set;
        long only;
    } cases[] = {{"0x1", 0},           {"0x00000080", 7}, {"0x80000000", 31}, {"0x4,0x0", 34},
                 {"0x1,,,0x0", 96},    {"0x0", -1},       {"0x3", -1},        {"0x1,0x1", -1},
                 {"0x00000001,,", 64}, {"0x11", -1},      {"0xf,0x0", -1}};
    for (size_t i = 0; i < COUNT(cases); i++)
        is_int(xml_set_only((xml_piece){cases[i].set, strlen(cases[i].set)}), cases[i].only, "%s",
               cases[i].set);
}

int main(void)
{
    int refused = 0;
    for (size_t i = 0; i < COUNT(changes); i++)
        refused += changes[i].why != NULL ? 1 : 0;
    plan((int)COUNT(changes) + refused + 4 + 7 + 4 + 11);
    changed();
    heads();
    caches();
    only();
    return done();
}
