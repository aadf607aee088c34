/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The examples compile as a user would compile them, and do what they say.
 */
#include "config.h"

#include "tools.h"

#include <stdio.h>

int main(void)
{
    plan(5);
    const char *hello = tools_path("hello");
    char script[4096];
    snprintf(script, sizeof(script),
             "%s -std=c11 -Wall -Wextra -Werror -I%s/include %s -o %s %s/examples/hello.c "
             "-L%s/lib/.libs -lmuster -Wl,-rpath,%s/lib/.libs",
             EXAMPLES_CC, SOURCES, EXAMPLES_FLAGS, hello, SOURCES, BUILD, BUILD);
    command_run(&tools_run, NULL, (const char *[]){"sh", "-c", script, NULL});
    if (!is_int(tools_run.status, 0, "hello compiles without a warning"))
        diag("%s: %s", script, tools_run.err);
    tools_start(4, hello, (const char *[]){NULL});
    is_int(tools_run.status, 0, "and runs");
    is_int(tools_count(tools_run.out, "\n"), 4, "every rank says a line");
    has_str(tools_run.out, "rank 3 of 4 on gloo received: | 2 | 102 -1 | 3 | 103 -1\n",
            "what it received");
    tools_start(0, hello, (const char *[]){NULL});
    is_str(tools_run.out, "rank 0 of 1 on local received: | 0 | 100 -1\n", "and alone");
    tools_clean();
    return done();
}
