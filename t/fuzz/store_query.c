/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: where a query to a tcp store ends. The first byte is the family, the second how many
 * bytes come at a time.
 */
#include "fuzz.h"
#include "tcp_store/tcp_protocol.h"

/* All at once, and in portions. */
static protocol_found scan_all(protocol_family family, fuzz_bytes input, size_t portion,
                               protocol_scan *scan)
{
    protocol_found found = PROTOCOL_MORE;
    *scan = (protocol_scan){0};
    for (size_t there = 0; found == PROTOCOL_MORE && there < input.size;) {
        there = portion < input.size - there ? there + portion : input.size;
        found = protocol_scan_query(scan, family, input.data, there);
        fuzz_hold(scan->scanned <= there, "a scan stays in what is there");
    }
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    protocol_family family = (protocol_family)(fuzz_byte(&input) % PROTOCOL_NUM_FAMILIES);
    size_t portion = (size_t)fuzz_byte(&input) + 1;
    protocol_scan whole, parts;
    protocol_found found = scan_all(family, input, SIZE_MAX, &whole);
    fuzz_hold(scan_all(family, input, portion, &parts) == found,
              "how the bytes come changes nothing");
    fuzz_hold(found != PROTOCOL_WHOLE || whole.scanned == parts.scanned,
              "a query ends in one place");
    if (found == PROTOCOL_WHOLE)
        fuzz_hold(protocol_has(family, protocol_query_of(family, input.data[0])),
                  "a whole query is one of the family");
    return 0;
}
