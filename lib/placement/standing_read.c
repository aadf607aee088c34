/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the text that standing_write() writes, as another rank's: whatever it says, what comes out
 * is sound or refused.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "placement/assign.h"
#include "placement/standing.h"

enum { MOST_PARTS = 7, HIGHEST_ORDINAL = 65535, HIGHEST_NODE = 65535, HIGHEST_PACKAGE = 65535 };

static bool read_number(const char *text, long long least, long long most, long long *value)
{
    char *end;
    if ((*text < '0' || *text > '9') && *text != '-')
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && end != text && *value >= least && *value <= most;
}

static bool read_int(const char *text, int least, int most, int *value)
{
    long long number;
    if (!read_number(text, least, most, &number))
        return false;
    *value = (int)number;
    return true;
}

static bool read_cpus(const char *text, cpu_set *set)
{
    return cpu_set_parse(set, text) == MUSTER_OK;
}

/* Cuts the value at its slashes into so many parts, the last with all that is left. */
static bool cut(char *value, char *parts[MOST_PARTS], int count)
{
    for (int i = 0; i < count - 1; i++) {
        parts[i] = strsep(&value, "/");
        if (value == NULL)
            return false;
    }
    parts[count - 1] = value;
    return true;
}

static bool read_settled(standing *s, char *value)
{
    char *parts[MOST_PARTS];
    if (!cut(value, parts, 2))
        return false;
    bool used = strcmp(parts[0], "use") == 0;
    s->settled = used ? STANDING_IN_USE : STANDING_BY_USER;
    return (used || strcmp(parts[0], "user") == 0) &&
           read_int(parts[1], 0, HIGHEST_ORDINAL, &s->settled_ordinal);
}

/* The highest CPU of the last core has to be one. */
static bool run_fits(const standing_run *run)
{
    int highest = -1;
    for (int cpu = cpu_set_first(&run->first); cpu >= 0; cpu = cpu_set_next(&run->first, cpu))
        highest = cpu;
    return highest >= 0 && highest + (long long)(run->count - 1) * run->step < CPU_SET_LIMIT;
}

static bool read_run(standing *s, char *value)
{
    char *parts[MOST_PARTS];
    if (s->num_runs == STANDING_MOST_RUNS || !cut(value, parts, 5))
        return false;
    standing_run *run = &s->runs[s->num_runs];
    if (!read_int(parts[0], -1, HIGHEST_PACKAGE, &run->package) ||
        !read_int(parts[1], -1, HIGHEST_NODE, &run->node) ||
        !read_int(parts[2], 1, CPU_SET_LIMIT, &run->count) ||
        !read_int(parts[3], 1, CPU_SET_LIMIT, &run->step) || !read_cpus(parts[4], &run->first) ||
        !run_fits(run))
        return false;
    s->num_runs++;
    return true;
}

static bool read_device(standing *s, char *value, bool slice)
{
    char *parts[MOST_PARTS];
    long long cost;
    if (s->num_devices == STANDING_MOST_DEVICES || !cut(value, parts, 7))
        return false;
    standing_device *device = &s->devices[s->num_devices];
    *device = (standing_device){.slice = slice};
    if (!read_int(parts[0], 0, HIGHEST_ORDINAL, &device->ordinal) ||
        !read_number(parts[1], 0, ASSIGN_DEAREST, &cost) ||
        !read_int(parts[2], -1, HIGHEST_PACKAGE, &device->package) ||
        !read_int(parts[3], -1, HIGHEST_NODE, &device->node) ||
        !read_cpus(parts[4], &device->cpus) ||
        (*parts[5] != '\0' && !machine_bus_id(parts[5], device->bus_id)) ||
        strlen(parts[6]) >= sizeof(device->uuid) || (*parts[5] == '\0' && *parts[6] == '\0'))
        return false;
    strcpy(device->uuid, parts[6]);
    device->cost = cost;
    for (size_t i = 0; i < s->num_devices; i++)
        if (s->devices[i].ordinal == device->ordinal)
            return false;
    s->num_devices++;
    return true;
}

