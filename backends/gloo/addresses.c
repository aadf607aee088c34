/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks exchange before they connect.
 *
 * The addresses that a rank has prepared differ in a few bytes only (a port, or a number), so the
 * first is written whole, then a bit for each byte that differs in any of the others, then those
 * bytes of each. That needs no knowledge of what Gloo keeps in an address, and takes 2 bytes a
 * peer where the whole ones would take 136, times the square of the ranks.
 */
#include "addresses.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "comm.h"

/* magic 4, connects 1, byte order 1, family 1, format 1, rank 4, size 4, address size 2, nonce 8 */
enum {
    AT_CONNECTS = 4,
    AT_ORDER = 5,
    AT_FAMILY = 6,
    AT_FORMAT = 7,
    AT_RANK = 8,
    AT_SIZE = 12,
    AT_ADDRESS_SIZE = 16,
    AT_NONCE = 18,
    HEADER_SIZE = 26
};

static const char magic[4] = {'M', 'G', 'l', 'o'};
enum { FORMAT = 1 };

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* Gloo's messages are in the host's order. */
static char byte_order(void)
{
    uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1 ? 'L' : 'B';
}

/* Since 2023 all connections come to one port, and the last eight bytes of an address tell them
 * apart; before, each had a port of its own and these bytes were all ones. The two can't connect to
 * each other. */
static char connects(const struct card *card)
{
    const uint8_t *address = card->addresses + (card->rank == 0 ? card->address_size : 0);
    if (card->address_size < 8)
        return '?';
    for (size_t i = card->address_size - 8; i < card->address_size; i++)
        if (address[i] != 0xff)
            return '1';
    return 'n';
}

static const char *connects_name(uint8_t way)
{
    return way == '1' ? "of 2023 or later" : way == 'n' ? "older than 2023" : "of an unknown kind";
}

static const uint8_t *address_of(const struct card *card, int peer)
{
    if (peer == card->rank)
        peer = card->rank == 0 ? 1 : 0;
    return card->addresses + (size_t)peer * card->address_size;
}

/* A byte for each byte of an address: whether it differs between peers. Returns how many do. */
static size_t find_differing(const struct card *card, bool differs[ADDRESS_SIZE])
{
    size_t count = 0;
    const uint8_t *first = address_of(card, 0);
    for (size_t i = 0; i < card->address_size; i++) {
        differs[i] = false;
        for (int peer = 1; peer < card->size && !differs[i]; peer++)
            differs[i] = address_of(card, peer)[i] != first[i];
        count += differs[i];
    }
    return count;
}

static void write_header(const struct card *card, uint8_t *at)
{
    memcpy(at, magic, sizeof(magic));
    at[AT_CONNECTS] = (uint8_t)connects(card);
    at[AT_ORDER] = (uint8_t)byte_order();
    at[AT_FAMILY] = (uint8_t)card->family;
    at[AT_FORMAT] = FORMAT;
    put(at + AT_RANK, (uint64_t)card->rank, 4);
    put(at + AT_SIZE, (uint64_t)card->size, 4);
    put(at + AT_ADDRESS_SIZE, card->address_size, 2);
    put(at + AT_NONCE, card->nonce, 8);
}

