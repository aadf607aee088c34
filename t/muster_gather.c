/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-gather from the outside: the main job, what it writes, and all that may be wrong with a
 * file or the place of the output.
 */
#include "config.h"

#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOOD "{\"prompt\":\"x\",\"token_ids\":[1,-2,9000000000]}\n"

static bool same_file(const char *a, const char *b)
{
    struct command cmp = {0};
    command_run(&cmp, NULL, (const char *[]){"cmp", a, b, NULL});
    int status = cmp.status;
    if (status != 0)
        diag("%s%s", cmp.out, cmp.err);
    command_free(&cmp);
    return status == 0;
}

static void main_job(void)
{
    const char *output = tools_path("all.jsonl");
    TOOLS_RANKS(4, "muster-gather", "--group-size", "2", "--output", output, PROMPTS);
    is_int(tools_run.status, 0, "the main job succeeds");
    is_str(tools_run.err, "", "and complains of nothing");
    has_str(tools_run.out, "ranks       4 on 1 host\n", "ranks and hosts");
    has_str(tools_run.out, "2 regular of 2, 2 orthogonal of 2\n", "sub-groups");
    has_str(tools_run.out, "backend     local", "the backend");
    has_str(tools_run.out, "why         auto: ", "why");
    has_str(tools_run.out, "prompts     1319\n", "prompts");
    has_str(tools_run.out, "tokens      77109\n", "tokens");
    /* The path of the output may be longer than any line. */
    char *path = strstr(tools_run.out, "  written to");
    ok(path != NULL, "where they were written");
    if (path != NULL)
        *path = '\0';
    ok(tools_width(tools_run.out) <= 80, "it fits a terminal");
    ok(same_file(output, PROMPTS), "the output is the file");
}

static void summary_in_json(void)
{
    TOOLS_RANKS(3, "muster-gather", "--json", PROMPTS);
    json_t *summary = tools_json();
    is_int(json_integer_value(json_object_get(summary, "ranks")), 3, "JSON: ranks");
    is_int(json_integer_value(json_object_get(summary, "regular_size")), 3, "regular of all");
    is_int(json_integer_value(json_object_get(summary, "prompts")), 1319, "prompts");
    is_int(json_integer_value(json_object_get(summary, "tokens")), 77109, "tokens");
    /* Every id at the two ranks that did not give it, in four bytes. */
    long long moved = json_integer_value(json_object_get(summary, "token_bytes_moved"));
    ok(moved >= 77109 * 8 && moved < 77109 * 8 * 1.05 + 1319 * 16 * 2, "bytes of token ids: %lld",
       moved);
    is_int(json_integer_value(json_object_get(summary, "object_bytes_moved")), 0,
           "no prompts move in groups of one");
    json_decref(summary);
}

static void other_shapes(void)
{
    TOOLS_ALONE("muster-gather", PROMPTS);
    is_int(tools_run.status, 0, "one rank without a launcher");
    has_str(tools_run.out, "backend     local", "on the built-in backend");
    TOOLS_RANKS(2, "muster-gather", "-g", "1", "-q", PROMPTS);
    ok(tools_run.status == 0 && tools_run.out[0] == '\0' && tools_run.err[0] == '\0', "quietly");
    TOOLS_RANKS(2, "muster-gather", "-v", PROMPTS);
    is_int(tools_count(tools_run.out, "set-up us"), 3, "all three groups are described");
    TOOLS_RANKS(3, "muster-gather", tools_write("empty", ""));
    is_int(tools_run.status, 0, "an empty file");
    has_str(tools_run.out, "prompts     0\n", "has no prompts");
    TOOLS_RANKS(3, "muster-gather", "-o", "-", tools_write("two", GOOD "\n" GOOD));
    is_str(tools_run.out, GOOD GOOD, "fewer prompts than ranks, to stdout");
    has_str(tools_run.err, "prompts     2\n", "and the summary to stderr");
    char crlf[] = GOOD;
    strcpy(crlf + sizeof(crlf) - 2, "\r");
    TOOLS_RANKS(2, "muster-gather", "-qo", "-", tools_write("windows", crlf));
    is_str(tools_run.out, GOOD, "a Windows line end and no newline");
}

