/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of devices, and pinned memory, that was got from CUDA.
 */
#include "config.h"

#include "memory_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "nccl_api.h"

typedef enum piece_state {
    PIECE_USED,
    PIECE_FREE,
    PIECE_ASIDE, /* as good as used, until the device is idle */
    PIECE_LEAVES /* a thread gives it back */
} piece_state;

typedef struct piece {
    struct piece *next;
    int device;
    bool pinned;
    size_t size;
    void *memory;
    piece_state state;
} piece;

static struct {
    pthread_mutex_t lock;
    piece *pieces;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

/* The pieces are the parent's. They are kept, since there is no saying what was being changed. */
static void pool_after_fork(void)
{
    pthread_mutex_init(&pool.lock, NULL);
}

static void pool_prepare(void)
{
    pthread_atfork(NULL, NULL, pool_after_fork);
}

static void pool_enter(void)
{
    pthread_once(&pool_once, pool_prepare);
    pthread_mutex_lock(&pool.lock);
}

static void pool_leave(void)
{
    pthread_mutex_unlock(&pool.lock);
}

void *memory_pool_take(int device, bool pinned, size_t size)
{
    enum { TIMES = 4 };
    piece *best = NULL;
    pool_enter();
    for (piece *one = pool.pieces; one != NULL; one = one->next)
        if (one->state == PIECE_FREE && one->device == device && one->pinned == pinned &&
            one->size >= size && one->size / TIMES <= size &&
            (best == NULL || one->size < best->size))
            best = one;
    if (best != NULL)
        best->state = PIECE_USED;
    void *memory = best != NULL ? best->memory : NULL;
    pool_leave();
    return memory;
}

bool memory_pool_note(int device, bool pinned, size_t size, void *memory)
{
    piece *made = malloc(sizeof(*made));
    if (made == NULL)
        return false;
    pool_enter();
    *made = (piece){pool.pieces, device, pinned, size, memory, PIECE_USED};
    pool.pieces = made;
    pool_leave();
    return true;
}

void memory_pool_give(void *memory, bool sound)
{
    pool_enter();
    for (piece *one = pool.pieces; one != NULL; one = one->next)
        if (one->memory == memory && one->state == PIECE_USED)
            one->state = sound ? PIECE_FREE : PIECE_ASIDE;
    pool_leave();
}

/* ---- giving back ---- */

/* One that is to be given back; NULL: none, or another thread is at one. */
static piece *begin_to_drop(int device)
{
    piece *found = NULL;
    bool busy = false;
    pool_enter();
    for (piece *one = pool.pieces; one != NULL; one = one->next) {
        if (one->device != device)
            continue;
        busy = busy || one->state == PIECE_LEAVES;
        if (one->state == PIECE_FREE || one->state == PIECE_ASIDE)
            found = one;
    }
    if (busy)
        found = NULL;
    else if (found != NULL)
        found->state = PIECE_LEAVES;
    pool_leave();
    return found;
}

static void take_out(const piece *gone)
{
    pool_enter();
    piece **at = &pool.pieces;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    pool_leave();
}

void memory_pool_trim(const cuda_api *cuda, int device)
{
    for (piece *one = begin_to_drop(device); one != NULL; one = begin_to_drop(device)) {
        cuda_error error = one->pinned ? cuda->free_host(one->memory) : cuda->free(one->memory);
        if (error != CUDA_OK) {
            cuda->get_last_error();
            nccl_host->log(MUSTER_LOG_WARNING,
                           "%zu bytes of device %d can't be given back: %s (%s)", one->size, device,
                           cuda->get_error_string(error), cuda->get_error_name(error));
        }
        take_out(one);
        free(one);
    }
}
