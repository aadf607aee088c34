/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing an interface by the grammar that interface.h describes: no system call is made here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "net/interface.h"

enum { GRAMMAR_MAX_ITEMS = 64, GRAMMAR_MAX_LENGTH = 1024 };

typedef struct grammar_item {
    char name[IF_NAMESIZE]; /* empty for a network */
    bool exact;
    interface_number network;
    unsigned bits;
} grammar_item;

typedef struct grammar_list {
    bool exclude;
    size_t count;
    grammar_item items[GRAMMAR_MAX_ITEMS];
} grammar_list;

static muster_status grammar_refuse(const char *grammar, const char *item, const char *why)
{
    return error_set(MUSTER_ERR_ARGUMENT,
                     "interface \"%s\": \"%s\" %s; expected names such as eth0, =eth0, ^lo,docker, "
                     "or networks such as 10.9.0.0/24",
                     grammar, item, why);
}

/* The bits behind a slash: one to three digits, no more than the address has. */
static bool grammar_read_bits(const char *text, unsigned limit, unsigned *bits)
{
    size_t length = strlen(text);
    if (length == 0 || length > 3 || strspn(text, "0123456789") != length)
        return false;
    *bits = (unsigned)strtoul(text, NULL, 10);
    return *bits <= limit;
}

static muster_status grammar_read_network(const char *grammar, const char *text, grammar_item *item)
{
    char address[GRAMMAR_MAX_LENGTH + 1];
    size_t length = strcspn(text, "/");
    memcpy(address, text, length);
    address[length] = '\0';
    if (!interface_parse_number(address, &item->network) || strchr(address, '%') != NULL)
        return grammar_refuse(grammar, text, "is no network");
    unsigned limit = item->network.family == AF_INET ? 32 : 128;
    item->bits = limit;
    if (text[length] == '\0')
        return MUSTER_OK;
    /* What was written as IPv6 and is IPv4 has its bits counted as IPv6. */
    unsigned shift = item->network.family == AF_INET && strchr(address, ':') != NULL ? 96 : 0;
    unsigned bits;
    if (!grammar_read_bits(text + length + 1, limit + shift, &bits) || bits < shift)
        return grammar_refuse(grammar, text, "has a number of bits that no such network has");
    item->bits = bits - shift;
    return MUSTER_OK;
}

static muster_status grammar_read_item(const char *grammar, char *text, bool exact,
                                       grammar_item *item)
{
    memset(item, 0, sizeof(*item));
    interface_number number;
    if (text[0] == '^')
        return grammar_refuse(grammar, text, "has a ^, which stands in front of the whole list");
    item->exact = exact || text[0] == '=';
    const char *name = text[0] == '=' ? text + 1 : text;
    if (name[0] == '\0')
        return grammar_refuse(grammar, text, "is an empty item");
    if (strpbrk(name, " \t\n=^") != NULL)
        return grammar_refuse(grammar, text, "has a blank or a sign that no interface name has");
    if (strchr(name, '/') != NULL || interface_parse_number(name, &number))
        return grammar_read_network(grammar, name, item);
    if (strlen(name) >= sizeof(item->name))
        return grammar_refuse(grammar, text, "is longer than interface names are");
    memcpy(item->name, name, strlen(name) + 1);
    return MUSTER_OK;
}

static muster_status grammar_read(const char *grammar, grammar_list *parsed)
{
    char text[GRAMMAR_MAX_LENGTH + 1];
    if (strlen(grammar) > GRAMMAR_MAX_LENGTH)
        return error_set(MUSTER_ERR_ARGUMENT, "the choice of an interface has %zu bytes, over %d",
                         strlen(grammar), GRAMMAR_MAX_LENGTH);
    const char *start = grammar;
    parsed->exclude = *start == '^';
    start += parsed->exclude ? 1 : 0;
    bool exact = *start == '=';
    start += exact ? 1 : 0;
    strcpy(text, start);
    parsed->count = 0;
    for (char *item = text, *next; item != NULL; item = next) {
        next = strchr(item, ',');
        if (next != NULL)
            *next++ = '\0';
        if (parsed->count == GRAMMAR_MAX_ITEMS)
            return grammar_refuse(grammar, item, "is one item more than the 64 that are taken");
        muster_status status =
            grammar_read_item(grammar, item, exact, &parsed->items[parsed->count++]);
        if (status != MUSTER_OK)
            return status;
    }
    return MUSTER_OK;
}