static const struct bad_file {
    const char *name;
    const char *text; /* after a good line and an empty one, so the line is 3 */
    const char *words;
} bad_files[] = {
    {"no JSON", "oh\n", ":3: the line is no JSON: "},
    {"half an object", "{\"prompt\":", ":3: the line is no JSON: "},
    {"a list", "[1]\n", ":3: the line is no JSON object"},
    {"no prompt", "{\"token_ids\":[1]}\n", ":3: there is no text \"prompt\""},
    {"a prompt that is no text", "{\"prompt\":1,\"token_ids\":[1]}\n", "no text \"prompt\""},
    {"no token ids", "{\"prompt\":\"x\"}\n", ":3: there is no list \"token_ids\""},
    {"token ids that are no list", "{\"prompt\":\"x\",\"token_ids\":5}\n", "no list"},
    {"a fraction", "{\"prompt\":\"x\",\"token_ids\":[1,2.5]}\n", ":3: item 1 of \"token_ids\""},
    {"a text", "{\"prompt\":\"x\",\"token_ids\":[\"7\"]}\n", ":3: item 0 of \"token_ids\""},
    {"too large an integer", "{\"prompt\":\"x\",\"token_ids\":[99999999999999999999]}\n",
     ":3: the line is no JSON: too big"},
    {"no UTF-8", "{\"prompt\":\"\xff\",\"token_ids\":[1]}\n", ":3: the line is no JSON: "},
};
enum { NUM_BAD_FILES = sizeof(bad_files) / sizeof(bad_files[0]) };

/* One sentence, and no rank that waits for another. */
static void refused(const char *name, const char *words)
{
    bool once = tools_count(tools_run.err, "muster-gather: ") == 1;
    ok(tools_run.status == 1 && once && tools_run.out[0] == '\0', "%s: one sentence", name);
    if (!has_str(tools_run.err, words, "%s: which says so", name) || !once)
        diag("%s", tools_run.err);
}

static void bad_input(void)
{
    char text[512];
    for (size_t i = 0; i < NUM_BAD_FILES; i++) {
        snprintf(text, sizeof(text), GOOD "\n%s", bad_files[i].text);
        TOOLS_RANKS(2, "muster-gather", tools_write("bad.jsonl", text));
        refused(bad_files[i].name, bad_files[i].words);
    }
    TOOLS_RANKS(3, "muster-gather", tools_path("nowhere"));
    refused("no file", "can't be read: No such file");
    TOOLS_RANKS(2, "muster-gather", tools_path("."));
    refused("a folder", "it is a folder");
    const char *pipe = tools_path("pipe");
    if (mkfifo(pipe, 0600) != 0)
        bail_out("%s", pipe);
    TOOLS_RANKS(2, "muster-gather", pipe);
    refused("a pipe", "it is no regular file");
    TOOLS_RANKS(4, "muster-gather", "--group-size", "3", PROMPTS);
    refused("a size that does not divide", "--group-size 3 does not divide the 4 ranks");
    TOOLS_ALONE("muster-gather", "--backend", "sloth", PROMPTS);
    refused("an unknown backend", "'sloth'");
}

/* What happens when not all ranks have the same file. */
static void copies(void)
{
    char script[1024];
    tools_write("copy0", GOOD GOOD GOOD);
    tools_write("copy1", GOOD GOOD "{\"prompt\":\"y\",\"token_ids\":[1,-2,9000000000]}\n");
    const char *folder = tools_path("copy");
    snprintf(script, sizeof(script), "exec " TOOLS "/muster-gather -g 1 %s$RANK", folder);
    command_run(&tools_run, NULL,
                (const char *[]){TOOLS "/muster-run", "-n", "2", "sh", "-c", script, NULL});
    ok(tools_run.status == 1 && tools_run.out[0] == '\0', "copies that differ");
    has_str(tools_run.err, "rank 0 received prompt 2 from rank 1 with other bytes than in line 3",
            "rank and prompt are named");
    snprintf(script, sizeof(script), "exec " TOOLS "/muster-gather %s${RANK#1}", folder);
    command_run(&tools_run, NULL,
                (const char *[]){TOOLS "/muster-run", "-n", "2", "sh", "-c", script, NULL});
    refused("a file that one rank lacks", "rank 1 on ");
    tools_write("copy1", "{\"prompt\":\"x\",\"token_ids\":[1,3]}\n" GOOD GOOD);
    snprintf(script, sizeof(script), "exec " TOOLS "/muster-gather -g 2 %s$RANK", folder);
    command_run(&tools_run, NULL,
                (const char *[]){TOOLS "/muster-run", "-n", "2", "sh", "-c", script, NULL});
    has_str(tools_run.err, "rank 1 received prompt 0 from rank 0 with another number of token ids",
            "token ids that differ");
}

