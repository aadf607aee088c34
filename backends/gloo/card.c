/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks exchange before they connect.
 */
#include "card.h"

#include <netinet/in.h>
#include <string.h>

#include "comm.h"

/* magic 4, byte order 1, family 1, format 1, spare 1, rank 4, size 4, port 2, spare 2, address 16,
 * secret 16 */
enum {
    AT_ORDER = 4,
    AT_FAMILY = 5,
    AT_FORMAT = 6,
    AT_RANK = 8,
    AT_SIZE = 12,
    AT_PORT = 16,
    AT_ADDRESS = 20,
    AT_SECRET = 36
};

static const char magic[4] = {'M', 'G', 'l', 'o'};
enum { FORMAT = 2 };

static void put(uint8_t *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static uint32_t get(const uint8_t *at, int bytes)
{
    uint32_t value = 0;
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

static char family(const struct card *card)
{
    return card->address.ss_family == AF_INET ? '4' : '6';
}

void card_write(const struct card *card, uint8_t bytes[CARD_SIZE])
{
    const void *address = &card->address;
    const struct sockaddr_in *v4 = address;
    const struct sockaddr_in6 *v6 = address;
    memset(bytes, 0, CARD_SIZE);
    memcpy(bytes, magic, sizeof(magic));
    bytes[AT_ORDER] = (uint8_t)byte_order();
    bytes[AT_FAMILY] = (uint8_t)family(card);
    bytes[AT_FORMAT] = FORMAT;
    put(bytes + AT_RANK, (uint32_t)card->rank, 4);
    put(bytes + AT_SIZE, (uint32_t)card->size, 4);
    put(bytes + AT_PORT, ntohs(family(card) == '4' ? v4->sin_port : v6->sin6_port), 2);
    if (family(card) == '4')
        memcpy(bytes + AT_ADDRESS, &v4->sin_addr, sizeof(v4->sin_addr));
    else
        memcpy(bytes + AT_ADDRESS, &v6->sin6_addr, sizeof(v6->sin6_addr));
    memcpy(bytes + AT_SECRET, card->secret, SECRET_SIZE);
}

static muster_status bad_card(int writer, const char *what)
{
    return gloo_host->error(MUSTER_ERR_PROTOCOL,
                            "what rank %d published is not understood (%s); all ranks need the "
                            "same version of muster",
                            writer, what);
}

static muster_status card_check(const struct card *reader, int writer, muster_blob blob)
{
    const uint8_t *at = blob.data;
    if (blob.size != CARD_SIZE)
        return bad_card(writer, "its length is wrong");
    if (memcmp(at, magic, sizeof(magic)) != 0 || at[AT_FORMAT] != FORMAT)
        return bad_card(writer, "its first bytes differ");
    if (at[AT_FAMILY] != family(reader))
        return gloo_host->error(MUSTER_ERR_MISMATCH,
                                "rank %d uses an IPv%c address and rank %d an IPv%c address; set "
                                "gloo.iface or gloo.hostname so that all use the same kind",
                                reader->rank, family(reader), writer, at[AT_FAMILY]);
    if (at[AT_ORDER] != byte_order())
        return gloo_host->error(MUSTER_ERR_MISMATCH,
                                "ranks %d and %d run on processors of different byte order, which "
                                "Gloo does not support",
                                reader->rank, writer);
    if (get(at + AT_RANK, 4) != (uint32_t)writer || get(at + AT_SIZE, 4) != (uint32_t)reader->size)
        return gloo_host->error(
            MUSTER_ERR_MISMATCH, "rank %d of %d published itself as rank %u of %u", writer,
            reader->size, (unsigned)get(at + AT_RANK, 4), (unsigned)get(at + AT_SIZE, 4));
    return MUSTER_OK;
}

muster_status card_read(const struct card *reader, int writer, muster_blob blob, struct card *card)
{
    muster_status status = card_check(reader, writer, blob);
    if (status != MUSTER_OK)
        return status;
    const uint8_t *at = blob.data;
    void *address = &card->address;
    struct sockaddr_in *v4 = address;
    struct sockaddr_in6 *v6 = address;
    /* The reader's own, for the scope that an IPv6 address may need, which is the reader's. */
    *card = *reader;
    card->rank = writer;
    if (family(reader) == '4') {
        v4->sin_port = htons((uint16_t)get(at + AT_PORT, 2));
        memcpy(&v4->sin_addr, at + AT_ADDRESS, sizeof(v4->sin_addr));
    } else {
        v6->sin6_port = htons((uint16_t)get(at + AT_PORT, 2));
        memcpy(&v6->sin6_addr, at + AT_ADDRESS, sizeof(v6->sin6_addr));
    }
    memcpy(card->secret, at + AT_SECRET, SECRET_SIZE);
    return MUSTER_OK;
}
