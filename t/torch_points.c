/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "torch_points.h"

#include <string.h>

#include "tap.h"

void torch_points(const struct command *script, const char *who, int points)
{
    int made = 0;
    for (const char *line = script->out; *line != '\0' && made < points - 1;) {
        int length = (int)strcspn(line, "\n");
        bool passed = strncmp(line, "ok ", 3) == 0;
        if (passed || strncmp(line, "not ok ", 7) == 0) {
            int before = passed ? 3 : 7;
            ok(passed, "%s: %.*s", who, length - before, line + before);
            made++;
        }
        line += length + (line[length] == '\n');
    }
    for (; made < points - 1; made++)
        ok(false, "%s: point %d, which the script did not come to", who, made + 1);
    if (!is_int(script->status, 0, "%s: the script ends well", who))
        diag("%s", script->err);
}
