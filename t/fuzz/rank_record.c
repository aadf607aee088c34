/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: the handshake's record of a rank, as it lies in the store.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "group/roster.h"

/* What was read is written, and that is read and written again: the two texts are one. */
static void settle(const rank_record *record)
{
    char *once, *twice, name[320];
    rank_record again;
    rank_record_name(record, name, sizeof(name));
    fuzz_hold(rank_record_write(record, &once) == MUSTER_OK, "what was read can be written");
    fuzz_hold(rank_record_read(&again, muster_str(once)) == MUSTER_OK,
              "what was written can be read");
    fuzz_hold(rank_record_write(&again, &twice) == MUSTER_OK, "and written again");
    fuzz_hold(strcmp(once, twice) == 0, "nothing is lost on the way");
    muster_free(once);
    muster_free(twice);
    rank_record_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rank_record record;
    if (rank_record_read(&record, (muster_blob){data, size}) != MUSTER_OK)
        return 0;
    fuzz_hold(record.rank >= 0 && record.rank < record.world_size, "the rank is one of the world");
    for (size_t i = 0; i < record.num_backends; i++) {
        rank_record_backend(&record, record.backends[i].name);
        rank_record_device(&record, record.backends[i].name);
    }
    settle(&record);
    rank_record_clear(&record);
    return 0;
}
