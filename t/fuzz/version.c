/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: versions, three of them on a line each, and the order they are in.
 */
#include "base/version.h"

#include <stdlib.h>

#include "fuzz.h"

enum { VERSIONS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    version read[VERSIONS];
    bool all = true;
    for (int i = 0; i < VERSIONS; i++) {
        char *text = fuzz_line(&input);
        bool good = version_read(text, &read[i]);
        fuzz_hold(good == (version_parse(text, &read[i]) == MUSTER_OK),
                  "both ways to read a version agree on what is one");
        all = all && good;
        free(text);
    }
    if (!all)
        return 0;
    const version *a = &read[0], *b = &read[1], *c = &read[2];
    fuzz_hold(version_order(a, a) == 0, "a version is as old as itself");
    fuzz_hold((version_order(a, b) < 0) == (version_order(b, a) > 0), "the order has two sides");
    fuzz_hold(!(version_order(a, b) <= 0 && version_order(b, c) <= 0) || version_order(a, c) <= 0,
              "the order of three is that of two and two");
    return 0;
}