static void bad_output(void)
{
    char script[2048];
    TOOLS_RANKS(2, "muster-gather", "-o", tools_path("no/where"), PROMPTS);
    refused("a folder that is not there", "can't be written: No such file");
    TOOLS_RANKS(2, "muster-gather", "-o", tools_path("."), PROMPTS);
    refused("a folder as output", "can't be opened: Is a directory");
    TOOLS_RANKS(2, "muster-gather", "-o", "/dev/full", PROMPTS);
    refused("a full device", "can't be written: No space left");
    const char *old = tools_write("old", "old\n");
    snprintf(script, sizeof(script), "ulimit -f 8; exec " TOOLS "/muster-gather -o %s " PROMPTS,
             old);
    command_run(&tools_run, NULL, (const char *[]){"sh", "-c", script, NULL});
    refused("a full disk", "can't be written: File too large");
    ok(same_file(old, tools_write("expected", "old\n")), "and what was there is there");
    snprintf(script, sizeof(script), "ls %s | grep -c '^old'", tools_path("."));
    command_run(&tools_run, NULL, (const char *[]){"sh", "-c", script, NULL});
    is_str(tools_run.out, "1\n", "and nothing beside it");
    TOOLS_ALONE("muster-gather", "-q", "-o", "-", PROMPTS);
    ok(strlen(tools_run.out) > 700000, "stdout takes all");
    command_run(
        &tools_run, NULL,
        (const char *[]){"sh", "-c", "exec " TOOLS "/muster-gather " PROMPTS " >/dev/full", NULL});
    ok(tools_run.status == 1, "a summary that can't be written");
    has_str(tools_run.err, "standard output can't be written", "is an error");
    command_run(
        &tools_run, NULL,
        (const char *[]){"sh", "-c", "exec " TOOLS "/muster-gather -q -o - " PROMPTS " >&-", NULL});
    refused("a closed stdout", "'-' can't be written: Bad file descriptor");
}

/* A link stays a link, permissions stay. */
static void good_output(void)
{
    struct stat status;
    const char *target = tools_write("target", "old\n");
    const char *link = tools_path("link");
    if (chmod(target, 0640) != 0 || symlink(target, link) != 0)
        bail_out("%s", link);
    TOOLS_RANKS(2, "muster-gather", "-q", "-o", link, PROMPTS);
    ok(lstat(link, &status) == 0 && S_ISLNK(status.st_mode), "a link stays one");
    ok(same_file(target, PROMPTS), "and what it leads to is replaced");
    ok(stat(target, &status) == 0 && (status.st_mode & 0777) == 0640, "with its permissions");
}

static void command_line(void)
{
    tools_common("muster-gather");
    TOOLS_ALONE("muster-gather", "-q");
    ok(tools_run.status == 2 && strstr(tools_run.err, "no file") != NULL, "a file is needed");
    TOOLS_ALONE("muster-gather", "a", "b");
    ok(tools_run.status == 2 && strstr(tools_run.err, "one file") != NULL, "and only one");
    TOOLS_ALONE("muster-gather", "-g", "0", "a");
    ok(tools_run.status == 2 && strstr(tools_run.err, "not '0'") != NULL, "a size of 0");
    TOOLS_ALONE("muster-gather", "--timeout", "soon", "a");
    ok(tools_run.status == 2 && strstr(tools_run.err, "not 'soon'") != NULL, "no time");
}

int main(void)
{
    needs_gloo();
    plan(TOOLS_COMMON_POINTS + 4 + 11 + 6 + 9 + 2 * (NUM_BAD_FILES + 5) + 5 + 15 + 3);
    command_line();
    main_job();
    summary_in_json();
    other_shapes();
    bad_input();
    copies();
    bad_output();
    good_output();
    tools_clean();
    return done();
}
