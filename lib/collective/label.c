/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations in words.
 */
#include "collective/label.h"

#include <stdio.h>

static const char *const kind_names[] = {
    [MESSAGE_BARRIER] = "barrier",
    [MESSAGE_BROADCAST] = "broadcast",
    [MESSAGE_ALL_REDUCE] = "all_reduce",
    [MESSAGE_ALL_GATHER] = "all_gather",
    [MESSAGE_ALL_GATHER_V] = "all_gather_v",
    [MESSAGE_SEND] = "send",
    [MESSAGE_GATHER_TOKENS] = "gather_tokens",
    [MESSAGE_GATHER_OBJECTS] = "gather_objects",
};

const char *message_label_text(const message_label *label, char *text, size_t size)
{
    size_t kinds = sizeof(kind_names) / sizeof(*kind_names);
    const char *name = (size_t)label->kind < kinds ? kind_names[label->kind] : NULL;
    if (label->receiving)
        name = "recv";
    char root[32] = "";
    if (label->root >= 0)
        snprintf(root, sizeof(root), ", root %d", label->root);
    if (label->kind == MESSAGE_BARRIER || label->kind >= MESSAGE_GATHER_TOKENS)
        snprintf(text, size, "%s #%llu%s", name != NULL ? name : "an unknown operation",
                 (unsigned long long)label->sequence, root);
    else
        snprintf(
            text, size, "%s #%llu of %llu %s%s%s%s", name != NULL ? name : "an unknown operation",
            (unsigned long long)label->sequence, (unsigned long long)label->count,
            muster_type_name(label->type), label->kind == MESSAGE_ALL_REDUCE ? ", " : "",
            label->kind == MESSAGE_ALL_REDUCE ? muster_reduction_name(label->redop) : "", root);
    return text;
}

const char *message_label_call(const message_label *label, char *text, size_t size)
{
    if (label->kind != MESSAGE_ALL_GATHER_V)
        return message_label_text(label, text, size);
    snprintf(text, size, "%s #%llu of %s", kind_names[label->kind],
             (unsigned long long)label->sequence, muster_type_name(label->type));
    return text;
}
