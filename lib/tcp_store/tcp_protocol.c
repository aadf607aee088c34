/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of torch's TCPStore.
 */
#include "tcp_store/tcp_protocol.h"

static const struct {
    const char *name;
    const char *arguments;
    unsigned char number[PROTOCOL_NUM_FAMILIES];
} queries[PROTOCOL_NUM_QUERIES] = {
#define PROTOCOL_QUERY_ROW(name, in_1_13, in_2_1, in_2_2, arguments)                               \
    {#name, arguments, {in_1_13, in_2_1, in_2_2}},
    PROTOCOL_QUERY_MAP(PROTOCOL_QUERY_ROW)
#undef PROTOCOL_QUERY_ROW
};

const char *protocol_family_name(protocol_family family)
{
    static const char *const names[] = {"torch up to 2.0", "torch 2.1", "torch since 2.2"};
    return names[family];
}

const char *protocol_query_name(protocol_query query)
{
    return queries[query].name;
}

bool protocol_has(protocol_family family, protocol_query query)
{
    return queries[query].number[family] != PROTOCOL_NONE;
}

protocol_query protocol_query_of(protocol_family family, unsigned char number)
{
    int query = number == PROTOCOL_NONE ? PROTOCOL_NUM_QUERIES : 0;
    while (query < PROTOCOL_NUM_QUERIES && queries[query].number[family] != number)
        query++;
    return (protocol_query)query;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void put_integer(buffer *message, uint64_t value, int bytes)
{
    unsigned char wire[8];
    for (int i = 0; i < bytes; i++)
        wire[i] = (unsigned char)(value >> 8 * i);
    buffer_append(message, wire, (size_t)bytes);
}

void protocol_put_query(buffer *message, protocol_family family, protocol_query query)
{
    put_integer(message, queries[query].number[family], 1);
}

void protocol_put_u8(buffer *message, uint8_t value)
{
    put_integer(message, value, 1);
}

void protocol_put_u32(buffer *message, uint32_t value)
{
    put_integer(message, value, 4);
}

void protocol_put_u64(buffer *message, uint64_t value)
{
    put_integer(message, value, 8);
}

void protocol_put_bytes(buffer *message, muster_blob bytes)
{
    protocol_put_u64(message, bytes.size);
    buffer_append(message, bytes.data, bytes.size);
}

void protocol_put_key(buffer *message, muster_blob key)
{
    protocol_put_u64(message, key.size + 1);
    buffer_append(message, "/", 1);
    buffer_append(message, key.data, key.size);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static uint64_t integer_at(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

uint32_t protocol_get_u32(protocol_reader *reader)
{
    uint32_t value = (uint32_t)integer_at(reader->at, 4);
    reader->at += 4;
    return value;
}

uint64_t protocol_get_u64(protocol_reader *reader)
{
    uint64_t value = integer_at(reader->at, 8);
    reader->at += 8;
    return value;
}

muster_blob protocol_get_bytes(protocol_reader *reader)
{
    size_t size = (size_t)protocol_get_u64(reader);
    muster_blob bytes = {reader->at, size};
    reader->at += size;
    return bytes;
}

/* The size of the argument at data, of which so many bytes are there. */
static protocol_found scan_argument(protocol_scan *scan, const unsigned char *data, size_t size,
                                    size_t *taken)
{
    char kind = *scan->next;
    *taken = kind == '4' ? 4 : 8;
    if (size < *taken)
        return PROTOCOL_MORE;
    if (kind == '4' || kind == '8')
        return PROTOCOL_WHOLE;
    uint64_t length = integer_at(data, 8);
    if (kind == '*') {
        scan->item = scan->next + 1;
        scan->items_left = length;
        return length > PROTOCOL_MAX_KEYS ? PROTOCOL_BAD : PROTOCOL_WHOLE;
    }
    if (length > (kind == 'k' ? PROTOCOL_MAX_KEY : PROTOCOL_MAX_VALUE))
        return PROTOCOL_BAD;
    *taken += (size_t)length;
    return size < *taken ? PROTOCOL_MORE : PROTOCOL_WHOLE;
}

/* Moves on behind the last argument of an item; true when there is nothing more to come. */
static bool scan_ended(protocol_scan *scan)
{
    bool empty_list = scan->item != NULL && scan->next == scan->item && scan->items_left == 0;
    if (*scan->next != '\0' && !empty_list)
        return false;
    if (scan->items_left <= 1)
        return true;
    scan->items_left--;
    scan->next = scan->item;
    return false;
}

protocol_found protocol_scan_query(protocol_scan *scan, protocol_family family,
                                   const unsigned char *data, size_t size)
{
    if (scan->next == NULL) {
        if (size == 0)
            return PROTOCOL_MORE;
        protocol_query query = protocol_query_of(family, data[0]);
        if (query == PROTOCOL_NUM_QUERIES)
            return PROTOCOL_BAD;
        scan->next = queries[query].arguments;
        scan->scanned = 1;
    }
    while (!scan_ended(scan)) {
        size_t taken;
        protocol_found found =
            scan_argument(scan, data + scan->scanned, size - scan->scanned, &taken);
        if (scan->scanned + taken > PROTOCOL_MAX_MESSAGE)
            return PROTOCOL_BAD;
        if (found != PROTOCOL_WHOLE)
            return found;
        scan->scanned += taken;
        scan->next++;
    }
    return PROTOCOL_WHOLE;
}
