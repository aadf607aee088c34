/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The examples compile as a user would compile them, and do what they say.
 */
#include "config.h"

#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_source(const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", SOURCES, name);
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 65536);
    if (file == NULL || text == NULL || fread(text, 1, 65535, file) == 0)
        bail_out("%s can't be read", path);
    fclose(file);
    return text;
}

/* The program that the README shows is the one that is tested below. */
static void readme_shows_hello(void)
{
    char *readme = read_source("README.md"), *hello = read_source("examples/hello.c");
    const char *program = strstr(hello, "#include");
    ok(program != NULL && strstr(readme, program) != NULL, "the README shows examples/hello.c");
    free(readme);
    free(hello);
}

/* The program on the first page of the manual, out of its comment. */
static const char *write_first_program(void)
{
    static const char margin[] = " *     ";
    char *header = read_source("include/muster.h"), *program = calloc(1, strlen(header) + 1);
    if (program == NULL)
        bail_out("no memory");
    const char *line = strstr(header, " *     #include");
    for (bool last = line == NULL; !last; line = strchr(line, '\n') + 1) {
        bool code = strncmp(line, margin, strlen(margin)) == 0;
        const char *text = line + (code ? strlen(margin) : strcspn(line, "\n"));
        strncat(program, text, strcspn(text, "\n") + 1);
        last = strncmp(text, "}\n", 2) == 0;
    }
    const char *path = tools_write("first.c", program);
    free(program);
    free(header);
    return path;
}

/* As a user would. */
static void compile(const char *source, const char *program)
{
    char script[8192];
    snprintf(script, sizeof(script),
             "%s -std=c11 -Wall -Wextra -Werror -I%s/include %s -o %s %s "
             "-L%s/lib/.libs -lmuster -Wl,-rpath,%s/lib/.libs",
             EXAMPLES_CC, SOURCES, EXAMPLES_FLAGS, program, source, BUILD, BUILD);
    command_run(&tools_run, NULL, (const char *[]){"sh", "-c", script, NULL});
    if (!is_int(tools_run.status, 0, "%s compiles without a warning", source))
        diag("%s: %s", script, tools_run.err);
}

static void run_hello(void)
{
    const char *hello = tools_path("hello");
    compile(SOURCES "/examples/hello.c", hello);
    tools_start(4, hello, (const char *[]){NULL});
    is_int(tools_run.status, 0, "and runs");
    is_int(tools_count(tools_run.out, "\n"), 4, "every rank says a line");
    has_str(tools_run.out, "rank 3 of 4 on gloo received: | 2 | 102 -1 | 3 | 103 -1\n",
            "what it received");
    tools_start(0, hello, (const char *[]){NULL});
    is_str(tools_run.out, "rank 0 of 1 on local received: | 0 | 100 -1\n", "and alone");
}

static void run_first_program(void)
{
    const char *source = write_first_program(), *first = tools_path("first");
    compile(source, first);
    tools_start(4, first, (const char *[]){NULL});
    is_int(tools_run.status, 0, "and runs");
    is_int(tools_count(tools_run.out, ": all ranks together are 6\n"), 4, "every rank says it");
}

int main(void)
{
    needs_gloo();
    plan(9);
    readme_shows_hello();
    run_hello();
    run_first_program();
    tools_clean();
    return done();
}
