/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names of policies and of how near a device is.
 */
#include "placement/placement.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/nearest.h"

static const char *const policies[] = {
    [PLACEMENT_AUTO] = "auto",       [PLACEMENT_COMPACT] = "compact",
    [PLACEMENT_SCATTER] = "scatter", [PLACEMENT_EXPLICIT] = "explicit",
    [PLACEMENT_NONE] = "none",
};

enum { NUM_POLICIES = sizeof(policies) / sizeof(*policies) };

muster_status placement_policy_read(const char *text, placement_policy *policy)
{
    nearest search = {.wanted = text};
    for (int i = 0; i < NUM_POLICIES; i++) {
        if (strcasecmp(policies[i], text) == 0) {
            *policy = (placement_policy)i;
            return MUSTER_OK;
        }
        nearest_offer(&search, policies[i]);
    }
    return error_set(MUSTER_ERR_ARGUMENT,
                     "there is no placement policy \"%.100s\"%s%s%s: there are auto, compact, "
                     "scatter, explicit and none",
                     text, search.best != NULL ? " (did you mean " : "",
                     search.best != NULL ? search.best : "", search.best != NULL ? "?)" : "");
}

const char *placement_policy_text(placement_policy policy)
{
    return policies[policy];
}

const char *placement_nearness_text(placement_nearness nearness)
{
    switch (nearness) {
    case PLACEMENT_NO_DEVICE:
        return "none";
    case PLACEMENT_UNKNOWN:
        return "anywhere";
    case PLACEMENT_LOCAL:
        return "local";
    case PLACEMENT_SAME_PACKAGE:
        return "same package";
    case PLACEMENT_REMOTE:
        return "remote";
    }
    return "unknown";
}
