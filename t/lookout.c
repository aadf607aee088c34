/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who waits for others sees that they have ended, where that can be seen.
 */
#include "config.h"

#include "group/lookout.h"

#include <stdlib.h>

#include "base/error.h"
#include "net/host_identity.h"
#include "records.h"
#include "tap.h"

static void records(const host_identity *me, const host_identity *dead)
{
    rank_record alive = record_of(me, 0, 3), gone = record_of(dead, 1, 3), far = gone;
    far.host_id = "another host";
    ok(!lookout_gone(&alive), "this process is there");
    ok(lookout_gone(&gone), "one that has ended is not");
    ok(!lookout_gone(&far), "one of another host can't be seen");

    rank_record list[] = {alive, far, alive};
    roster ranks = {.count = 3, .ranks = list};
    is_int(lookout_roster(&ranks), MUSTER_OK, "nobody is missed");
    list[2] = gone;
    list[2].rank = 2;
    is_int(lookout_roster(&ranks), MUSTER_ERR_PEER_LOST, "a rank that has ended is");
    has_str(muster_last_error(), "rank 2 (host b, pid ", "by its name");
    const int some[] = {1, 0}, others[] = {0, 2};
    lookout_some those = {&ranks, some, 2}, these = {&ranks, others, 2};
    is_int(lookout_those(&those), MUSTER_OK, "among some it is not looked for");
    is_int(lookout_those(&these), MUSTER_ERR_PEER_LOST, "among others it is");
    has_str(muster_last_error(), "rank 2 (host b, pid ", "by the name it has in the whole");
}

static void publish(exchange *meeting, const rank_record *record, int rank)
{
    char *text = NULL, *key = exchange_key(meeting, 0, rank);
    if (key == NULL || rank_record_write(record, &text) != MUSTER_OK ||
        muster_store_set(meeting->store, muster_str(key), muster_str(text)) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    free(key);
    muster_free(text);
}

static void neighbours(const host_identity *me, const host_identity *dead)
{
    muster_store *store = NULL;
    exchange meeting;
    if (muster_store_hash(&store) != MUSTER_OK ||
        exchange_init(&meeting, store, "m", 1, 4, 1000, deadline_in(1000)) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    lookout_neighbours next = {&meeting, -1};
    rank_record alive = record_of(me, 0, 4), gone = record_of(dead, 2, 4), far = gone;
    is_int(lookout_next(&next), MUSTER_OK, "those who have not come are not missed");
    publish(&meeting, &alive, 0);
    far.rank = 3;
    publish(&meeting, &far, 3);
    is_int(lookout_next(&next) + lookout_next(&next), MUSTER_OK, "only the next two are looked at");
    publish(&meeting, &gone, 2);
    is_int(lookout_next(&next), MUSTER_OK, "one that has ended may be started again");
    publish(&meeting, &alive, 2);
    is_int(lookout_next(&next), MUSTER_OK, "as it is here");
    publish(&meeting, &gone, 2);
    lookout_next(&next);
    is_int(lookout_next(&next), MUSTER_ERR_PEER_LOST, "but if it is not, it is missed");
    has_str(muster_last_error(), "rank 2 (host b", "by its name");
    exchange_destroy(&meeting);
    muster_store_free(store);
}

int main(void)
{
    host_identity me, dead = record_dead_one();
    plan(15);
    if (host_identity_get(&me) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    records(&me, &dead);
    neighbours(&me, &dead);
    return done();
}