/* One word; those that are not known are passed over. */
static bool read_word(standing *s, char *word)
{
    char *name = strsep(&word, "=");
    if (word == NULL)
        return *name == '\0';
    if (strcmp(name, "cpus") == 0)
        return read_cpus(word, &s->cpus);
    if (strcmp(name, "allowed") == 0)
        return read_cpus(word, &s->allowed);
    if (strcmp(name, "memory") == 0)
        return read_int(word, 0, HIGHEST_NODE, &s->memory_node);
    if (strcmp(name, "settled") == 0)
        return read_settled(s, word);
    if (strcmp(name, "cores") == 0)
        return read_run(s, word);
    if (strcmp(name, "gpu") == 0 || strcmp(name, "slice") == 0)
        return read_device(s, word, *name == 's');
    int bound = 0;
    if (strcmp(name, "bound") == 0 && !read_int(word, 0, 1, &bound))
        return false;
    s->bound = s->bound || bound != 0;
    return true;
}

/* What no single word shows. */
static muster_status check(const standing *s)
{
    if (cpu_set_is_empty(&s->cpus))
        return error_set(MUSTER_ERR_PROTOCOL, "it runs on no CPU");
    if (!cpu_set_is_subset(&s->cpus, &s->allowed))
        return error_set(MUSTER_ERR_PROTOCOL, "it runs on CPUs that it is not allowed");
    bool has = s->settled == STANDING_OPEN;
    for (size_t i = 0; i < s->num_devices; i++)
        has = has || s->devices[i].ordinal == s->settled_ordinal;
    if (!has)
        return error_set(MUSTER_ERR_PROTOCOL, "it is settled on device %d, that it does not have",
                         s->settled_ordinal);
    return MUSTER_OK;
}

/* Room for as many of a word as the text has. */
static size_t count_words(const char *text, const char *name)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += strlen(name))
        count++;
    return count;
}

static muster_status read_words(standing *s, char *text)
{
    char shown[96];
    for (char *word; (word = strsep(&text, " ")) != NULL;) {
        strncpy(shown, word, sizeof(shown) - 1);
        shown[sizeof(shown) - 1] = '\0';
        if (!read_word(s, word))
            return error_set(MUSTER_ERR_PROTOCOL, "the word \"%s\" is wrong", shown);
    }
    return check(s);
}

static muster_status read_copy(standing *s, char *text)
{
    size_t runs = count_words(text, "cores=");
    size_t devices = count_words(text, "gpu=") + count_words(text, "slice=");
    runs = runs < STANDING_MOST_RUNS ? runs : STANDING_MOST_RUNS;
    devices = devices < STANDING_MOST_DEVICES ? devices : STANDING_MOST_DEVICES;
    s->runs = calloc(runs + 1, sizeof(*s->runs));
    s->devices = calloc(devices + 1, sizeof(*s->devices));
    if (s->runs == NULL || s->devices == NULL)
        return error_no_memory(runs * sizeof(*s->runs) + devices * sizeof(*s->devices),
                               "where a rank stands");
    return read_words(s, text);
}

muster_status standing_read(standing *s, muster_blob text)
{
    *s = (standing){.rank = -1, .local_rank = -1, .memory_node = -1, .settled_ordinal = -1};
    if (text.size > STANDING_TEXT_LIMIT || (text.size > 0 && memchr(text.data, 0, text.size)))
        return error_set(MUSTER_ERR_PROTOCOL,
                         "where a rank stands: %zu bytes of text, with a NUL or more than %d",
                         text.size, STANDING_TEXT_LIMIT);
    char *copy = calloc(1, text.size + 1);
    if (copy == NULL)
        return error_no_memory(text.size + 1, "where a rank stands");
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    muster_status status = read_copy(s, copy);
    free(copy);
    if (status == MUSTER_ERR_PROTOCOL)
        error_prefix(status, "where a rank stands: ");
    if (status != MUSTER_OK)
        standing_clear(s);
    return status;
}
