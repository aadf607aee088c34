/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what ranks of a host tell each other before they share memory. The first byte says
 * how many they are; the bytes are laid over cards that are in order, a byte with the place in
 * front of each, and then the memory that the first card tells of is looked for.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/host.h"
#include "card.h"
#include "comm.h"
#include "fuzz.h"
#include "segment.h"

enum { MOST_RANKS = 3 };

/* One of this process, that the others may find. */
static void make_memory(card *first, segment *made, int *fd)
{
    fuzz_hold(segment_make(made, fd) == MUSTER_OK, "there is memory to share");
    memcpy(segment_at_head(made)->nonce, first->nonce, CARD_NONCE);
    first->segment = *fd;
    first->bytes = made->bytes;
}

static void lay_over(card *cards, int count, fuzz_bytes input)
{
    unsigned char *bytes = (unsigned char *)cards;
    size_t size = (size_t)count * sizeof(*cards);
    while (input.size >= 3) {
        size_t at = (size_t)fuzz_byte(&input) << 8;
        at |= fuzz_byte(&input);
        bytes[at % size] = fuzz_byte(&input);
    }
}

static void find_memory(const card *first, int size)
{
    segment found = segment_measure(size);
    if (segment_find(&found, first, 1) != MUSTER_OK)
        return;
    fuzz_hold(memcmp(segment_at_head(&found)->nonce, first->nonce, CARD_NONCE) == 0,
              "the memory that is found is that of the card");
    segment_unmap(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    int count = 2 + fuzz_byte(&input) % (MOST_RANKS - 1), fd = -1;
    card cards[MOST_RANKS], *read = NULL;
    muster_blob blobs[MOST_RANKS];
    segment shared = segment_measure(count);
    local_host = &host_functions;
    for (int r = 0; r < count; r++)
        fuzz_hold(card_fill(&cards[r], r, count) == MUSTER_OK, "a card can be filled");
    make_memory(&cards[0], &shared, &fd);
    lay_over(cards, count, input);
    for (int r = 0; r < count; r++)
        blobs[r] = (muster_blob){&cards[r], sizeof(*cards) - (r == 1 && size % 64 == 63)};
    if (card_read_all(blobs, count, &read) == MUSTER_OK) {
        fuzz_hold(read[0].rank == 0 && read[count - 1].rank == count - 1, "cards are in order");
        find_memory(&read[0], count);
        free(read);
    }
    segment_unmap(&shared);
    close(fd);
    return 0;
}