muster_status card_write(const struct card *card, muster_blob *blob)
{
    bool differs[ADDRESS_SIZE];
    size_t differing = find_differing(card, differs);
    size_t bits = (card->address_size + 7) / 8;
    size_t size = HEADER_SIZE + card->address_size + bits + differing * (size_t)card->size;
    uint8_t *bytes = calloc(1, size);
    if (bytes == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for %zu bytes of addresses", size);
    write_header(card, bytes);
    memcpy(bytes + HEADER_SIZE, address_of(card, 0), card->address_size);
    uint8_t *mask = bytes + HEADER_SIZE + card->address_size;
    uint8_t *out = mask + bits;
    for (size_t i = 0; i < card->address_size; i++)
        mask[i / 8] |= (uint8_t)(differs[i] << i % 8);
    for (int peer = 0; peer < card->size; peer++)
        for (size_t i = 0; i < card->address_size; i++)
            if (differs[i])
                *out++ = address_of(card, peer)[i];
    blob->data = bytes;
    blob->size = size;
    return MUSTER_OK;
}

static muster_status bad_card(int writer, const char *what)
{
    return gloo_host->error(MUSTER_ERR_PROTOCOL,
                            "what rank %d published is not understood (%s); all ranks need the "
                            "same version of muster",
                            writer, what);
}

static muster_status check_header(const struct card *reader, int writer, const uint8_t *at)
{
    if (memcmp(at, magic, sizeof(magic)) != 0 || at[AT_FORMAT] != FORMAT)
        return bad_card(writer, "its first bytes differ");
    if (at[AT_FAMILY] != reader->family)
        return gloo_host->error(MUSTER_ERR_MISMATCH,
                                "rank %d uses an IPv%c address and rank %d an IPv%c address; set "
                                "gloo.iface or gloo.hostname so that all use the same kind",
                                reader->rank, reader->family, writer, at[AT_FAMILY]);
    if (at[AT_CONNECTS] != connects(reader))
        return gloo_host->error(MUSTER_ERR_MISMATCH,
                                "rank %d has a Gloo %s and rank %d one %s, which can't connect to "
                                "each other; install the same on all hosts",
                                reader->rank, connects_name((uint8_t)connects(reader)), writer,
                                connects_name(at[AT_CONNECTS]));
    if (at[AT_ORDER] != byte_order())
        return gloo_host->error(MUSTER_ERR_MISMATCH,
                                "ranks %d and %d run on processors of different byte order, which "
                                "Gloo does not support",
                                reader->rank, writer);
    if (get(at + AT_RANK, 4) != (uint64_t)writer || get(at + AT_SIZE, 4) != (uint64_t)reader->size)
        return gloo_host->error(MUSTER_ERR_MISMATCH,
                                "rank %d of %d published itself as rank %llu of %llu", writer,
                                reader->size, (unsigned long long)get(at + AT_RANK, 4),
                                (unsigned long long)get(at + AT_SIZE, 4));
    if (get(at + AT_ADDRESS_SIZE, 2) != reader->address_size)
        return bad_card(writer, "its addresses have another length");
    return MUSTER_OK;
}

/* A link-local address holds the number of an interface, which has a meaning on the host that wrote
 * it only: here the peer is reached by the interface of our own address. */
static void use_own_scope(const struct card *reader, uint8_t *address)
{
    struct sockaddr_in6 at;
    if (reader->scope == 0 || reader->address_size < sizeof(at))
        return;
    memcpy(&at, address, sizeof(at));
    if (at.sin6_family != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&at.sin6_addr))
        return;
    at.sin6_scope_id = reader->scope;
    memcpy(address, &at, sizeof(at));
}

muster_status card_read(const struct card *reader, int writer, muster_blob blob, uint64_t *nonce,
                        uint8_t *address)
{
    const uint8_t *bytes = blob.data;
    size_t length = reader->address_size;
    size_t bits = (length + 7) / 8;
    if (blob.size < HEADER_SIZE)
        return bad_card(writer, "it is too short");
    muster_status status = check_header(reader, writer, bytes);
    if (status != MUSTER_OK)
        return status;
    if (blob.size < HEADER_SIZE + length + bits)
        return bad_card(writer, "it is too short");
    const uint8_t *mask = bytes + HEADER_SIZE + length;
    size_t differing = 0;
    for (size_t i = 0; i < length; i++)
        differing += mask[i / 8] >> i % 8 & 1;
    if (blob.size != HEADER_SIZE + length + bits + differing * (size_t)reader->size)
        return bad_card(writer, "its length is wrong");
    const uint8_t *mine = mask + bits + differing * (size_t)reader->rank;
    memcpy(address, bytes + HEADER_SIZE, length);
    for (size_t i = 0; i < length; i++)
        if ((mask[i / 8] >> i % 8 & 1) != 0)
            address[i] = *mine++;
    use_own_scope(reader, address);
    *nonce = get(bytes + AT_NONCE, 8);
    return MUSTER_OK;
}
