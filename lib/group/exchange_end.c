/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of a meeting: who leaves last removes its keys, and who serves the store stays for the
 * others.
 */
#include "config.h"

#include "group/exchange.h"

#include <stdlib.h>

#include "store/store.h"

/* How long whoever serves the store stays: the first two where nobody is known to be missing, the
 * last for those who have yet to read what is on the gate. */
enum { FORMED_MS = 10000, FAILED_MS = 1000, MOMENT_MS = 300 };

/* How often it is looked whether they are still there. */
enum { LOOK_MS = 50 };

static void remove_key(exchange *meeting, char *key)
{
    if (key != NULL)
        muster_store_delete(meeting->store, muster_str(key), NULL);
    free(key);
}

/* Removes what the participants share, and what the first so many of them published. */
static void remove_all(exchange *meeting, int rounds, int participants)
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; round >= meeting->keep_rounds && i < participants; i++)
            remove_key(meeting, exchange_key(meeting, round, i));
        remove_key(meeting, exchange_shared_key(meeting, round, "n"));
        remove_key(meeting, exchange_shared_key(meeting, round, "gate"));
    }
    remove_key(meeting, exchange_shared_key(meeting, 0, "plan"));
    remove_key(meeting, exchange_shared_key(meeting, 0, "left"));
}

bool exchange_leave(exchange *meeting)
{
    char *key = exchange_shared_key(meeting, 0, "left");
    int64_t left = 0;
    if (key != NULL)
        muster_store_add(meeting->store, muster_str(key), 1, &left);
    free(key);
    return left == meeting->most;
}

/* Somebody is missing already, who will never leave. */
static bool is_short(muster_status status)
{
    return status == MUSTER_ERR_TIMEOUT || status == MUSTER_ERR_PEER_LOST;
}

/* As long as the time-out leaves, but no longer than that takes which the others have to do. */
static int64_t patience_for(const exchange *meeting, muster_status status)
{
    int64_t most = status == MUSTER_OK ? FORMED_MS : FAILED_MS,
            left = deadline_left_ms(meeting->end);
    if (is_short(status) || left < MOMENT_MS)
        return MOMENT_MS;
    return left < most ? left : most;
}

/* True once all have left, or where the store does not tell. */
static bool wait_a_look(const exchange *meeting, muster_blob left, deadline end)
{
    int64_t rest = deadline_left_ms(end);
    deadline look = deadline_in(rest < LOOK_MS ? rest : LOOK_MS);
    return store_wait_gone(meeting->store, left, look) || deadline_left_ms(look) > 0;
}

/* The store would go with this process: it stays for those who have yet to learn how this ended.
 * After a failure some may never have come, and once one of them has ended the last of them will
 * not say that it was. */
static void see_them_leave(const exchange *meeting, muster_status status)
{
    bool lost = is_short(status);
    deadline end = deadline_in(patience_for(meeting, status));
    char *key = exchange_shared_key(meeting, 0, "left");
    while (key != NULL && !wait_a_look(meeting, muster_str(key), end) && deadline_left_ms(end) > 0)
        if (!lost && meeting->lookout != NULL &&
            meeting->lookout(meeting->lookout_user) != MUSTER_OK) {
            lost = true;
            end = deadline_left_ms(end) > MOMENT_MS ? deadline_in(MOMENT_MS) : end;
        }
    free(key);
}

void exchange_finish(exchange *meeting, bool last, muster_status status)
{
    if (last && status == MUSTER_OK)
        remove_all(meeting, meeting->round, 0);
    else if (last)
        remove_all(meeting, EXCHANGE_MAX_ROUNDS, meeting->most);
    else if (store_served_here(meeting->store))
        see_them_leave(meeting, status);
}

void exchange_clean(exchange *meeting, muster_status status)
{
    for (int round = meeting->keep_rounds; status == MUSTER_OK && round < meeting->round; round++)
        remove_key(meeting, exchange_key(meeting, round, meeting->index));
    exchange_finish(meeting, exchange_leave(meeting), status);
}