static bool grammar_in_network(const grammar_item *item, const interface_address *address)
{
    interface_number number;
    if (!interface_parse_number(address->address, &number) || number.family != item->network.family)
        return false;
    unsigned whole = item->bits / 8, rest = item->bits % 8;
    if (memcmp(number.bytes, item->network.bytes, whole) != 0)
        return false;
    unsigned mask = 0xff00u >> rest & 0xffu;
    return rest == 0 || ((number.bytes[whole] ^ item->network.bytes[whole]) & mask) == 0;
}

static bool grammar_matches(const grammar_item *item, bool exact, const interface_address *address)
{
    if (item->name[0] == '\0')
        return grammar_in_network(item, address);
    if (exact)
        return strcmp(item->name, address->name) == 0;
    return strncmp(item->name, address->name, strlen(item->name)) == 0;
}

/* An interface that has the very name keeps the item from being taken as a prefix, also when it
 * is down: eth0 never silently becomes eth01. */
static bool grammar_is_exact(const grammar_item *item, const interface_address *list, size_t count)
{
    for (size_t i = 0; i < count && !item->exact; i++)
        if (strcmp(item->name, list[i].name) == 0)
            return true;
    return item->exact;
}

static bool grammar_usable(const interface_address *address, int family)
{
    return address->up && (family == AF_UNSPEC || address->family == family);
}

static bool grammar_excluded(const grammar_list *parsed, const interface_address *address)
{
    for (size_t i = 0; i < parsed->count; i++)
        if (grammar_matches(&parsed->items[i], parsed->items[i].exact, address))
            return true;
    return false;
}

static void grammar_take_better(const interface_address **best, const interface_address *address)
{
    if (*best == NULL || interface_preference(address) > interface_preference(*best))
        *best = address;
}

static const interface_address *grammar_choose(const grammar_list *parsed, int family,
                                               const interface_address *list, size_t count)
{
    const interface_address *best = NULL;
    if (parsed->exclude) {
        for (size_t i = 0; i < count; i++)
            if (grammar_usable(&list[i], family) && !grammar_excluded(parsed, &list[i]))
                grammar_take_better(&best, &list[i]);
        return best;
    }
    for (size_t at = 0; at < parsed->count && best == NULL; at++) {
        bool exact = grammar_is_exact(&parsed->items[at], list, count);
        for (size_t i = 0; i < count; i++)
            if (grammar_usable(&list[i], family) &&
                grammar_matches(&parsed->items[at], exact, &list[i]))
                grammar_take_better(&best, &list[i]);
    }
    return best;
}

muster_status interface_match(const char *grammar, int family, const interface_address *list,
                              size_t count, interface_address *chosen)
{
    if (grammar == NULL || grammar[0] == '\0')
        return error_set(MUSTER_ERR_ARGUMENT, "the choice of an interface is empty; expected names "
                                              "such as eth0 or networks such as 10.9.0.0/24");
    if (chosen == NULL || (list == NULL && count > 0))
        return error_set(MUSTER_ERR_ARGUMENT, "interface \"%s\": no list to choose from", grammar);
    if (family != AF_UNSPEC && family != AF_INET && family != AF_INET6)
        return error_set(MUSTER_ERR_ARGUMENT, "interface \"%s\": %d is not an address family",
                         grammar, family);
    grammar_list parsed;
    muster_status status = grammar_read(grammar, &parsed);
    if (status != MUSTER_OK)
        return status;
    const interface_address *best = grammar_choose(&parsed, family, list, count);
    if (best != NULL) {
        *chosen = *best;
        return MUSTER_OK;
    }
    char there[1024];
    interface_describe(list, count, there, sizeof(there));
    return error_set(MUSTER_ERR_NOT_FOUND,
                     "interface \"%s\" matches nothing here that is up and has an%s address; "
                     "there is %s",
                     grammar,
                     family == AF_INET    ? " IPv4"
                     : family == AF_INET6 ? " IPv6"
                                          : "",
                     there);
}
