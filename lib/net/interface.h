/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network interfaces of this machine, and the one grammar by which users choose among them.
 *
 * The grammar is a list with commas; each item is one of
 *   eth0           the interface of that name, or where there is none, those whose names begin so
 *   =eth0          the interface of exactly that name
 *   10.9.0.0/24    addresses in a network, IPv4 or IPv6; without "/bits" one address
 * The first item that an address matches wins. "=" in front of the whole list holds for all of its
 * names, and "^" in front of it (or "^=") turns it round: any interface that no item matches.
 * NCCL reads its own variable in the same way, so a value made of names can be handed to it.
 *
 * Where several addresses are left: one that is not loopback, then one that is not link-local, then
 * IPv4, then the first. Interfaces that are down are never chosen. IPv4-mapped IPv6 addresses count
 * as IPv4 everywhere.
 */
#ifndef MUSTER_LIB_INTERFACE_H
#define MUSTER_LIB_INTERFACE_H

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "muster.h"

/* One address of one interface. */
typedef struct interface_address {
    char name[IF_NAMESIZE];
    char address[INET6_ADDRSTRLEN + IF_NAMESIZE + 1]; /* numeric; link-local IPv6 with its %scope */
    int family;                                       /* AF_INET or AF_INET6 */
    bool loopback;
    bool up;
    int prefix; /* bits of the address that are its network's; -1: not known */
} interface_address;

/* A numeric address as bytes, to compare: 4 of them for AF_INET, 16 for AF_INET6. */
typedef struct interface_number {
    int family;
    unsigned char bytes[16];
} interface_number;

/* The addresses of this machine, in memory for free(). */
muster_status interface_list(interface_address **list, size_t *count);

/* Chooses from a list. family is AF_UNSPEC, AF_INET or AF_INET6. MUSTER_ERR_ARGUMENT for text that
 * is not of the grammar, MUSTER_ERR_NOT_FOUND where nothing matches; the sentence then says what
 * there was. */
muster_status interface_match(const char *grammar, int family, const interface_address *list,
                              size_t count, interface_address *chosen);

/* The interface of this machine that has an address, numeric or the one a name resolves to. All of
 * 127.0.0.0/8 is on the loopback interface, listed or not. MUSTER_ERR_NOT_FOUND with the addresses
 * that the machine has. */
muster_status interface_of_address(const char *host_or_address, int family,
                                   interface_address *chosen);

/* Reads a numeric address; a "%scope" behind it is left out. False where it is none. */
bool interface_parse_number(const char *text, interface_number *number);

/* The higher, the rather this address is chosen. */
int interface_preference(const interface_address *address);

/* Whether it is of 169.254.0.0/16 or fe80::/10, which no router passes on. */
bool interface_is_link_local(const interface_address *address);

/* Whether two addresses are of one network, by the prefixes of both, so that what reaches one
 * reaches the other. */
bool interface_same_network(const interface_address *a, const interface_address *b);

/* Writes "lo 127.0.0.1 (loopback), eth0 10.0.0.2 (down)" for an error sentence; ends in "..." where
 * there is no room for all. */
void interface_describe(const interface_address *list, size_t count, char *text, size_t size);

#endif
