/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Envelopes, and carrying many messages at once.
 *
 * An envelope is MESSAGE_ENVELOPE bytes, numbers in little-endian order: magic, kind, type,
 * reduction, device, root, sequence, count, bytes, scalar, and the payload itself where it is at
 * most MESSAGE_INLINE bytes.
 */
#include "config.h"

#include "collective/message.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rank_set.h"
#include "collective/native.h"
#include "group/failure.h"

/* What a backend's slot number is made of: whose order it counts in, which message, which part. */
#define SLOT_COLLECTIVE (UINT64_C(1) << 52)
#define SLOT_PAIR (UINT64_C(2) << 52)
#define SLOT_CHECK (UINT64_C(3) << 52)
#define SLOT_DATA UINT64_C(1)

#define ENVELOPE_MAGIC UINT32_C(0x7453754d) /* "MuSt" */

typedef struct envelope {
    uint32_t magic;
    uint8_t kind;
    uint8_t type;
    uint8_t redop;
    uint8_t device;
    uint64_t root;
    uint64_t sequence;
    uint64_t count;
    uint64_t bytes;
    uint64_t scalar; /* the bits of a double */
    unsigned char payload[MESSAGE_INLINE];
} envelope;
_Static_assert(sizeof(envelope) <= MESSAGE_ENVELOPE, "an envelope fits its message");

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return htole64(bits);
}

