/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether the ranks that this one waits for are still there.
 */
#include "config.h"

#include "group/lookout.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "group/failure.h"
#include "net/host_identity.h"

bool lookout_gone(const rank_record *record)
{
    host_identity me;
    return host_identity_get(&me) == MUSTER_OK && strcmp(record->host_id, me.host_id) == 0 &&
           !host_identity_alive(record->pid_space, record->pid, record->start);
}

static muster_status has_ended(const rank_record *record)
{
    char who[320];
    return error_set(MUSTER_ERR_PEER_LOST, "%s has ended while the group was being made",
                     rank_record_name(record, who, sizeof(who)));
}

muster_status lookout_roster(void *user)
{
    const roster *ranks = user;
    for (int r = 0; r < ranks->count; r++)
        if (lookout_gone(&ranks->ranks[r]))
            return has_ended(&ranks->ranks[r]);
    return MUSTER_OK;
}

muster_status lookout_those(void *user)
{
    const lookout_some *some = user;
    for (int i = 0; i < some->count; i++)
        if (lookout_gone(&some->all->ranks[some->ranks[i]]))
            return has_ended(&some->all->ranks[some->ranks[i]]);
    return MUSTER_OK;
}

muster_status lookout_group(void *user)
{
    return failure_check(user);
}

muster_status lookout_works(void *user)
{
    return failure_begun(user);
}

/* The record that a rank has published, where it has and can be read. */
static bool read_record(exchange *meeting, int index, rank_record *record)
{
    void *value = NULL;
    size_t size = 0;
    char *key = exchange_key(meeting, 0, index);
    bool there = key != NULL &&
                 muster_store_get(meeting->store, muster_str(key), 0, &value, &size) == MUSTER_OK;
    free(key);
    there = there && rank_record_read(record, (muster_blob){value, size}) == MUSTER_OK;
    muster_free(value);
    return there;
}

muster_status lookout_next(void *user)
{
    lookout_neighbours *next = user;
    exchange *meeting = next->meeting;
    const int sides[] = {meeting->index - 1, meeting->index + 1};
    int gone = -1;
    muster_status status = MUSTER_OK;
    for (int i = 0; i < 2 && gone < 0; i++) {
        rank_record record;
        if (sides[i] < 0 || sides[i] >= meeting->count || !read_record(meeting, sides[i], &record))
            continue;
        if (lookout_gone(&record)) {
            gone = sides[i];
            if (gone == next->gone)
                status = has_ended(&record);
        }
        rank_record_clear(&record);
    }
    next->gone = gone;
    return status;
}
