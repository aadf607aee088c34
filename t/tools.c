/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 32, NUM_PATHS = 8 };

struct command tools_run;
static char tools_folder[256];

void tools_start(int ranks, const char *tool, const char *const *words)
{
    const char *all[MOST_WORDS];
    char number[16];
    int count = 0;
    snprintf(number, sizeof(number), "%d", ranks);
    if (ranks > 0) {
        all[count++] = TOOLS "/muster-run";
        all[count++] = "-n";
        all[count++] = number;
    }
    all[count++] = tool;
    while (*words != NULL && count < MOST_WORDS - 1)
        all[count++] = *words++;
    all[count] = NULL;
    command_run(&tools_run, NULL, all);
}

int tools_count(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

int tools_width(const char *text)
{
    size_t width = 0;
    while (*text != '\0') {
        size_t line = strcspn(text, "\n"), indent = strspn(text, " ");
        bool one_word = indent + strcspn(text + indent, " \n") == line;
        width = !one_word && line > width ? line : width;
        text += line + (text[line] == '\n');
    }
    return (int)width;
}

const char *tools_path(const char *name)
{
    static char paths[NUM_PATHS][512];
    static int next;
    const char *where = getenv("TMPDIR");
    if (tools_folder[0] == '\0') {
        snprintf(tools_folder, sizeof(tools_folder), "%s/muster-tools-XXXXXX",
                 where != NULL ? where : "/tmp");
        if (mkdtemp(tools_folder) == NULL)
            bail_out("no folder for the test: %s", tools_folder);
    }
    char *path = paths[next++ % NUM_PATHS];
    snprintf(path, sizeof(paths[0]), "%s/%s", tools_folder, name);
    return path;
}

const char *tools_write(const char *name, const char *text)
{
    const char *path = tools_path(name);
    FILE *file = fopen(path, "we");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        bail_out("%s can't be written", path);
    return path;
}

void tools_clean(void)
{
    command_free(&tools_run);
    if (tools_folder[0] == '\0')
        return;
    struct command rm = {0};
    command_run(&rm, NULL, (const char *[]){"rm", "-rf", tools_folder, NULL});
    command_free(&rm);
}

void tools_common(const char *name)
{
    char tool[512], words[128];
    snprintf(tool, sizeof(tool), "%s/%s", TOOLS, name);
    tools_start(0, tool, (const char *[]){"--help", NULL});
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "%s --help succeeds", name);
    ok(strncmp(tools_run.out, "Usage: ", 7) == 0 && tools_width(tools_run.out) <= 80,
       "it fits a terminal");
    tools_start(0, tool, (const char *[]){"--version", NULL});
    snprintf(words, sizeof(words), "%s (muster) %s\n", name, PACKAGE_VERSION);
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "%s --version succeeds", name);
    is_str(tools_run.out, words, "and says the version");
    tools_start(0, tool, (const char *[]){"--sloth", NULL});
    ok(tools_run.status == 2 && tools_run.out[0] == '\0', "an unknown option is refused");
    ok(strstr(tools_run.err, name) == tools_run.err && strstr(tools_run.err, "--sloth") != NULL,
       "on stderr, by its name");
}

json_t *tools_json(void)
{
    json_error_t error;
    json_t *value = json_loads(tools_run.out, 0, &error);
    if (value != NULL)
        return value;
    diag("no JSON: %s, in: %s", error.text, tools_run.out);
    return json_object();
}
