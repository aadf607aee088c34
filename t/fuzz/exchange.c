/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what a rank finds in the store when ranks meet: the words that all must say, the
 * gate of a round, how many have come, and what two others have published. Each begins with a byte
 * for its size.
 */
#include "group/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "net/url.h"

enum { RANKS = 3 };

static const char *const keys[] = {"meeting/0/plan", "meeting/0/gate", "meeting/0/n", "meeting/0/1",
                                   "meeting/0/2"};

static muster_store *filled_store(fuzz_bytes input)
{
    muster_store *store = NULL;
    fuzz_hold(muster_store_hash(&store) == MUSTER_OK, "there is memory");
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        fuzz_bytes value = fuzz_take(&input, fuzz_byte(&input));
        fuzz_hold(muster_store_set(store, muster_str(keys[i]),
                                   (muster_blob){value.data, value.size}) == MUSTER_OK,
                  "a store takes a value");
    }
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    exchange meeting;
    const muster_blob *all = NULL;
    size_t bytes = 0;
    muster_store *store = filled_store((fuzz_bytes){data, size});
    fuzz_hold(exchange_init(&meeting, store, "meeting", 0, RANKS, 100, deadline_in(100)) ==
                  MUSTER_OK,
              "there is memory");
    muster_status status = exchange_agree(&meeting, "a plan\nrank 0");
    if (status == MUSTER_OK)
        status = exchange_hear(&meeting);
    if (status == MUSTER_OK)
        status = exchange_round(&meeting, muster_str("mine"), false, NULL, 0, "to come", &all);
    for (int r = 0; status == MUSTER_OK && r < RANKS; r++)
        bytes += all[r].size;
    fuzz_hold(status != MUSTER_OK || bytes <= size + strlen("mine"), "what came was published");
    fuzz_hold(meeting.most >= RANKS && meeting.most <= URL_MAX_WORLD,
              "no more ranks than a world can have");
    exchange_clean(&meeting, exchange_settle(&meeting, status));
    exchange_destroy(&meeting);
    muster_store_free(store);
    return 0;
}
