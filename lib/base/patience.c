/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/patience.h"

#include <stdbool.h>

/* What an answer may take when the time is over. */
enum { MOMENT_MS = 400 };

static _Thread_local bool limited;
static _Thread_local deadline limit;

void patience_until(deadline end)
{
    limited = true;
    limit = end;
}

void patience_usual(void)
{
    limited = false;
}

deadline patience_for(int64_t timeout_ms)
{
    deadline usual = deadline_in(timeout_ms);
    deadline moment = deadline_in(MOMENT_MS);
    if (!limited)
        return usual;
    deadline last = limit.at_ns > moment.at_ns ? limit : moment;
    return last.at_ns < usual.at_ns ? last : usual;
}

int64_t patience_alone_ms(int64_t usual_ms)
{
    int64_t left_ms = limited ? deadline_left_ms(deadline_early(limit)) : usual_ms;
    return left_ms < usual_ms ? left_ms : usual_ms;
}
