/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: the envelope of a message from another rank. The first bytes say what this rank
 * expects, the rest is what came.
 */
#include <string.h>

#include "collective/message.h"
#include "fuzz.h"
#include "group/failure.h"

/* Nobody is there who could be told. */
muster_status __wrap_failure_raise(muster_group *group, muster_status status);
muster_status __wrap_failure_raise(muster_group *group, muster_status status)
{
    (void)group;
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rank_record records[2] = {{.host = "here", .world_size = 2},
                                     {.host = "there", .world_size = 2, .rank = 1}};
    static muster_group group = {.size = 2, .ranks = {.count = 2, .hosts = 2, .ranks = records}};
    fuzz_bytes input = {data, size};
    char text[160], call[160];
    unsigned char received[MESSAGE_INLINE] = {0};
    message in;
    message_label label = {.kind = (message_kind)(fuzz_byte(&input) % MESSAGE_CHECK + 1),
                           .type = (muster_type)(fuzz_byte(&input) % 16),
                           .redop = (muster_reduction)(fuzz_byte(&input) % 16),
                           .root = fuzz_byte(&input) - 1,
                           .sequence = fuzz_byte(&input),
                           .count = fuzz_byte(&input)};
    int flags = fuzz_byte(&input);
    label.receiving = label.kind == MESSAGE_SEND;
    label.checking = flags & 1;
    label.device = flags & 2;
    message_from(&in, 1, &label, received, fuzz_byte(&input) % (MESSAGE_INLINE + 1));
    if (flags & 4) /* so that some are right from the start */
        message_to(&in, 1, &label, received, in.bytes);
    in.receive = received;
    fuzz_bytes came = fuzz_take(&input, sizeof(in.envelope));
    for (size_t i = 0; i < came.size; i++)
        in.envelope[i] = (unsigned char)(flags & 4 ? in.envelope[i] ^ came.data[i] : came.data[i]);
    muster_status status = message_open(&group, &in);
    fuzz_hold(status == MUSTER_OK || status == MUSTER_ERR_MISMATCH, "it agrees or it does not");
    fuzz_hold(strlen(message_label_text(&in.label, text, sizeof(text))) > 0, "it can be named");
    fuzz_hold(strlen(message_label_call(&in.label, call, sizeof(call))) > 0, "so can its call");
    return 0;
}
