/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank whose collective has timed out finds out from what the others say they have called.
 */
#include "config.h"

#include <string.h>

#include "base/error.h"
#include "group/failure.h"
#include "records.h"
#include "store/store.h"
#include "tap.h"

enum { RANKS = 3 };

static const backend_entry none = {.name = "none", .available = true};

static const struct {
    const char *name;
    const char *first, *second; /* what ranks 1 and 2 say; NULL: nothing */
    muster_status status;
    const char *words;
} rows[] = {
    {"nobody says anything", NULL, NULL, MUSTER_ERR_TIMEOUT, "waiting for ranks 1-2"},
    {"one is in an earlier one", "1 barrier #1\n", "2 barrier #2\n1 barrier #1\n",
     MUSTER_ERR_TIMEOUT, "waiting for rank 1"},
    {"one waits in an earlier one", "1 barrier #1\nwaits\n", NULL, MUSTER_ERR_TIMEOUT,
     "waiting for rank 2"},
    {"the only one that is behind waits too", "1 barrier #1\nwaits\n", "2 barrier #2\nwaits\n",
     MUSTER_ERR_TIMEOUT, "waiting for rank 1, which waits in an earlier operation"},
    {"several that are behind wait", "1 barrier #1\nwaits\n", "1 barrier #1\nwaits\n",
     MUSTER_ERR_TIMEOUT, "waiting for ranks 1-2, which wait in an earlier operation"},
    {"all are in it", "2 barrier #2\n", "2 barrier #2\n", MUSTER_ERR_TIMEOUT,
     "waiting for rank 2, though all ranks have come to it"},
    {"one has done it and gone on", "3 barrier #3\n2 barrier #2\n", "2 barrier #2\n",
     MUSTER_ERR_TIMEOUT, "waiting for rank 2, though all ranks have come to it"},
    {"one has gone on so far that it isn't known", "30 barrier #30\n", "2 barrier #2\n",
     MUSTER_ERR_TIMEOUT, "waiting for rank 2, though rank 1 has gone on to barrier #30"},
    {"one is in another", "2 broadcast #2\n1 barrier #1\n", NULL, MUSTER_ERR_MISMATCH,
     "rank 0 calls barrier #2, but rank 1 calls broadcast #2;"},
    {"one was in another and has gone on", "3 barrier #3\n2 reduce #2\n", "2 barrier #2\n",
     MUSTER_ERR_MISMATCH, "rank 0 calls barrier #2, but rank 1 called reduce #2;"},
    {"this one was, and has gone on", "2 barrier #2\n1 reduce #1\n", "1 reduce #1\n",
     MUSTER_ERR_MISMATCH, "rank 0 called barrier #1, but rank 1 called reduce #1;"},
    {"the first of two", "2 reduce #2\n1 barrier #1\n", "1 gather #1\n", MUSTER_ERR_MISMATCH,
     "rank 0 called barrier #1, but rank 2 calls gather #1;"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void fill_roster(roster *ranks)
{
    host_identity me;
    muster_blob blobs[RANKS];
    char *texts[RANKS];
    if (host_identity_get(&me) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    for (int r = 0; r < RANKS; r++) {
        rank_record record = record_of(&me, r, RANKS);
        if (rank_record_write(&record, &texts[r]) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        blobs[r] = muster_str(texts[r]);
    }
    if (roster_read(ranks, blobs, RANKS) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    for (int r = 0; r < RANKS; r++)
        muster_free(texts[r]);
}

/* Rank 0 has called two barriers, of which the second has timed out. */
static muster_group *waiting_group(muster_store *store)
{
    muster_group *group = NULL;
    const group_shape shape = {.name = "g",
                               .prefix = "g",
                               .asked = "none",
                               .store = store,
                               .timeout_ms = 1000,
                               .size = RANKS,
                               .parent_size = RANKS,
                               .world_size = RANKS};
    if (group_new(&shape, &group) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    fill_roster(&group->ranks);
    group->host.backend = &none;
    for (uint64_t n = 1; n <= 2; n++)
        calls_note(&group->calls,
                   &(message_label){.kind = MESSAGE_BARRIER, .root = -1, .sequence = n});
    return group;
}

static void say(muster_store *store, const char *key, const char *calls)
{
    if (calls != NULL)
        muster_store_set(store, muster_str(key), muster_str(calls));
}

static void ask(size_t row)
{
    muster_store *store = NULL;
    if (muster_store_hash(&store) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    muster_group *group = waiting_group(store);
    say(store, "g/at/1", rows[row].first);
    say(store, "g/at/2", rows[row].second);
    is_int(failure_raise_timeout(group, 2, "barrier #2", 2, ""), rows[row].status, "%s",
           rows[row].name);
    has_str(muster_last_error(), rows[row].words, "and so it says");
    muster_group_free(group);
    muster_store_free(store);
}

int main(void)
{
    plan(2 * ROWS);
    for (size_t i = 0; i < ROWS; i++)
        ask(i);
    return done();
}
