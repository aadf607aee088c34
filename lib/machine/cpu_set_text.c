/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of CPUs as the kernel writes them: "0-3,8-11".
 */
#include "config.h"

#include "machine/cpu_set.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Reads a number that ends where its digits do; false where there is none, or too large a one. */
static bool read_number(const char **at, long long *number)
{
    if (!isdigit((unsigned char)**at))
        return false;
    for (*number = 0; isdigit((unsigned char)**at); ++*at)
        if (*number < CPU_SET_LIMIT)
            *number = *number * 10 + (**at - '0');
    return *number < CPU_SET_LIMIT;
}

/* Reads "8" or "8-11". */
static bool read_range(const char **at, cpu_set *set)
{
    long long first, last;
    if (!read_number(at, &first))
        return false;
    last = first;
    if (**at == '-') {
        ++*at;
        if (!read_number(at, &last))
            return false;
    }
    return cpu_set_add_range(set, first, last);
}

/* A number that is one, and too large. */
static bool has_large_number(const char *text)
{
    long long number;
    for (const char *at = text; *at != '\0';)
        if (!isdigit((unsigned char)*at))
            at++;
        else if (!read_number(&at, &number))
            return true;
    return false;
}

muster_status cpu_set_parse(cpu_set *set, const char *text)
{
    if (set == NULL || text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "a list of CPUs is NULL");
    cpu_set read = {{0}};
    const char *at = text;
    while (isspace((unsigned char)*at))
        at++;
    bool fine = true, more = *at != '\0';
    while (fine && more) {
        fine = read_range(&at, &read);
        more = fine && *at == ',';
        if (more)
            at++;
    }
    while (fine && isspace((unsigned char)*at))
        at++;
    if (text[strspn(text, "0123456789-, \t\n")] == '\0' && has_large_number(text))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "\"%.200s\" has a CPU that no machine has: their numbers are under %d",
                         text, CPU_SET_LIMIT);
    if (!fine || *at != '\0')
        return error_set(MUSTER_ERR_ARGUMENT,
                         "\"%.200s\" is no list of CPUs: write numbers under %d and ranges, as in "
                         "0-3,8-11",
                         text, CPU_SET_LIMIT);
    *set = read;
    return MUSTER_OK;
}

size_t cpu_set_write(const cpu_set *set, char *text, size_t size)
{
    size_t length = 0;
    if (size > 0)
        text[0] = '\0';
    for (int first = cpu_set_first(set), last; first >= 0; first = cpu_set_next(set, last)) {
        for (last = first; cpu_set_has(set, last + 1);)
            last++;
        char *at = length < size ? text + length : NULL;
        size_t room = length < size ? size - length : 0;
        const char *comma = length == 0 ? "" : ",";
        int wrote = first == last ? snprintf(at, room, "%s%d", comma, first)
                                  : snprintf(at, room, "%s%d-%d", comma, first, last);
        length += (size_t)wrote;
    }
    return length;
}

muster_status cpu_set_text(const cpu_set *set, char **text)
{
    size_t size = cpu_set_write(set, NULL, 0) + 1;
    *text = malloc(size);
    if (*text == NULL)
        return error_no_memory(size, "a list of CPUs");
    cpu_set_write(set, *text, size);
    return MUSTER_OK;
}
