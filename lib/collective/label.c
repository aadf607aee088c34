/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations in words.
 */
#include "collective/label.h"

#include <stdio.h>

enum {
    TYPED = 1,   /* it carries elements */
    COUNTED = 2, /* as many from every rank */
    REDUCES = 4
};

static const struct {
    const char *name;
    int traits;
} kinds[] = {
    [MESSAGE_BARRIER] = {"barrier", 0},
    [MESSAGE_BROADCAST] = {"broadcast", TYPED | COUNTED},
    [MESSAGE_REDUCE] = {"reduce", TYPED | COUNTED | REDUCES},
    [MESSAGE_ALL_REDUCE] = {"all_reduce", TYPED | COUNTED | REDUCES},
    [MESSAGE_GATHER] = {"gather", TYPED | COUNTED},
    [MESSAGE_GATHER_V] = {"gather_v", TYPED},
    [MESSAGE_SCATTER] = {"scatter", TYPED | COUNTED},
    [MESSAGE_SCATTER_V] = {"scatter_v", TYPED},
    [MESSAGE_ALL_GATHER] = {"all_gather", TYPED | COUNTED},
    [MESSAGE_ALL_GATHER_V] = {"all_gather_v", TYPED},
    [MESSAGE_REDUCE_SCATTER] = {"reduce_scatter", TYPED | COUNTED | REDUCES},
    [MESSAGE_REDUCE_SCATTER_V] = {"reduce_scatter_v", TYPED | REDUCES},
    [MESSAGE_ALL_TO_ALL] = {"all_to_all", TYPED | COUNTED},
    [MESSAGE_ALL_TO_ALL_V] = {"all_to_all_v", TYPED},
    [MESSAGE_SEND] = {"send", TYPED | COUNTED},
    [MESSAGE_GATHER_TOKENS] = {"gather_tokens", 0},
    [MESSAGE_GATHER_OBJECTS] = {"gather_objects", 0},
};

bool message_label_is_known(const message_label *label)
{
    return (size_t)label->kind < sizeof(kinds) / sizeof(*kinds) && kinds[label->kind].name != NULL;
}

static const char *describe(const message_label *label, bool with_count, char *text, size_t size)
{
    const char *name =
        message_label_is_known(label) ? kinds[label->kind].name : "an unknown operation";
    int traits = message_label_is_known(label) ? kinds[label->kind].traits : 0;
    char what[48] = "", redop[32] = "", root[32] = "";
    if (traits & TYPED && with_count)
        snprintf(what, sizeof(what), " of %llu %s", (unsigned long long)label->count,
                 muster_type_name(label->type));
    else if (traits & TYPED)
        snprintf(what, sizeof(what), " of %s", muster_type_name(label->type));
    if (traits & REDUCES)
        snprintf(redop, sizeof(redop), ", %s", muster_reduction_name(label->redop));
    if (label->root >= 0)
        snprintf(root, sizeof(root), ", root %d", label->root);
    snprintf(text, size, "%s #%llu%s%s%s%s", label->receiving ? "recv" : name,
             (unsigned long long)label->sequence, what, redop, root,
             label->device ? ", in device memory" : "");
    return text;
}

const char *message_label_text(const message_label *label, char *text, size_t size)
{
    return describe(label, true, text, size);
}

const char *message_label_call(const message_label *label, char *text, size_t size)
{
    return describe(label, message_label_is_known(label) && kinds[label->kind].traits & COUNTED,
                    text, size);
}

bool message_label_is_ragged(const message_label *label)
{
    return message_label_is_known(label) && kinds[label->kind].traits & TYPED &&
           !(kinds[label->kind].traits & COUNTED);
}
