/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what another rank of the host writes into the ring of letters that the two share,
 * while this one sends and receives. The first byte says how big messages are copied; then come
 * steps, a byte for the kind of each.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "carry.h"
#include "fuzz.h"
#include "inbound.h"
#include "queue.h"

enum { RANKS = 2, SLOTS = 4, RING_BYTES = 2048, MOST_REQUESTS = 32, MOST_BYTES = 5000 };

typedef struct scene {
    muster_comm comm;
    ring far_out, far_in; /* the other rank's ends */
    muster_request *requests[MOST_REQUESTS];
    int count;
} scene;

static const uint16_t sizes[] = {0, 1, 7, 300, 480, 600, 2000, MOST_BYTES};
static unsigned char source[MOST_BYTES];

static size_t take_size(fuzz_bytes *input)
{
    return sizes[fuzz_byte(input) % (sizeof(sizes) / sizeof(*sizes))];
}

static void set_up(scene *all, uint8_t mode)
{
    static segment memory;
    static comm_peer peers[RANKS];
    muster_comm *comm = &all->comm;
    if (memory.base == NULL) {
        memory = segment_measure(RANKS);
        memory.ring_bytes = RING_BYTES;
        memory.base = aligned_alloc(4096, memory.bytes);
        fuzz_hold(memory.base != NULL, "there is memory");
    }
    memset(memory.base, 0, (size_t)((unsigned char *)segment_at_hall(&memory) - memory.base));
    memset(peers, 0, sizeof(peers));
    *comm = (muster_comm){.size = RANKS, .memory = memory, .peers = peers};
    comm->cores_for_all = mode & 1;
    peers[1].direct = mode & 2;
    peers[1].process = process_self();
    peers[1].out = all->far_in = ring_of(&memory, 0, 1);
    peers[1].in = all->far_out = ring_of(&memory, 1, 0);
    pthread_mutex_init(&comm->lock, NULL);
    pthread_cond_init(&comm->settled, NULL);
    local_host = &host_functions;
}

/* What the other rank may write in good order, or nearly. */
static void write_letter(scene *all, fuzz_bytes *input)
{
    letter what = {.kind = (letter_kind)(fuzz_byte(input) % 8), .ticket = fuzz_byte(input)};
    what.slot = fuzz_byte(input) % SLOTS;
    what.size = take_size(input);
    what.inside = what.kind == LETTER_WHOLE ? (uint32_t)what.size : fuzz_byte(input) * 2U;
    what.address = fuzz_byte(input);
    if (what.kind == LETTER_OFFER || (what.kind == LETTER_REPLY && what.address < 128))
        what.address = (uint64_t)(uintptr_t)source;
    if (what.inside <= ring_most(&all->far_out))
        ring_put(&all->far_out, &what, source);
}

/* Any bytes where a letter would be. */
static void write_anything(scene *all, fuzz_bytes *input)
{
    ring *to = &all->far_out;
    fuzz_bytes bytes = fuzz_take(input, RING_LETTER);
    if (bytes.size > 0)
        memcpy(to->shared->bytes + (to->at & (to->bytes - 1)), bytes.data, bytes.size);
}

/* The other rank answers offers, and says what it has received. */
static void write_words(scene *all, fuzz_bytes *input)
{
    segment_ring *shared = all->comm.peers[1].out.shared;
    atomic_fetch_or(&shared->done, UINT64_C(1) << fuzz_byte(input) % 64);
    atomic_fetch_or(&shared->go, UINT64_C(1) << fuzz_byte(input) % 64);
    atomic_fetch_add(&shared->matched, fuzz_byte(input) * 1000U);
}

static void read_letters(scene *all)
{
    static unsigned char inside[RING_BYTES];
    for (letter what; ring_look(&all->far_in, &what);) {
        fuzz_hold(what.kind != 0, "what this rank writes makes sense");
        ring_take(&all->far_in, &what, inside);
    }
}

static muster_status post(scene *all, fuzz_bytes *input, bool send)
{
    muster_request *request = calloc(1, sizeof(*request));
    if (request == NULL || all->count == MOST_REQUESTS) {
        free(request);
        return MUSTER_OK;
    }
    *request = (muster_request){.peer = 1, .send = send, .slot = fuzz_byte(input) % SLOTS};
    request->size = take_size(input);
    request->data = calloc(1, request->size > 0 ? request->size : 1);
    all->requests[all->count++] = request;
    return carry_begin(&all->comm, request);
}

static muster_status step(scene *all, fuzz_bytes *input)
{
    switch (fuzz_byte(input) % 6) {
    case 0:
        write_letter(all, input);
        break;
    case 1:
        write_anything(all, input);
        break;
    case 2:
        write_words(all, input);
        break;
    case 3:
        read_letters(all);
        break;
    default:
        return post(all, input, fuzz_byte(input) % 2);
    }
    return MUSTER_OK;
}

static void hold(const scene *all)
{
    int open = 0;
    for (int i = 0; i < all->count; i++) {
        const muster_request *request = all->requests[i];
        open += request->state != REQUEST_DONE ? 1 : 0;
        fuzz_hold(request->state != REQUEST_DONE || request->in == NULL,
                  "what is done stands in no queue");
        fuzz_hold(request->moved <= request->size, "no more moves than there is");
    }
    fuzz_hold(all->comm.peers[1].interest == open, "those that are not done are counted");
}

static void tear_down(scene *all)
{
    for (int i = 0; i < all->count; i++) {
        carry_drop(&all->comm, all->requests[i]);
        free(all->requests[i]->data);
        free(all->requests[i]);
    }
    fuzz_hold(all->comm.newest == NULL, "all requests are dropped");
    carry_free(&all->comm);
    pthread_mutex_destroy(&all->comm.lock);
    pthread_cond_destroy(&all->comm.settled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    scene all = {.count = 0};
    set_up(&all, fuzz_byte(&input));
    pthread_mutex_lock(&all.comm.lock);
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK && input.size > 0) {
        status = step(&all, &input);
        if (status == MUSTER_OK)
            status = carry_all(&all.comm);
        for (int i = 0; status == MUSTER_OK && i < 4 && carry_pull(&all.comm); i++)
            continue;
        if (status == MUSTER_OK)
            hold(&all);
    }
    pthread_mutex_unlock(&all.comm.lock);
    tear_down(&all);
    return 0;
}
