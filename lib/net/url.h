/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading an init_method: env://, tcp://host:port, file:///path, each with ?rank=R&world_size=N.
 *
 * Stricter than torch, which drops what it does not understand: the host of env:// and file://, a
 * path behind tcp://host:port, a second '=' in the query. Here each of these is an error.
 */
#ifndef MUSTER_LIB_URL_H
#define MUSTER_LIB_URL_H

#include "muster.h"

/* The largest world: as many keys as one call to a store takes. */
enum { URL_MAX_WORLD = 131072, URL_MAX_LENGTH = 4095 };

typedef enum url_kind { URL_ENV, URL_TCP, URL_FILE } url_kind;

typedef struct url {
    url_kind kind;
    char host[256];                /* tcp: a name or a numeric address, without brackets */
    int port;                      /* tcp: 1 to 65535 */
    char path[URL_MAX_LENGTH + 1]; /* file: absolute, decoded */
    int rank;                      /* -1 where the query has none */
    int world_size;                /* the same */
} url;

/* MUSTER_ERR_ARGUMENT with a sentence that quotes text and says what was expected. */
muster_status url_parse(const char *text, url *parsed);

/* Reads a decimal number from low to high and nothing else: no sign, no blank, no other base. */
bool url_parse_number(const char *text, int low, int high, int *number);

#endif
