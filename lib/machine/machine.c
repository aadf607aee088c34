/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model of a machine: what its readers ask of it.
 */
#include "config.h"

#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_free(machine *m)
{
    if (m == NULL)
        return;
    free(m->packages);
    free(m->numas);
    free(m->l3s);
    free(m->cores);
    free(m->pus);
    free(m->gpus);
    free(m->nics);
    free(m->distances);
    free(m->links);
    free(m);
}

bool machine_bind(machine *m, const cpu_set *cpus)
{
    cpu_set left = cpu_set_and(cpus, &m->allowed);
    if (cpu_set_is_empty(&left))
        return false;
    m->binding = left;
    m->bound = !cpu_set_equal(&left, &m->allowed);
    return true;
}

int machine_distance(const machine *m, int numa, int other)
{
    return m->distances[(size_t)numa * (size_t)m->num_numas + (size_t)other];
}

int machine_link(const machine *m, int gpu, int other)
{
    return m->links == NULL ? 0 : m->links[(size_t)gpu * (size_t)m->num_gpus + (size_t)other];
}

int machine_numa_of(const machine *m, const cpu_set *cpus)
{
    if (!cpu_set_is_empty(cpus))
        for (int i = 0; i < m->num_numas; i++)
            if (cpu_set_is_subset(cpus, &m->numas[i].cpus))
                return i;
    return -1;
}

int machine_package_of(const machine *m, const cpu_set *cpus)
{
    if (!cpu_set_is_empty(cpus))
        for (int i = 0; i < m->num_packages; i++)
            if (cpu_set_is_subset(cpus, &m->packages[i].cpus))
                return i;
    return -1;
}

int machine_find_gpu(const machine *m, const char *bus_id)
{
    char wanted[MACHINE_BUS_ID_SIZE];
    if (machine_bus_id(bus_id, wanted))
        for (int i = 0; i < m->num_gpus; i++)
            if (strcmp(m->gpus[i].bus_id, wanted) == 0)
                return i;
    return -1;
}

int machine_find_nic(const machine *m, const char *name)
{
    if (name == NULL || *name == '\0')
        return -1;
    for (int i = 0; i < m->num_nics; i++)
        if (strcmp(m->nics[i].name, name) == 0 || strcmp(m->nics[i].hca, name) == 0)
            return i;
    return -1;
}

/* Reads up to so many hexadecimal digits that end in the character end. */
static bool read_part(const char **at, int most, char end, unsigned *value)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int count = 0;
    *value = 0;
    for (const char *digit; **at != '\0' && (digit = strchr(digits, **at)) != NULL; ++*at) {
        if (++count > most)
            return false;
        *value = *value * 16 + (unsigned)((digit - digits) % 16);
    }
    bool ends = **at == end;
    if (end != '\0' && ends)
        ++*at;
    return count > 0 && ends;
}

bool machine_bus_id(const char *text, char bus_id[MACHINE_BUS_ID_SIZE])
{
    unsigned domain = 0, bus, slot, function;
    if (text == NULL)
        return false;
    const char *first = strchr(text, ':');
    bool has_domain = first != NULL && strchr(first + 1, ':') != NULL;
    if (has_domain && !read_part(&text, 8, ':', &domain))
        return false;
    if (!read_part(&text, 2, ':', &bus) || !read_part(&text, 2, '.', &slot) ||
        !read_part(&text, 1, '\0', &function) || slot > 31 || function > 7)
        return false;
    snprintf(bus_id, MACHINE_BUS_ID_SIZE, "%04x:%02x:%02x.%x", domain, bus, slot, function);
    return true;
}
