/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Claiming a rank of a named group: generations of a name, and who holds which place.
 */
#include "config.h"

#include "group/claim.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "net/host_identity.h"
#include "base/log.h"
#include "group/lookout.h"
#include "group/roster.h"
#include "store/store.h"

#define NAMES_PREFIX "muster/"

/* How long a generation that has failed is kept for ranks that come late, and how often is looked
 * whether it still is. */
enum { LINGER_MS = 1000, LINGER_NAP_MS = 20 };

/* The state of a name as read from the store. */
typedef struct name_state {
    char text[40]; /* as it stands, "" where the key is missing */
    long long generation;
    bool open;
} name_state;

static char *state_key(const claim *place)
{
    char *key = NULL;
    return asprintf(&key, "%s/state", place->name) < 0 ? NULL : key;
}

static char *generation_key(const claim *place, const char *what)
{
    char *key = NULL;
    return asprintf(&key, "%s/%lld/%s", place->name, place->generation, what) < 0 ? NULL : key;
}

char *claim_prefix(const claim *place)
{
    char *key = NULL;
    return asprintf(&key, "%s/%lld", place->name, place->generation) < 0 ? NULL : key;
}

static muster_status parse_state(const claim *place, name_state *state)
{
    if (state->text[0] == '\0')
        return MUSTER_OK;
    int used = 0;
    bool number = sscanf(state->text, "%lld%n", &state->generation, &used) == 1;
    const char *rest = state->text + used;
    state->open = strcmp(rest, " open") == 0;
    if (number && state->generation >= 0 && state->generation < LLONG_MAX &&
        (*rest == '\0' || state->open))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_PROTOCOL, "%s holds '%s' under %s/state, which muster never wrote",
                     store_describe(place->store), state->text, place->name);
}

/* A missing key reads as "". */
static muster_status read_state(const claim *place, name_state *state)
{
    *state = (name_state){0};
    char *key = state_key(place);
    if (key == NULL)
        return error_no_memory(strlen(place->name), "a key");
    muster_blob keys = muster_str(key);
    bool there = false;
    void *value = NULL;
    size_t size = 0;
    muster_status status = muster_store_check(place->store, &keys, 1, &there);
    if (status == MUSTER_OK && there)
        status = muster_store_get(place->store, keys, 0, &value, &size);
    if (status == MUSTER_ERR_TIMEOUT) /* removed in between */
        status = MUSTER_OK;
    if (status == MUSTER_OK && size >= sizeof(state->text))
        status = error_set(MUSTER_ERR_PROTOCOL, "%s holds %zu bytes under %s/state",
                           store_describe(place->store), size, place->name);
    if (status == MUSTER_OK && value != NULL)
        memcpy(state->text, value, size);
    muster_free(value);
    free(key);
    return status == MUSTER_OK ? parse_state(place, state) : status;
}

/* Changes the state unless somebody else has done so first. */
static muster_status change_state(const claim *place, const char *from, const char *to)
{
    char *key = state_key(place);
    if (key == NULL)
        return error_no_memory(strlen(place->name), "a key");
    void *value = NULL;
    size_t size = 0;
    muster_status status = muster_store_compare_set(place->store, muster_str(key), muster_str(from),
                                                    muster_str(to), &value, &size);
    muster_free(value);
    free(key);
    return status;
}

static muster_status next_generation(const claim *place, const name_state *state)
{
    char next[32];
    snprintf(next, sizeof(next), "%lld", state->generation + 1);
    return change_state(place, state->text, next);
}

/* Who holds our place in the generation: *gone tells whether it may be passed over. */
static muster_status read_holder(const claim *place, muster_blob text, char *who, size_t size,
                                 bool *gone)
{
    rank_record holder;
    muster_status status = rank_record_read(&holder, text);
    if (status != MUSTER_OK)
        return status;
    snprintf(who, size, "the process %lld on host %s", holder.pid, holder.host);
    *gone = lookout_gone(&holder);
    rank_record_clear(&holder);
    if (*gone)
        log_line(MUSTER_LOG_INFO, "rank %d of %s was held by %s, which is gone", place->rank,
                 place->name, who);
    return MUSTER_OK;
}

/* The name is open: wait a moment for its last ranks to leave, or learn that ours will not. */
static muster_status wait_until_closed(claim *place, const name_state *state, deadline end,
                                       int64_t timeout_ms, int64_t *pause_ms)
{
    char rank[24], who[320] = "";
    place->generation = state->generation;
    snprintf(rank, sizeof(rank), "0/%d", place->rank);
    char *key = generation_key(place, rank);
    if (key == NULL)
        return error_no_memory(strlen(place->name), "a key");
    void *value = NULL;
    size_t size = 0;
    bool gone = false;
    muster_status status = muster_store_get(place->store, muster_str(key), 0, &value, &size);
    bool held = status == MUSTER_OK;
    if (held)
        status = read_holder(place, (muster_blob){value, size}, who, sizeof(who), &gone);
    else if (status == MUSTER_ERR_TIMEOUT)
        status = MUSTER_OK;
    muster_free(value);
    free(key);
    if (status == MUSTER_OK && gone)
        return next_generation(place, state);
    if (status == MUSTER_OK && held)
        return error_set(
            MUSTER_ERR_EXISTS,
            "rank %d is held by %s, where the group is still open; free it there first, "
            "or give the new group another name",
            place->rank, who);
    if (status == MUSTER_OK && deadline_left_ms(end) == 0)
        return error_set(MUSTER_ERR_TIMEOUT,
                         "timed out after %lld ms waiting for the other ranks to free the earlier "
                         "group of this name",
                         (long long)timeout_ms);
    struct timespec nap = {0, (long)(*pause_ms * 1000000)};
    nanosleep(&nap, NULL);
    *pause_ms = *pause_ms < 32 ? *pause_ms * 2 : 50;
    return status;
}

