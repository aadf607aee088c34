/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks for which an operation of the device's communicator has nothing.
 *
 * Such a rank may give NULL for its buffers, and then can't know whether the others' are in device
 * memory. So it always goes by messages, which for it are envelopes alone; all others look for
 * these before they call the device's communicator.
 */
#include "config.h"

#include "collective/native.h"

/* Ranks at a time. */
enum { IDLE_STEPS = 16 };

/* Whether the call moves nothing between this rank and that one. */
static bool is_empty(const collective_call *call, int rank)
{
    return call->counts[rank] == 0 &&
           (call->kind != MESSAGE_ALL_TO_ALL_V || call->from_counts[rank] == 0);
}

muster_status native_tell_idle(muster_group *group, const collective_call *call,
                               const message_label *label, deadline end)
{
    int n = group->size, me = group->rank;
    bool gathers = call->kind == MESSAGE_GATHER_V, scatters = call->kind == MESSAGE_SCATTER_V;
    message_label none = *label;
    muster_status status = MUSTER_OK;
    if (call->kind != MESSAGE_ALL_TO_ALL_V && ((!gathers && !scatters) || me != call->root))
        return MUSTER_OK;
    none.count = 0;
    for (int first = 1; status == MUSTER_OK && first < n; first += IDLE_STEPS) {
        message messages[2 * IDLE_STEPS];
        size_t count = 0;
        for (int step = first; step < n && step < first + IDLE_STEPS; step++) {
            int to = (me + step) % n, from = (me - step + n) % n;
            if (!gathers && is_empty(call, to))
                message_to(&messages[count++], to, &none, NULL, 0);
            if (!scatters && is_empty(call, from))
                message_from(&messages[count++], from, &none, NULL, 0);
        }
        if (count > 0)
            status = messages_carry(group, messages, count, end);
    }
    return status;
}
