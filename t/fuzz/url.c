/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: an init_method.
 */
#include "net/url.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    url parsed;
    if (url_parse(text, &parsed) == MUSTER_OK) {
        fuzz_hold(parsed.kind != URL_TCP ||
                      (parsed.port >= 1 && parsed.port <= 65535 &&
                       memchr(parsed.host, '\0', sizeof(parsed.host)) && parsed.host[0] != '\0'),
                  "a tcp URL has a host and a port");
        fuzz_hold(parsed.kind != URL_FILE ||
                      (parsed.path[0] == '/' && memchr(parsed.path, '\0', sizeof(parsed.path))),
                  "the path of a file URL is absolute");
        fuzz_hold(parsed.rank >= -1 && parsed.world_size >= -1 &&
                      parsed.world_size <= URL_MAX_WORLD && parsed.world_size != 0,
                  "rank and world size are in their ranges");
    }
    free(text);
    return 0;
}
