/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machines that are not as they should be: files that are broken, cut, too large or not there,
 * machines without devices, with one NUMA node, with thousands of CPUs, and containers.
 */
#include "config.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/machine.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#ifdef __SANITIZE_ADDRESS__
/* hwloc does not free all of a topology that it refuses half way. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhwloc.so\n";
}
#endif

static char *read_file(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.xml", TOPOLOGIES, name);
    FILE *from = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (from == NULL || text == NULL)
        bail_out("can't read %s", path);
    *size = fread(text, 1, (1 << 20) - 1, from);
    fclose(from);
    return text;
}

static machine *load_text(const char *xml, size_t size, const char *what)
{
    machine *m = NULL;
    muster_status status = machine_load_text(xml, size, &m);
    if (!ok(status == MUSTER_OK && m != NULL, "%s is loaded", what))
        bail_out("%s", muster_last_error());
    return m;
}

static const char *const no_topologies[] = {
    "x",
    "<",
    "<topology>",
    "<topology></topology>",
    "<topology version=\"2.0\"></topology>",
    "<topology version=\"2.0\"><object type=\"Machine\"/></topology>",
    "<?xml version=\"1.0\"?><html><body/></html>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
    "<topology version=\"9.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\"/></topology>",
    "<!DOCTYPE a [<!ENTITY x \"xxxxxxxxxx\"><!ENTITY y \"&x;&x;&x;\">]><topology>&y;</topology>",
    "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><topology>&x;</topology>",
    "<topology><object\ntype=\"Machine\"></topology>",
    "<topology><object></topology>",
    "<topology><object type=\"PU\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"x y\" "
    "complete_nodeset=\"0x1\"/></topology>",
    "<topology><object type=PU cpuset=0x1/></topology>",
    "<topology><object type=\"PU",
    "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\" [<!ENTITY x \"y\">]><topology/>",
    "\xff\xfe\x00\x01",
    /* What only one of hwloc's two readers survives, or neither. */
    "<topology version=\"2.0\"><object type=\"PU\" cpuset=\",0x1\" complete_cpuset=\"0x1\" "
    "nodeset=\"0x1\" complete_nodeset=\"0x1\"/></topology>",
    "<topology version=\"2.0\"><object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" "
    "complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"1\"/></topology>",
    "<topology version=\"2.0\"><cpukind cpuset=\",,0x1\"/></topology>",
    "<topology version=\"2.0\"><cpukind cpuset=\"&#44;0x1\"/></topology>",
    "<topology version=\"2.0\"><cpukind cpuset = \"0x1\"/></topology>",
    "<topology version=\"2.0\"><cpukind cpuset='0x1'/></topology>",
    "<topology version=\"2.0\"><cpukind a=\"1\" a=\"1\"/></topology>",
    "<topology version=\"2.0\"><distances2 nbobjs=\"65536\"/></topology>",
    "<topology version=\"2.0\"><distances2 nbobjs=\"-1\"/></topology>",
    "<topology version=\"2.0\"><x:object type=\"PU\"/></topology>",
    "<?xml version=\"1.0\" encoding=\"UTF-7\"?><topology>+ADw-object/+AD4-</topology>",
    "<topology version=\"2.0\"><object",
};

/* Elements in elements, so many that a reader which calls itself for each has no stack left; and a
 * tag with so many attributes that comparing each with the others takes for ever. */
static void endless(void)
{
    enum { MANY = 200000 };
    for (int attributes = 0; attributes < 2; attributes++) {
        machine *m = NULL;
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        fputs(attributes ? "<topology" : "", out);
        for (int i = 0; i < MANY; i++)
            fprintf(out, attributes ? " %c%c%c%c=\"1\"" : "<a>", 'a' + i % 26, 'a' + i / 26 % 26,
                    'a' + i / 676 % 26, 'a' + i / 17576);
        fputs("/>", out);
        fclose(out);
        is_int(machine_load_text(text, size, &m), MUSTER_ERR_ARGUMENT, "%d %s are refused", MANY,
               attributes ? "attributes" : "elements in each other");
        free(text);
    }
}

static void broken(void)
{
    for (size_t i = 0; i < COUNT(no_topologies); i++) {
        machine *m = NULL;
        is_int(machine_load_text(no_topologies[i], strlen(no_topologies[i]), &m),
               MUSTER_ERR_ARGUMENT, "no topology, %zu", i);
        ok(m == NULL, "and no machine");
        has_str(muster_last_error(), "the text is no topology", "says so");
    }
    machine *m = NULL;
    is_int(machine_load_text("", 0, &m), MUSTER_ERR_ARGUMENT, "nothing at all");
    has_str(muster_last_error(), "has 0 bytes", "says so");
    is_int(machine_load_text("<topology", (size_t)64 << 20, &m), MUSTER_ERR_ARGUMENT, "too much");
    has_str(muster_last_error(), "has 67108864 bytes", "says so, and doesn't look at it");
    is_int(machine_load_text(NULL, 1, &m), MUSTER_ERR_ARGUMENT, "NULL");
    is_int(machine_load_text("x", 1, NULL), MUSTER_ERR_ARGUMENT, "no place");
    is_int(machine_load_file(NULL, &m), MUSTER_ERR_ARGUMENT, "no path");
    is_int(machine_load_file("x", NULL), MUSTER_ERR_ARGUMENT, "no place for a file's");
    is_int(machine_load(NULL), MUSTER_ERR_ARGUMENT, "no place for this machine");
    machine_free(NULL);
}

