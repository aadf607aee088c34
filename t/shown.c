/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programs that the pages show are those that are tested: the examples, and the first program,
 * which is compiled here as a user would.
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

/* The programs that the README shows are tested below. */
static void readme_shows(const char *name, const char *text)
{
    char *readme = read_source("README.md");
    const char *program = strstr(text, "#include");
    ok(program != NULL && strstr(readme, program) != NULL, "the README shows %s", name);
    free(readme);
}

static void readme_shows_hello(void)
{
    char *hello = read_source("examples/hello/hello.c");
    readme_shows("examples/hello/hello.c", hello);
    free(hello);
}

/* The block of code that begins at text, without its margin. */
static char *block_of(const char *text, const char **end)
{
    static const char margin[] = "    ";
    char *block = calloc(1, strlen(text) + 1);
    if (block == NULL)
        bail_out("no memory");
    while (strncmp(text, margin, strlen(margin)) == 0 || *text == '\n') {
        const char *line = *text == '\n' ? text : text + strlen(margin);
        strncat(block, line, strcspn(line, "\n") + 1);
        text = line + strcspn(line, "\n") + 1;
    }
    for (size_t size = strlen(block); size > 1 && block[size - 2] == '\n'; size--)
        block[size - 1] = '\0';
    *end = text;
    return block;
}

/* Every block of code in a page, which others are not, is part of a program that is tested below.
 */
static void page_shows(const char *name, int blocks, const char *const *programs)
{
    char *page = read_source(name);
    int shown = 0, code = 0;
    for (const char *at = page; (at = strstr(at, "\n\n    ")) != NULL;) {
        char *block = block_of(at + 2, &at);
        bool found = false, is_code = strchr(block, '{') != NULL;
        for (int i = 0; programs[i] != NULL && !found; i++) {
            char *program = read_source(programs[i]);
            found = strstr(program, block) != NULL;
            free(program);
        }
        if (is_code && !found)
            diag("no program has %s", block);
        code += is_code;
        shown += is_code && found;
        at--;
        free(block);
    }
    ok(shown == blocks && code == blocks, "all %d blocks of code in %s are of programs", blocks,
       name);
    free(page);
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
    readme_shows("the first program of the manual", program);
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
    plan(6);
    readme_shows_hello();
    page_shows(
        "doc/failures.md", 2,
        (const char *[]){"examples/shrink/shrink.c", "examples/interrupt/interrupt.c", NULL});
    run_first_program();
    tools_clean();
    return done();
}
