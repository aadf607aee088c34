/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an operation is called where ranks disagree on it, and how messages are begun.
 */
#include "collective/message.h"

#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    message_label label;
    const char *text;
} labels[] = {
    {{MESSAGE_BARRIER, MUSTER_INT8, MUSTER_SUM, -1, 1, 0, false, 0, false, false}, "barrier #1"},
    {{MESSAGE_BROADCAST, MUSTER_FLOAT64, MUSTER_SUM, 3, 2, 8, false, 0, false, false},
     "broadcast #2 of 8 float64, root 3"},
    {{MESSAGE_ALL_REDUCE, MUSTER_INT32, MUSTER_MAX, -1, 17, 8, false, 0, false, false},
     "all_reduce #17 of 8 int32, max"},
    {{MESSAGE_ALL_GATHER, MUSTER_UINT8, MUSTER_SUM, -1, 3, 0, false, 0, false, false},
     "all_gather #3 of 0 uint8"},
    {{MESSAGE_ALL_GATHER_V, MUSTER_INT64, MUSTER_SUM, -1, 4, 5, false, 0, false, false},
     "all_gather_v #4 of 5 int64"},
    {{MESSAGE_SEND, MUSTER_UINT64, MUSTER_SUM, -1, UINT64_MAX, UINT64_MAX, false, 0, false, false},
     "send #18446744073709551615 of 18446744073709551615 uint64"},
    {{MESSAGE_SEND, MUSTER_INT8, MUSTER_SUM, -1, 5, 6, true, 0, false, false}, "recv #5 of 6 int8"},
    {{MESSAGE_SEND, MUSTER_INT8, MUSTER_SUM, -1, 5, 6, true, 0, false, true},
     "recv #5 of 6 int8, in device memory"},
    {{MESSAGE_GATHER_TOKENS, MUSTER_INT8, MUSTER_SUM, -1, 6, 9, false, 0, false, false},
     "gather_tokens #6"},
    {{MESSAGE_GATHER_OBJECTS, MUSTER_INT8, MUSTER_SUM, 0, 7, 9, false, 0, false, false},
     "gather_objects #7, root 0"},
    {{MESSAGE_REDUCE, MUSTER_BFLOAT16, MUSTER_AVG, 2, 8, 9, false, 1, false, false},
     "reduce #8 of 9 bfloat16, avg, root 2"},
    {{MESSAGE_GATHER, MUSTER_BOOL, MUSTER_SUM, 0, 9, 1, false, 1, false, false},
     "gather #9 of 1 bool, root 0"},
    {{MESSAGE_GATHER_V, MUSTER_FLOAT16, MUSTER_SUM, 0, 9, 1, false, 1, false, false},
     "gather_v #9 of 1 float16, root 0"},
    {{MESSAGE_SCATTER, MUSTER_INT8, MUSTER_SUM, 1, 9, 1, false, 1, false, false},
     "scatter #9 of 1 int8, root 1"},
    {{MESSAGE_SCATTER_V, MUSTER_INT8, MUSTER_SUM, 1, 9, 1, false, 1, false, false},
     "scatter_v #9 of 1 int8, root 1"},
    {{MESSAGE_REDUCE_SCATTER, MUSTER_FLOAT8_E4M3, MUSTER_PREMUL_SUM, -1, 9, 1, false, 0.5, false,
      false},
     "reduce_scatter #9 of 1 float8_e4m3, premul_sum"},
    {{MESSAGE_REDUCE_SCATTER_V, MUSTER_FLOAT8_E5M2, MUSTER_PROD, -1, 9, 1, false, 1, false, false},
     "reduce_scatter_v #9 of 1 float8_e5m2, prod"},
    {{MESSAGE_ALL_TO_ALL, MUSTER_INT8, MUSTER_SUM, -1, 9, 1, false, 1, false, false},
     "all_to_all #9 of 1 int8"},
    {{MESSAGE_ALL_TO_ALL_V, MUSTER_INT8, MUSTER_SUM, -1, 9, 1, false, 1, false, false},
     "all_to_all_v #9 of 1 int8"},
    /* what a peer may have sent */
    {{(message_kind)0, MUSTER_INT8, MUSTER_SUM, -1, 1, 2, false, 0, false, false},
     "an unknown operation #1"},
    {{(message_kind)255, MUSTER_INT8, MUSTER_SUM, -1, 1, 2, false, 0, false, false},
     "an unknown operation #1"},
    {{MESSAGE_ALL_REDUCE, (muster_type)200, (muster_reduction)201, -1, 1, 2, false, 0, false,
      false},
     "all_reduce #1 of 2 unknown, unknown"},
};

/* What two ranks of one call compare: not the counts where they may differ. */
static void calls(void)
{
    static const message_kind ragged[] = {MESSAGE_GATHER_V, MESSAGE_SCATTER_V, MESSAGE_ALL_GATHER_V,
                                          MESSAGE_REDUCE_SCATTER_V, MESSAGE_ALL_TO_ALL_V};
    char text[64], whole[64];
    for (size_t i = 0; i < COUNT(ragged); i++) {
        message_label label = {ragged[i], MUSTER_INT64, MUSTER_SUM, -1,    4,
                               5,         false,        1,          false, false};
        message_label_call(&label, text, sizeof(text));
        ok(strstr(text, " #4 of int64") != NULL, "%s", text);
    }
    bool right = true;
    for (size_t i = 0; i < COUNT(labels); i++) {
        bool is_ragged = strstr(labels[i].text, "_v #") != NULL;
        message_label_text(&labels[i].label, whole, sizeof(whole));
        message_label_call(&labels[i].label, text, sizeof(text));
        right = right && (strcmp(text, whole) == 0) == !is_ragged &&
                message_label_is_ragged(&labels[i].label) == is_ragged;
    }
    ok(right, "all others are compared as they are");
}

static void cut(void)
{
    char text[64];
    bool inside = true;
    for (size_t size = 1; size < sizeof(text); size++) {
        memset(text, '!', sizeof(text));
        message_label_text(&labels[1].label, text, size);
        inside = inside && strlen(text) < size && text[size] == '!';
    }
    ok(inside, "a short room cuts it");
}

/* A payload of up to MESSAGE_INLINE bytes travels in the envelope. */
static void envelopes(void)
{
    unsigned char data[MESSAGE_INLINE + 1];
    static const size_t sizes[] = {0, 1, MESSAGE_INLINE, MESSAGE_INLINE + 1};
    memset(data, 0xa5, sizeof(data));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        message out;
        size_t held = 0;
        message_to(&out, 2, &labels[3].label, sizes[i] == 0 ? NULL : data, sizes[i]);
        for (size_t b = 0; b < MESSAGE_ENVELOPE; b++)
            held += out.envelope[b] == 0xa5;
        ok(out.sending && out.peer == 2 && out.bytes == sizes[i] && out.envelope_request == NULL &&
               out.data_request == NULL,
           "a message of %zu bytes", sizes[i]);
        is_int((long long)held, sizes[i] <= MESSAGE_INLINE ? (long long)sizes[i] : 0,
               "has so many in its envelope");
    }
    message in;
    message_from(&in, 1, &labels[3].label, data, 7);
    ok(!in.sending && in.peer == 1 && in.receive == data && in.bytes == 7, "one to come");
}

int main(void)
{
    plan((int)COUNT(labels) + 16);
    for (size_t i = 0; i < COUNT(labels); i++) {
        char text[160];
        is_str(message_label_text(&labels[i].label, text, sizeof(text)), labels[i].text, "%s",
               labels[i].text);
    }
    calls();
    cut();
    envelopes();
    return done();
}