static double double_of_bits(uint64_t bits)
{
    double value;
    bits = le64toh(bits);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* What is said of a message: of one that compares calls nothing that may differ. */
static message_label said_of(const message_label *label)
{
    const message_label check = {.kind = MESSAGE_CHECK, .root = -1, .sequence = label->sequence};
    return label->checking ? check : *label;
}

void message_to(message *out, int peer, const message_label *whole, const void *data, size_t bytes)
{
    const message_label said = said_of(whole), *label = &said;
    *out = (message){.peer = peer, .sending = true, .label = *whole, .send = data, .bytes = bytes};
    envelope head = {
        .magic = htole32(ENVELOPE_MAGIC),
        .kind = (uint8_t)label->kind,
        .type = (uint8_t)label->type,
        .redop = (uint8_t)label->redop,
        .device = label->device,
        .root = htole64((uint64_t)(int64_t)label->root),
        .sequence = htole64(label->sequence),
        .count = htole64(label->count),
        .bytes = htole64(bytes),
        .scalar = bits_of_double(label->scalar),
    };
    if (bytes > 0 && bytes <= MESSAGE_INLINE)
        memcpy(head.payload, data, bytes);
    memcpy(out->envelope, &head, sizeof(head));
}

void message_from(message *in, int peer, const message_label *label, void *data, size_t bytes)
{
    *in = (message){.peer = peer, .label = *label, .receive = data, .bytes = bytes};
}

static uint64_t slot_of(const message_label *label)
{
    uint64_t space = label->checking               ? SLOT_CHECK
                     : label->kind == MESSAGE_SEND ? SLOT_PAIR
                                                   : SLOT_COLLECTIVE;
    return space | (label->sequence << 1 & (SLOT_COLLECTIVE - 1));
}

/* What a message to or from a rank goes by: ranks of one host may have something of their own. */
typedef struct channel {
    const muster_backend *ops;
    muster_comm *comm;
    int peer;  /* its number there */
    bool near; /* which is that of this host */
} channel;

static channel channel_to(const muster_group *group, int peer)
{
    muster_comm *near = atomic_load(&group->near.comm);
    if (near != NULL && group->hosts.host[peer] == group->hosts.host[group->rank])
        return (channel){group->near.backend->ops, near, group->hosts.place[peer], true};
    return (channel){group->host.backend->ops, atomic_load(&group->host.comm), peer, false};
}

/* The channel has failed, with a sentence of its own. */
static muster_status channel_failed(muster_group *group, const channel *way, muster_status status)
{
    if (way->near)
        near_error(&group->hosts, group->rank, status);
    return failure_raise(group, status);
}

static muster_status post_envelope(muster_group *group, message *m)
{
    const channel way = channel_to(group, m->peer);
    uint64_t slot = slot_of(&m->label);
    muster_status status = m->sending ? way.ops->post_send(way.comm, way.peer, slot, m->envelope,
                                                           MESSAGE_ENVELOPE, &m->envelope_request)
                                      : way.ops->post_recv(way.comm, way.peer, slot, m->envelope,
                                                           MESSAGE_ENVELOPE, &m->envelope_request);
    if (status == MUSTER_OK && m->sending && m->bytes > MESSAGE_INLINE)
        status = way.ops->post_send(way.comm, way.peer, slot | SLOT_DATA, m->send, m->bytes,
                                    &m->data_request);
    return status == MUSTER_OK ? MUSTER_OK : channel_failed(group, &way, status);
}

static muster_status wait_for(muster_group *group, message *m, muster_request **request,
                              deadline end)
{
    muster_request *waited = *request;
    if (waited == NULL)
        return MUSTER_OK;
    *request = NULL;
    const channel way = channel_to(group, m->peer);
    muster_status status = way.ops->wait(way.comm, waited, deadline_left_ms(end));
    if (status == MUSTER_ERR_TIMEOUT) {
        char what[160];
        message_label_text(&m->label, what, sizeof(what));
        bool pairwise = m->label.kind == MESSAGE_SEND;
        return failure_raise_timeout(group, pairwise ? 0 : m->label.sequence, what, m->peer, "");
    }
    return status == MUSTER_OK ? MUSTER_OK : channel_failed(group, &way, status);
}

static void label_from_envelope(const envelope *head, message_label *label)
{
    *label = (message_label){.kind = head->kind,
                             .type = head->type,
                             .redop = head->redop,
                             .root = (int)(int64_t)le64toh(head->root),
                             .sequence = le64toh(head->sequence),
                             .count = le64toh(head->count),
                             .scalar = double_of_bits(head->scalar),
                             .device = head->device != 0};
}

/* Both make the same call, and what differs is how much one has for the other. */
static bool differs_in_count(const message_label *ours, const message_label *theirs)
{
    return message_label_is_ragged(ours) && theirs->kind == ours->kind &&
           theirs->type == ours->type && theirs->redop == ours->redop &&
           theirs->root == ours->root && theirs->sequence == ours->sequence;
}

static const char *hint(const message_label *ours, const message_label *theirs)
{
    if (!ours->receiving)
        return "every rank must make the same call";
    bool alike = ours->count == theirs->count && ours->type == theirs->type;
    return alike && ours->device != theirs->device ? "both must be in one kind of memory"
                                                   : "count and type must be the sender's";
}

/* This rank has made another collective since. */
static bool has_gone_on(const muster_group *group, const message_label *label)
{
    message_label last;
    return label->kind != MESSAGE_SEND && calls_last(&group->calls, &last) &&
           last.sequence > label->sequence;
}

muster_status message_disagreement(muster_group *group, int rank, const message_label *ours,
                                   const message_label *theirs)
{
    char here[160], there[160], who[320];
    rank_record_name(&group->ranks.ranks[rank], who, sizeof(who));
    const char *verb = has_gone_on(group, ours) ? "called" : "calls";
    if (differs_in_count(ours, theirs))
        error_set(MUSTER_ERR_MISMATCH,
                  "the ranks disagree in %s: %s has %llu %s for rank %d, which expects %llu",
                  message_label_call(ours, here, sizeof(here)), who,
                  (unsigned long long)theirs->count, muster_type_name(theirs->type), group->rank,
                  (unsigned long long)ours->count);
    else
        error_set(MUSTER_ERR_MISMATCH, "the ranks disagree: rank %d %s %s, but %s %s %s; %s",
                  group->rank, verb, message_label_text(ours, here, sizeof(here)), who, verb,
                  message_label_text(theirs, there, sizeof(there)), hint(ours, theirs));
    return failure_raise(group, MUSTER_ERR_MISMATCH);
}

/* Nothing that it says can be quoted. */
static muster_status no_envelope(muster_group *group, const message *m)
{
    char here[160], who[320];
    error_set(MUSTER_ERR_MISMATCH,
              "in %s: what came from %s is not how a message of muster begins; the ranks have made "
              "different calls (MUSTER_CHECK=1 shows which), or its muster is another",
              message_label_text(&m->label, here, sizeof(here)),
              rank_record_name(&group->ranks.ranks[m->peer], who, sizeof(who)));
    return failure_raise(group, MUSTER_ERR_MISMATCH);
}

muster_status message_open(muster_group *group, message *m)
{
    envelope head;
    message_label theirs;
    memcpy(&head, m->envelope, sizeof(head));
    label_from_envelope(&head, &theirs);
    const message_label said = said_of(&m->label), *ours = &said;
    if (le32toh(head.magic) != ENVELOPE_MAGIC ||
        (theirs.kind != MESSAGE_CHECK && !message_label_is_known(&theirs)))
        return no_envelope(group, m);
    bool same = theirs.kind == ours->kind && theirs.type == ours->type &&
                theirs.redop == ours->redop && theirs.root == ours->root &&
                theirs.sequence == ours->sequence && theirs.device == ours->device &&
                theirs.count == ours->count && le64toh(head.bytes) == m->bytes;
    if (!same)
        return message_disagreement(group, m->peer, &m->label, &theirs);
    m->label.scalar = theirs.scalar;
    if (m->bytes > 0 && m->bytes <= MESSAGE_INLINE)
        memcpy(m->receive, head.payload, m->bytes);
    return MUSTER_OK;
}

/* The receive of what follows an envelope is posted once that has come. */
static muster_status open_envelope(muster_group *group, message *m)
{
    muster_status status = message_open(group, m);
    if (status != MUSTER_OK || m->bytes <= MESSAGE_INLINE)
        return status;
    const channel way = channel_to(group, m->peer);
    status = way.ops->post_recv(way.comm, way.peer, slot_of(&m->label) | SLOT_DATA, m->receive,
                                m->bytes, &m->data_request);
    return status == MUSTER_OK ? MUSTER_OK : channel_failed(group, &way, status);
}

/* After a failure every request must still be waited for, so that nobody writes into our memory. */
static void give_up_rest(muster_group *group, message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const message *m = &messages[i];
        if (m->envelope_request == NULL && m->data_request == NULL)
            continue;
        const channel way = channel_to(group, m->peer);
        if (m->envelope_request != NULL)
            way.ops->wait(way.comm, m->envelope_request, 0);
        if (m->data_request != NULL)
            way.ops->wait(way.comm, m->data_request, 0);
    }
}