/* Our place is held by a living process: nobody can go on, and everybody learns why. */
static muster_status shut_out(const claim *place, const char *who, exchange *meeting)
{
    host_identity me;
    muster_status status = host_identity_get(&me);
    if (status != MUSTER_OK)
        return status;
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence),
             "rank %d of %d is claimed twice: by %s and by the process %lld on host %s; give each "
             "process a rank of its own",
             place->rank, place->num_ranks, who, (long long)me.pid, me.host_name);
    exchange_shut(meeting, MUSTER_ERR_EXISTS, sentence);
    return error_set(MUSTER_ERR_EXISTS, "%s", sentence);
}

/* One try to claim our place in the generation that state says is forming. *taken tells whether we
 * have it; not taken and MUSTER_OK: look at the state again. */
static muster_status try_place(claim *place, const name_state *state, const char *record,
                               exchange *meeting, bool *taken)
{
    char *key = exchange_key(meeting, 0, place->rank);
    if (key == NULL)
        return error_no_memory(strlen(place->name), "a key");
    void *value = NULL;
    size_t size = 0;
    muster_status status = muster_store_compare_set(place->store, muster_str(key), muster_str(""),
                                                    muster_str(record), &value, &size);
    free(key);
    if (status != MUSTER_OK)
        return status;
    char who[320];
    bool gone = false;
    *taken = size == strlen(record) && memcmp(value, record, size) == 0;
    if (!*taken)
        status = read_holder(place, (muster_blob){value, size}, who, sizeof(who), &gone);
    muster_free(value);
    if (*taken || status != MUSTER_OK)
        return status;
    if (gone) {
        exchange_void(meeting);
        return next_generation(place, state);
    }
    return shut_out(place, who, meeting);
}

static muster_status open_meeting(const claim *place, int64_t timeout_ms, deadline end,
                                  exchange *meeting)
{
    char *prefix = claim_prefix(place);
    if (prefix == NULL)
        return error_no_memory(strlen(place->name), "a key");
    muster_status status = exchange_init(meeting, place->store, prefix, place->rank,
                                         place->num_ranks, timeout_ms, end);
    meeting->keep_rounds = 1;
    free(prefix);
    return status;
}

muster_status claim_take(claim *place, muster_store *store, const char *name, const char *record,
                         int rank, int num_ranks, int64_t timeout_ms, deadline end,
                         exchange *meeting)
{
    *place = (claim){.store = store_retain(store), .rank = rank, .num_ranks = num_ranks};
    if (asprintf(&place->name, NAMES_PREFIX "%s", name) < 0) {
        place->name = NULL;
        claim_clear(place);
        return error_no_memory(strlen(name), "a key");
    }
    bool taken = false;
    int64_t pause_ms = 1;
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK && !taken) {
        name_state state;
        status = read_state(place, &state);
        if (status != MUSTER_OK)
            break;
        if (state.open) {
            status = wait_until_closed(place, &state, end, timeout_ms, &pause_ms);
            continue;
        }
        place->generation = state.generation;
        status = open_meeting(place, timeout_ms, end, meeting);
        if (status == MUSTER_OK)
            status = try_place(place, &state, record, meeting, &taken);
        if (!taken)
            exchange_destroy(meeting);
    }
    if (status != MUSTER_OK)
        claim_clear(place);
    return status;
}

/* What the state reads while this generation is being formed. */
static const char *forming_text(const claim *place, char *text, size_t size)
{
    snprintf(text, size, "%lld", place->generation);
    return text;
}

muster_status claim_formed(claim *place)
{
    char from[32], to[40];
    snprintf(to, sizeof(to), "%lld open", place->generation);
    muster_status status = change_state(place, forming_text(place, from, sizeof(from)), to);
    if (status == MUSTER_OK && place->generation == 0)
        status = change_state(place, "", to);
    return status;
}

static void remove_key(const claim *place, char *key)
{
    if (key != NULL)
        muster_store_delete(place->store, muster_str(key), NULL);
    free(key);
}

void claim_leave(claim *place)
{
    char rank[24], open[40], forming[32];
    snprintf(rank, sizeof(rank), "0/%d", place->rank);
    remove_key(place, generation_key(place, rank));
    char *key = generation_key(place, "gone");
    int64_t gone = 0;
    if (key != NULL)
        muster_store_add(place->store, muster_str(key), 1, &gone);
    free(key);
    if (gone != place->num_ranks)
        return;
    remove_key(place, generation_key(place, "gone"));
    if (place->generation == 0) {
        remove_key(place, state_key(place));
        return;
    }
    snprintf(open, sizeof(open), "%lld open", place->generation);
    change_state(place, open, forming_text(place, forming, sizeof(forming)));
}

void claim_give_up(claim *place)
{
    name_state state = {.generation = place->generation};
    snprintf(state.text, sizeof(state.text), "%lld open", place->generation);
    next_generation(place, &state);
    forming_text(place, state.text, sizeof(state.text));
    next_generation(place, &state);
    if (place->generation == 0) {
        state.text[0] = '\0';
        next_generation(place, &state);
    }
}

void claim_linger(claim *place, deadline end)
{
    deadline enough = deadline_in(LINGER_MS);
    if (enough.at_ns > end.at_ns)
        enough = end;
    name_state state = {0};
    while (deadline_left_ms(enough) > 0 && read_state(place, &state) == MUSTER_OK &&
           state.generation == place->generation) {
        struct timespec nap = {0, LINGER_NAP_MS * 1000000L};
        nanosleep(&nap, NULL);
    }
}

void claim_clear(claim *place)
{
    muster_store_free(place->store);
    free(place->name);
    *place = (claim){0};
}
