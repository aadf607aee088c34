/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading Slurm's lists of nodes and of tasks on them.
 */
#include "launch/slurm_nodes.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { MAX_DIGITS = 9, MAX_GROUPS = 16 };

/* A list, and what becomes of its names. */
typedef struct reader {
    const char *list;
    bool (*take)(void *user, const char *name); /* NULL: only look whether it is well formed */
    void *user;
    bool stopped;
    char name[SLURM_MAX_NAME + 1];
} reader;

/* "5" or "05-11". */
typedef struct range {
    int low;
    int high;
    int width;
} range;

static muster_status refuse(const reader *r, const char *at, const char *what)
{
    return error_set(MUSTER_ERR_ARGUMENT,
                     "the node list \"%.200s\" can't be read: %s at character %zu", r->list, what,
                     (size_t)(at - r->list) + 1);
}

static bool read_digits(const char **at, int *number, int *width)
{
    *width = (int)strspn(*at, "0123456789");
    if (*width == 0 || *width > MAX_DIGITS)
        return false;
    *number = 0;
    for (int i = 0; i < *width; i++)
        *number = *number * 10 + *(*at)++ - '0';
    return true;
}

static muster_status read_range(const reader *r, const char **at, range *read)
{
    int width;
    const char *begin = *at;
    if (!read_digits(at, &read->low, &read->width))
        return refuse(r, begin, "a number of 1 to 9 digits is expected");
    read->high = read->low;
    if (**at == '-') {
        (*at)++;
        if (!read_digits(at, &read->high, &width))
            return refuse(r, *at, "a number of 1 to 9 digits is expected");
    }
    if (read->high < read->low)
        return refuse(r, begin, "a range that goes down");
    if (**at != ',' && **at != ']')
        return refuse(r, *at, "',', '-' or ']' is expected");
    return MUSTER_OK;
}

/* Checks one group up to its ']': *at moves there. It has *count numbers of at most *length digits.
 */
static muster_status check_group(const reader *r, const char **at, long long *count, size_t *length)
{
    *count = 0;
    *length = 0;
    do {
        range part = {0};
        (*at)++; /* '[' or ',' */
        muster_status status = read_range(r, at, &part);
        if (status != MUSTER_OK)
            return status;
        size_t digits = (size_t)snprintf(NULL, 0, "%0*d", part.width, part.high);
        *length = digits > *length ? digits : *length;
        *count += part.high - part.low + 1;
    } while (**at == ',');
    return MUSTER_OK;
}

/* Checks one name up to its comma: *at moves there. How many names it stands for is *count. */
static muster_status check_name(const reader *r, const char **at, long long *count)
{
    const char *begin = *at;
    size_t length = 0, more;
    int groups = 0;
    *count = 1;
    for (; **at != ',' && **at != '\0'; (*at)++, length += more) {
        more = 1;
        if (**at == ']' || (unsigned char)**at <= ' ')
            return refuse(r, *at, **at == ']' ? "']' without '['" : "a blank");
        if (**at != '[')
            continue;
        if (++groups > MAX_GROUPS)
            return refuse(r, *at, "more than 16 groups in one name");
        long long here;
        muster_status status = check_group(r, at, &here, &more);
        if (status != MUSTER_OK)
            return status;
        *count = here > SLURM_MAX_NODES ? SLURM_MAX_NODES + 1 : *count * here;
        if (*count > SLURM_MAX_NODES)
            return refuse(r, *at, "more than 131072 names");
    }
    if (length > SLURM_MAX_NAME)
        return refuse(r, begin, "a name of more than 255 characters");
    return *at == begin ? refuse(r, begin, "an empty name") : MUSTER_OK;
}

static muster_status check_list(const reader *r)
{
    const char *at = r->list;
    long long total = 0;
    for (;;) {
        long long count;
        muster_status status = check_name(r, &at, &count);
        if (status != MUSTER_OK)
            return status;
        total += count;
        if (total > SLURM_MAX_NODES)
            return refuse(r, at, "more than 131072 names");
        if (*at++ == '\0')
            return MUSTER_OK;
    }
}

static void expand(reader *r, const char *at, size_t length);

static void expand_group(reader *r, const char *at, size_t length)
{
    const char *end = strchr(at, ']') + 1;
    while (*at != ']' && !r->stopped) {
        range part = {0};
        at++; /* '[' or ',' */
        read_range(r, &at, &part);
        for (int i = part.low; i <= part.high && !r->stopped; i++) {
            int more = snprintf(r->name + length, sizeof(r->name) - length, "%0*d", part.width, i);
            expand(r, end, length + (size_t)more);
        }
    }
}

/* The names that begin with the first length characters of r->name and go on as at says; the list
 * has been checked. */
static void expand(reader *r, const char *at, size_t length)
{
    size_t more = strcspn(at, "[,");
    memcpy(r->name + length, at, more);
    length += more;
    r->name[length] = '\0';
    if (at[more] == '[')
        expand_group(r, at + more, length);
    else
        r->stopped = !r->take(r->user, r->name);
}

/* Behind the name that begins at at: its comma, or the end. */
static const char *skip_name(const char *at)
{
    bool inside = false;
    for (; *at != '\0' && (inside || *at != ','); at++)
        inside = *at == '[' || (inside && *at != ']');
    return at;
}

muster_status slurm_nodes_each(const char *list, bool (*take)(void *user, const char *name),
                               void *user)
{
    reader r = {.list = list, .take = take, .user = user};
    muster_status status = check_list(&r);
    for (const char *at = list; status == MUSTER_OK && !r.stopped; at++) {
        expand(&r, at, 0);
        at = skip_name(at);
        if (*at == '\0')
            break;
    }
    return status;
}

static bool take_first(void *user, const char *name)
{
    snprintf(user, SLURM_MAX_NAME + 1, "%s", name);
    return false;
}

muster_status slurm_nodes_first(const char *list, char name[SLURM_MAX_NAME + 1])
{
    return slurm_nodes_each(list, take_first, name);
}

muster_status slurm_nodes_tasks(const char *list, int node, int *tasks)
{
    const char *at = list;
    for (int from = 0;; at++) {
        int width, times = 1;
        bool good = read_digits(&at, tasks, &width);
        if (good && strncmp(at, "(x", 2) == 0) {
            at += 2;
            good = read_digits(&at, &times, &width) && *at++ == ')';
        }
        if (!good || (*at != ',' && *at != '\0'))
            return error_set(MUSTER_ERR_ARGUMENT,
                             "the list of tasks on each node \"%.200s\" can't be read; expected "
                             "one such as \"2(x3),1\"",
                             list);
        if (node - from < times)
            return MUSTER_OK;
        from += times;
        if (*at == '\0')
            return error_set(MUSTER_ERR_ARGUMENT,
                             "the list of tasks on each node \"%.200s\" is of %d nodes, and this "
                             "is node %d",
                             list, from, node);
    }
}