/* Wherever a file is cut it is refused: it ends with the end of its outermost element. */
static void cut(void)
{
    static const char *const files[] = {"mpibind-g4dnmetal", "mpibind-coral-lassen-hwloc1"};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t size, refused = 0, tried = 0;
        char *text = read_file(files[i], &size);
        char *end = strstr(text, "</topology>");
        for (size_t at = 1; at < (size_t)(end - text) + 5; at += size / 31, tried++) {
            machine *m = NULL;
            refused += machine_load_text(text, at, &m) == MUSTER_ERR_ARGUMENT && m == NULL ? 1 : 0;
            machine_free(m);
        }
        is_int((long long)refused, (long long)tried, "%s cut short is refused", files[i]);
        free(text);
    }
}

/* Bytes that are changed at random are an error or a machine that makes sense, and no crash. */
static void scrambled(void)
{
    size_t size;
    char *text = read_file("hwloc-power8gpudistances", &size);
    char *copy = malloc(size);
    unsigned seed = 5;
    int fine = 0, errors = 0;
    for (int round = 0; round < 60; round++) {
        machine *m = NULL;
        memcpy(copy, text, size);
        for (int i = 0; i <= round % 3; i++) {
            seed = seed * 1103515245 + 12345;
            size_t at = (seed >> 3) % size;
            copy[at] = "0f<>\"x9 "[seed >> 29];
        }
        muster_status status = machine_load_text(copy, size, &m);
        if (status != MUSTER_OK)
            errors++;
        else if (!cpu_set_is_empty(&m->allowed) && cpu_set_is_subset(&m->binding, &m->allowed))
            fine++;
        machine_free(m);
    }
    ok(fine + errors == 60 && errors > 0 && fine > 0, "%d scrambled files are refused, %d are not",
       errors, fine);
    free(copy);
    free(text);
}

/* A machine of hwloc's own making, as XML; restricted to the CPUs of the list where it is not NULL,
 * or where disallowed is true with the others seen but not allowed. */
static char *synthetic(const char *description, const char *cpus, bool disallowed, int *size)
{
    hwloc_topology_t topology;
    char *xml = NULL, *copy = NULL;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (cpus != NULL)
        hwloc_bitmap_list_sscanf(set, cpus);
    if (hwloc_topology_init(&topology) != 0 ||
        hwloc_topology_set_synthetic(topology, description) != 0 ||
        hwloc_topology_set_flags(topology, 1UL << 0) != 0 || hwloc_topology_load(topology) != 0)
        bail_out("no synthetic topology: %s", strerror(errno));
    if (cpus != NULL && !disallowed && hwloc_topology_restrict(topology, set, 0) != 0)
        bail_out("can't restrict it: %s", strerror(errno));
#if HWLOC_API_VERSION >= 0x00020100
    if (disallowed && hwloc_topology_allow(topology, set, NULL, HWLOC_ALLOW_FLAG_CUSTOM) != 0)
        bail_out("can't disallow the rest: %s", strerror(errno));
#endif
    if (hwloc_topology_export_xmlbuffer(topology, &xml, size, 0) != 0)
        bail_out("can't export it");
    copy = malloc((size_t)*size);
    memcpy(copy, xml, (size_t)*size);
    hwloc_free_xmlbuffer(topology, xml);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(set);
    return copy;
}

static machine *make(const char *description, const char *cpus, bool disallowed)
{
    int size;
    char *xml = synthetic(description, cpus, disallowed, &size);
    machine *m = load_text(xml, (size_t)size, description);
    free(xml);
    return m;
}

static void containers(void)
{
    static const char host[] = "pack:2 numa:2 l3:4 core:8 pu:1";
    char text[64];
    machine *m = make(host, NULL, false);
    ok(m->num_packages == 2 && m->num_numas == 4 && m->num_l3s == 16 && m->num_cores == 128,
       "a host with 128 cores");
    is_int(cpu_set_count(&m->allowed), 128, "all of them allowed");
    machine_free(m);
    m = make(host, "70-71", true);
    cpu_set_write(&m->allowed, text, sizeof(text));
    is_str(text, "70-71", "a container that may use 2 of its 128 cores");
    ok(m->num_cores == 128 && m->num_numas == 4, "sees the whole host");
    ok(!m->bound && cpu_set_equal(&m->binding, &m->allowed), "and is not bound");
    machine_free(m);
    m = make(host, "70-71", false);
    cpu_set_write(&m->allowed, text, sizeof(text));
    is_str(text, "70-71", "a container that sees no more than its 2 cores");
    ok(m->num_cores == 2 && m->num_packages == 1 && m->packages[0].number == 1 &&
           m->num_numas == 1 && m->numas[0].number == 2 && m->cores[0].numa == 0,
       "has the rest of one package and one node");
    machine_free(m);
}

