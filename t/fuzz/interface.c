/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: the grammar by which a user chooses an interface. The first byte is the family.
 */
#include "net/interface.h"

#include <stdlib.h>

#include "fuzz.h"

static const interface_address machine[] = {
    {"lo", "127.0.0.1", AF_INET, true, true, 24},
    {"lo", "::1", AF_INET6, true, true, 24},
    {"eth0", "10.9.0.7", AF_INET, false, true, 24},
    {"eth0", "fe80::42:1%eth0", AF_INET6, false, true, 24},
    {"eth1", "192.0.2.9", AF_INET, false, false, 24},
    {"eth10", "2001:db8::9", AF_INET6, false, true, 24},
    {"ib0", "::ffff:10.10.0.1", AF_INET6, false, true, 24},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int families[] = {AF_UNSPEC, AF_INET, AF_INET6};
    fuzz_bytes input = {data, size};
    int family = families[fuzz_byte(&input) % 3];
    char *grammar = fuzz_text(input.data, input.size);
    interface_address chosen;
    interface_number number;
    if (interface_match(grammar, family, machine, sizeof(machine) / sizeof(*machine), &chosen) ==
        MUSTER_OK) {
        fuzz_hold(chosen.up, "what is chosen is up");
        fuzz_hold(interface_parse_number(chosen.address, &number), "its address can be read");
        fuzz_hold(family == AF_UNSPEC || chosen.family == family,
                  "it is of the family that was asked for");
    }
    if (interface_parse_number(grammar, &number))
        fuzz_hold(number.family == AF_INET || number.family == AF_INET6, "a number has a family");
    free(grammar);
    return 0;
}