static muster_status carry_all(muster_group *group, message *messages, size_t count, deadline end)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < count; i++)
        status = post_envelope(group, &messages[i]);
    for (size_t i = 0; status == MUSTER_OK && i < count; i++) {
        status = wait_for(group, &messages[i], &messages[i].envelope_request, end);
        if (status == MUSTER_OK && !messages[i].sending)
            status = open_envelope(group, &messages[i]);
    }
    for (size_t i = 0; status == MUSTER_OK && i < count; i++)
        status = wait_for(group, &messages[i], &messages[i].data_request, end);
    return status;
}

static void count_traffic(muster_group *group, const message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = MESSAGE_ENVELOPE;
        if (messages[i].bytes > MESSAGE_INLINE)
            bytes += messages[i].bytes;
        atomic_fetch_add(messages[i].sending ? &group->bytes_sent : &group->bytes_received, bytes);
    }
}

void messages_note(muster_group *group, const message_label *label)
{
    if (label->kind == MESSAGE_SEND)
        return;
    calls_note(&group->calls, label);
}

/* Ranks that have left in good order have made all of their calls: where they made as many, others
 * than these. */
static void say_left(const muster_group *group, const message_label *label, char *text, size_t size)
{
    char ranks[256];
    int count = 0;
    bool *left = calloc((size_t)group->size, sizeof(bool));
    for (int r = 0; left != NULL && r < group->size; r++) {
        left[r] = r != group->rank && group_has_left(group, r);
        count += left[r];
    }
    text[0] = '\0';
    if (count > 0)
        snprintf(text, size, ", without %s, which left in good order%s",
                 rank_set_text(left, group->size, ranks, sizeof(ranks)),
                 label->kind == MESSAGE_SEND || group->checks
                     ? ""
                     : " (after as many calls one of them differs: MUSTER_CHECK=1 shows which)");
    free(left);
}

/* The cause is told in the words of whoever found it; the call that it ends is this rank's own. */
muster_status message_say_call(const muster_group *group, const message_label *label,
                               muster_status status, const char *sentence)
{
    char call[160], left[512];
    bool of_others = status == MUSTER_ERR_PEER_LOST || status == MUSTER_ERR_REMOTE;
    if (!of_others || group->host.opening != NULL || group->device.opening != NULL ||
        group->messages.opening != NULL)
        return error_set(status, "%s", sentence);
    say_left(group, label, left, sizeof(left));
    return error_set(status, "in %s%s: %s", message_label_text(label, call, sizeof(call)), left,
                     sentence);
}

muster_status messages_carry(muster_group *group, message *messages, size_t count, deadline end)
{
    muster_status status = failure_check(group);
    if (status == MUSTER_OK && count > 0)
        messages_note(group, &messages[0].label);
    if (status == MUSTER_OK)
        status = native_alone(group) ? native_carry(group, messages, count, end)
                                     : carry_all(group, messages, count, end);
    if (status == MUSTER_OK) {
        count_traffic(group, messages, count);
        return MUSTER_OK;
    }
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    give_up_rest(group, messages, count);
    return count == 0 ? error_set(status, "%s", sentence)
                      : message_say_call(group, &messages[0].label, status, sentence);
}