static void small_machines(void)
{
    machine *m = make("core:4 pu:2", NULL, false);
    ok(m->num_cores == 4 && m->num_pus == 8 && m->num_numas == 1, "one NUMA node, no package");
    ok(m->cores[3].package == -1 && m->cores[3].numa == 0 && m->cores[3].l3 == -1 &&
           m->cores[3].num_pus == 2 && m->cores[3].pus[0] == 6,
       "its last core");
    is_int(machine_distance(m, 0, 0), 10, "its distance to itself");
    ok(m->num_gpus == 0 && m->num_nics == 0 && m->links == NULL, "no devices");
    ok(machine_find_gpu(m, "0000:01:00.0") == -1 && machine_find_nic(m, "eth0") == -1,
       "none is found");
    machine_free(m);
    m = make("pu:1", NULL, false);
    ok(m->num_cores == 1 && m->num_pus == 1 && m->cores[0].num_pus == 1,
       "one hardware thread, and no core known, makes a core");
    machine_free(m);
    m = make("numa:2 core:2 pu:1", NULL, false);
    ok(machine_distance(m, 0, 1) == 20 && machine_distance(m, 1, 1) == 10,
       "without a table a node is 20 from the next");
    machine_free(m);
}

static void binding(void)
{
    machine *m = make("numa:2 core:8 pu:1", "2-15", true);
    cpu_set cpus;
    cpu_set_parse(&cpus, "0-3,99");
    ok(machine_bind(m, &cpus) && m->bound, "bound to four, of which two are allowed");
    is_int(cpu_set_count(&m->binding), 2, "these count");
    cpu_set_parse(&cpus, "0-1");
    ok(!machine_bind(m, &cpus) && cpu_set_count(&m->binding) == 2, "to none that is allowed");
    cpu_set_parse(&cpus, "0-100");
    ok(machine_bind(m, &cpus) && !m->bound, "to all: that is no binding");
    ok(machine_numa_of(m, &m->numas[1].cpus) == 1 && machine_numa_of(m, &m->cpus) == -1,
       "the node of some CPUs");
    cpus = (cpu_set){{0}};
    ok(machine_numa_of(m, &cpus) == -1 && machine_package_of(m, &cpus) == -1, "of none");
    machine_free(m);
}

static void large(void)
{
    machine *m = make("pack:8 numa:8 l3:4 core:8 pu:4", NULL, false);
    ok(m->num_packages == 8 && m->num_numas == 64 && m->num_l3s == 256 && m->num_cores == 2048 &&
           m->num_pus == 8192,
       "8192 hardware threads");
    ok(m->cores[2047].package == 7 && m->cores[2047].numa == 63 && m->cores[2047].l3 == 255 &&
           m->cores[2047].pus[3] == 8191,
       "the last is where it belongs");
    machine_free(m);
    int size;
    char *xml = synthetic("pack:9 numa:8 l3:4 core:8 pu:4", NULL, false, &size);
    m = NULL;
    is_int(machine_load_text(xml, (size_t)size, &m), MUSTER_ERR_UNSUPPORTED,
           "a package more than that");
    has_str(muster_last_error(), "it has a CPU 9215, and muster knows 0 to 8191", "says so");
    free(xml);
}

static void files(void)
{
    char folder[] = "/tmp/muster-machine-XXXXXX", path[64];
    machine *m = NULL;
    if (mkdtemp(folder) == NULL)
        bail_out("no folder: %s", strerror(errno));
    snprintf(path, sizeof(path), "%s/x.xml", folder);
    is_int(machine_load_file(path, &m), MUSTER_ERR_NOT_FOUND, "a file that isn't there");
    has_str(muster_last_error(), path, "is named");
    is_int(machine_load_file(folder, &m), MUSTER_ERR_ARGUMENT, "a folder is no file");
    is_int(mkfifo(path, 0600), 0, "a pipe");
    is_int(machine_load_file(path, &m), MUSTER_ERR_ARGUMENT, "is none, and is not waited for");
    unlink(path);
    FILE *to = fopen(path, "w");
    fclose(to);
    is_int(machine_load_file(path, &m), MUSTER_ERR_ARGUMENT, "an empty file");
    has_str(muster_last_error(), path, "is named");
    unlink(path);
    rmdir(folder);
    ok(m == NULL, "none of them made a machine");
}

int main(void)
{
    plan((int)(COUNT(no_topologies) * 3) + 2 + 10 + 2 + 1 + 10 + 10 + 6 + 5 + 8);
    broken();
    endless();
    cut();
    scrambled();
    containers();
    small_machines();
    binding();
    large();
    files();
    return done();
}
