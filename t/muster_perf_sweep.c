/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf OPERATION and overlap from the outside: what is in the tables, that wrong results are
 * found, and who it is compared with. How fast anything is, is no test.
 */
#include "config.h"

#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static double number(const json_t *all, const char *name)
{
    const json_t *value = json_object_get(all, name);
    return json_is_number(value) ? json_number_value(value) : -1;
}

/* Whether it was measured, was right, and has the bus bandwidth that the formula says. */
static bool half_is_good(const json_t *half, double factor)
{
    double algbw = number(half, "algbw"), busbw = number(half, "busbw");
    return number(half, "seconds") > 0 && number(half, "wrong") == 0 &&
           fabs(algbw * factor - busbw) <= 1e-9 + 1e-6 * busbw;
}

enum { OUTSIDE = 1, INSIDE = 2 };

static bool line_is_good(const json_t *line, int halves, double factor)
{
    const json_t *outside = json_object_get(line, "out_of_place");
    const json_t *inside = json_object_get(line, "in_place");
    return (halves & OUTSIDE ? half_is_good(outside, factor) : json_is_null(outside)) &&
           (halves & INSIDE ? half_is_good(inside, factor) : json_is_null(inside));
}

/* ---- Operations ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int halves, lines;
    double size; /* of the last line */
    double factor;
    bool rooted, reduces;
} operations[] = {
    {"barrier", OUTSIDE, 1, 0, 0, false, false},
    {"broadcast", INSIDE, 4, 5184, 1, true, false},
    {"reduce", OUTSIDE | INSIDE, 4, 5184, 1, true, true},
    {"all_reduce", OUTSIDE | INSIDE, 4, 5184, 4.0 / 3, false, true},
    {"gather", OUTSIDE | INSIDE, 4, 5184, 2.0 / 3, true, false},
    {"gather_v", OUTSIDE | INSIDE, 4, 6048, 2.0 / 3, true, false},
    {"scatter", OUTSIDE | INSIDE, 4, 5184, 2.0 / 3, true, false},
    {"scatter_v", OUTSIDE | INSIDE, 4, 6048, 2.0 / 3, true, false},
    {"all_gather", OUTSIDE | INSIDE, 4, 5184, 2.0 / 3, false, false},
    {"all_gather_v", OUTSIDE | INSIDE, 4, 6048, 2.0 / 3, false, false},
    {"reduce_scatter", OUTSIDE | INSIDE, 4, 5184, 2.0 / 3, false, true},
    {"reduce_scatter_v", OUTSIDE | INSIDE, 4, 6048, 2.0 / 3, false, true},
    {"all_to_all", OUTSIDE | INSIDE, 4, 5184, 2.0 / 3, false, false},
    {"all_to_all_v", OUTSIDE | INSIDE, 4, 6048, 2.0 / 3, false, false},
    {"send_recv", OUTSIDE, 4, 5184, 1, false, false},
};
enum { NUM_OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static void operation(size_t i)
{
    size_t at;
    json_t *line;
    TOOLS_RANKS(3, "muster-perf", operations[i].name, "-b", "24", "-e", "5184", "-f", "6", "-n",
                "2", "-w", "1", "--json");
    json_t *all = tools_json(), *results = json_object_get(all, "results");
    bool good = tools_run.status == 0 && number(all, "wrong") == 0 &&
                json_array_size(results) == (size_t)operations[i].lines;
    json_array_foreach(results, at, line)
    {
        good = good && line_is_good(line, operations[i].halves, operations[i].factor);
        good = good && number(line, "root") == (operations[i].rooted ? 0 : -1);
        good = good && strcmp(json_string_value(json_object_get(line, "redop")),
                              operations[i].reduces ? "sum" : "none") == 0;
    }
    line = json_array_get(results, json_array_size(results) - 1);
    ok(good && number(line, "size") == operations[i].size, "%s: %d lines", operations[i].name,
       operations[i].lines);
    json_decref(all);
}

/* The lines that are no comments; each must have 13 columns. */
static int table_lines(const char *text)
{
    int lines = 0;
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[256], *rest = line;
        int words = 0;
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
        while (strtok_r(rest, " ", &rest) != NULL)
            words++;
        if (line[0] != '#' && words != 13)
            return -1;
        lines += line[0] != '#';
    }
    return lines;
}

static void table(void)
{
    TOOLS_RANKS(2, "muster-perf", "all_reduce", "-b", "8", "-e", "1K", "-i", "508", "--iters", "1");
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "a table");
    is_int(table_lines(tools_run.out), 3, "of three sizes, 508 bytes apart");
    has_str(tools_run.out, "#         size        count        type      redop   root        time",
            "with a heading");
    has_str(tools_run.out, "\n          1024          256     float32        sum     -1 ",
            "a line");
    has_str(tools_run.out, "\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : ", "an end");
    TOOLS_RANKS(2, "muster-perf", "send_recv", "-b", "8", "-e", "8", "-n", "1", "-c", "0");
    has_str(tools_run.out, " N/A         N/A     N/A     N/A    N/A\n", "what is not there is N/A");
    ok(strstr(tools_run.out, "Out of bounds") == NULL, "and what was not checked not told");
    TOOLS_RANKS(2, "muster-perf", "reduce", "-b", "8", "-e", "8", "-n", "1", "-w", "0", "-d", "all",
                "-o", "all", "-r", "all");
    is_int(table_lines(tools_run.out), 2 * (6 * 6 + 6 * 9 + 7),
           "all types, reductions that they have, and roots");
    TOOLS_RANKS(2, "muster-perf", "barrier", "-n", "1", "-d", "all", "-o", "all", "-r", "all");
    is_int(table_lines(tools_run.out), 1, "of which a barrier has none");
    TOOLS_RANKS(2, "muster-perf", "gather", "-b", "0", "-e", "0", "-d", "half", "-r", "1");
    ok(tools_run.status == 0 && table_lines(tools_run.out) == 1, "nothing at all is a size too");
    has_str(tools_run.out, "     float16       none      1 ", "a name of nccl-tests");
}

/* ---- Wrong results ------------------------------------------------------------------------- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void wrong(const char *name, int ranks, const char *end)
{
    setenv("LD_PRELOAD", WRONG_RESULTS, 1);
    TOOLS_RANKS(ranks, "muster-perf", name, "-b", "1200", "-e", "1200", "-n", "1");
    unsetenv("LD_PRELOAD");
    ok(tools_run.status == 1, "%s: it ends with 1", name);
    has_str(tools_run.out, end, "and tells how many are wrong");
}

static void wrongs(void)
{
    wrong("all_reduce", 2, "# Out of bounds values : 4 FAILED\n");
    wrong("all_gather", 3, "# Out of bounds values : 6 FAILED\n");
    wrong("broadcast", 3, "# Out of bounds values : 600 FAILED\n");
    setenv("LD_PRELOAD", WRONG_RESULTS, 1);
    TOOLS_RANKS(2, "muster-perf", "all_reduce", "-b", "8", "-e", "8", "-d", "int32", "-n", "1");
    is_int(tools_run.status, 0, "a type that is right is right");
    TOOLS_RANKS(2, "muster-perf", "all_reduce", "-b", "8", "-e", "8", "-c", "0", "-n", "1");
    unsetenv("LD_PRELOAD");
    is_int(tools_run.status, 0, "without a check nothing is found");
}
#else
static void wrongs(void)
{
    skip(8, "a sanitizer does not let others be loaded before it");
}
#endif

/* ---- Peers --------------------------------------------------------------------------------- */

/* A program that answers as a rank of torch does: the port, then how many ranks there are, then
 * answer to each order, which goes to a file of that rank. */
static const char *peer_script(const char *name, const char *first, const char *answer)
{
    char text[1024];
    const char *log = tools_path("orders");
    snprintf(text, sizeof(text),
             "#!/bin/sh\necho '12 0'\nread -r line\necho '%s'\n"
             "while read -r line; do echo \"$line\" >>%s.$6; echo '%s'; done\n",
             first, log, answer);
    const char *path = tools_write(name, text);
    chmod(path, 0700);
    return path;
}

/* The same of an MPI, which is one program for all ranks. */
static const char *mpi_script(void)
{
    const char *path =
        tools_write("mpirun", "#!/bin/sh\necho '2 0'\nwhile read -r line; do echo '0.5 0'; done\n");
    chmod(path, 0700);
    return path;
}

#define PEER "-b", "8", "-e", "64", "-n", "3", "-w", "1", "--rounds", "2", "--peer"

static void torch_in_words(void)
{
    char orders[1024] = "";
    TOOLS_RANKS(2, "muster-perf", "all_reduce", PEER, "torch", "--torch",
                peer_script("peer", "2 0", "1000 0"));
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "beside a peer");
    has_str(tools_run.out, " 1000000000.00 ", "the peer's time is in a table");
    FILE *file = fopen(tools_path("orders.1"), "re");
    size_t length = file == NULL ? 0 : fread(orders, 1, sizeof(orders) - 1, file);
    orders[length] = '\0';
    if (file != NULL)
        fclose(file);
    is_str(orders,
           "all_reduce float32 sum 0 2 3 1\nall_reduce float32 sum 0 2 3 1\n"
           "all_reduce float32 sum 0 16 3 1\nall_reduce float32 sum 0 16 3 1\n",
           "each of its ranks was asked in each round");
    TOOLS_RANKS(2, "muster-perf", "broadcast", PEER, "torch", "--torch",
                peer_script("none", "2 0", "-1 0"), "-o", "avg");
    has_str(tools_run.out, "          N/A      N/A\n", "what a peer lacks is N/A");
    ok(strstr(tools_run.out, "# N/A of ") == NULL, "without a reason where it gives none");
    TOOLS_RANKS(2, "muster-perf", "broadcast", PEER, "torch", "--torch",
                peer_script("lazy", "2 0", "-1 0 it is not in the mood"));
    is_int(tools_count(tools_run.out, "          N/A      N/A\n"), 2, "one that gives a reason");
    is_int(tools_count(tools_run.out, "\n# N/A of torch: it is not in the mood\n"), 1,
           "is quoted once");
    TOOLS_RANKS(2, "muster-perf", "broadcast", PEER, "torch", "--json", "--torch",
                peer_script("lazy", "2 0", "-1 0 it is not in the mood"));
    json_t *lazy = tools_json(), *lacks = json_array_get(json_object_get(lazy, "results"), 0);
    lacks = json_object_get(json_object_get(lacks, "lacks"), "torch");
    is_str(json_string_value(lacks), "it is not in the mood", "in JSON too");
    json_decref(lazy);
    TOOLS_RANKS(2, "muster-perf", "all_reduce", PEER, "torch", "--torch",
                peer_script("peer", "2 0", "0.5 0"), "--json");
    json_t *all = tools_json(), *line = json_array_get(json_object_get(all, "results"), 1);
    is_int((long long)(10 * number(json_object_get(line, "against"), "torch")), 5, "JSON: torch");
    ok(number(json_object_get(line, "against"), "muster") > 0, "and muster");
    json_decref(all);
}

/* How many digits the last word of the line of 64 bytes has, from its first that is no 0 on. */
static int digits_of_ratio(void)
{
    const char *line = strstr(tools_run.out, "\n            64     float32");
    const char *end = line == NULL ? NULL : strchr(line + 1, '\n'), *at = end;
    int digits = 0;
    while (end != NULL && at[-1] != ' ')
        at--;
    for (; at != end; at++)
        digits += *at >= '1' && *at <= '9' ? 1 : *at == '0' && digits > 0 ? 1 : 0;
    return digits;
}

static void ratios(void)
{
    static const char *const seconds[] = {"0.000000100 0", "0.01 0", "50 0"};
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        TOOLS_RANKS(2, "muster-perf", "all_reduce", "-d", "float32", PEER, "torch", "--torch",
                    peer_script("pace", "2 0", seconds[i]));
        ok(tools_run.status == 0 && digits_of_ratio() >= 2, "the ratio to %s has two digits",
           seconds[i]);
    }
}

static void peer_fails(const char *name, const char *program, const char *words)
{
    TOOLS_RANKS(2, "muster-perf", "all_reduce", PEER, "torch", "--torch", program);
    ok(tools_run.status == 1 && tools_count(tools_run.err, words) == 1, "%s", name);
}

static void peers_that_fail(void)
{
    peer_fails("a Python that is not there", tools_path("nowhere"), "can't be run: No such file");
    peer_fails("one that just ends", "true", "gave no answer in time, or has ended");
    peer_fails("a world of another size", peer_script("one", "1 0", "1 0"),
               "--peer torch: its world has 1 of 2 ranks");
    peer_fails("one that gives up", peer_script("weak", "2 0", "!it is tired"),
               "--peer torch: it is tired");
    setenv("MPICC", "false", 1);
    TOOLS_RANKS(2, "muster-perf", "all_reduce", PEER, "mpi");
    unsetenv("MPICC");
    ok(tools_run.status == 1 && tools_count(tools_run.err, "--peer mpi: false: ") == 1,
       "a compiler that fails");
    setenv("MPICC", "true", 1);
    setenv("MPIRUN", mpi_script(), 1);
    TOOLS_RANKS(2, "muster-perf", "all_reduce", PEER, "mpi", "--json", "--timeout", "20");
    unsetenv("MPICC");
    unsetenv("MPIRUN");
    is_int(tools_run.status, 0, "an MPI that was named");
    setenv("MPICC", "true", 1);
    setenv("MPIRUN", tools_path("nowhere"), 1);
    TOOLS_RANKS(2, "muster-perf", "all_reduce", PEER, "mpi");
    unsetenv("MPICC");
    unsetenv("MPIRUN");
    ok(tools_run.status == 1 && tools_count(tools_run.err, "nowhere can't be run: ") == 1,
       "one that is not there");
}

/* What they lack they say in a sentence, which begins with words. */
static void real_lack(const char *peer, const char *missing, bool there, const char *words)
{
    if (!there) {
        skip(1, "%s", missing);
        return;
    }
    TOOLS_RANKS(2, "muster-perf", "reduce_scatter_v", "-o", "avg", "-d", "float16", PEER, peer,
                strcmp(peer, "torch") == 0 ? "--torch" : NULL, "/usr/bin/python3");
    is_int(tools_count(tools_run.out, words), 1, "%s says what it lacks", peer);
}

/* Those that are installed; every operation that both have. */
static void real_peer(const char *peer, const char *missing, bool there)
{
    for (size_t i = 0; i < NUM_OPERATIONS; i += 3) {
        if (!there) {
            skip(1, missing);
            continue;
        }
        bool torch = strcmp(peer, "torch") == 0;
        TOOLS_RANKS(2, "muster-perf", operations[i].name, PEER, peer, "--json", "--timeout", "30",
                    torch ? "--torch" : NULL, "/usr/bin/python3");
        json_t *all = tools_json(), *line = json_array_get(json_object_get(all, "results"), 0);
        ok(number(json_object_get(line, "against"), peer) > 0 ||
               (torch && tools_run.status == 0 &&
                json_object_get(json_object_get(line, "lacks"), peer) != NULL),
           "%s of %s", operations[i].name, peer);
        json_decref(all);
    }
}

/* ---- The rest ------------------------------------------------------------------------------ */

/* It is said where both take as long as each other alone, but for a quarter. */
static void hidden_where_comparable(const json_t *all, const char *which)
{
    const json_t *half = json_object_get(all, which);
    const json_t *hidden = json_object_get(half, "hidden"),
                 *rounds = json_object_get(half, "hidden_rounds");
    double a = number(all, "all_reduce_seconds"), b = number(half, "alone_seconds");
    ok(json_is_real(hidden) == (a <= 1.25 * b && b <= 1.25 * a) &&
           json_array_size(rounds) == (size_t)number(all, "rounds"),
       "%s: what is hidden, where the two can be compared", which);
}

static void overlaps(void)
{
    TOOLS_RANKS(2, "muster-perf", "overlap", "-n", "2", "-e", "64K");
    ok(tools_run.status == 0 && tools_run.err[0] == '\0', "overlap");
    has_str(tools_run.out, "hidden", "and what it gains");
    has_str(tools_run.out, "      median       least        most\n", "with its spread");
    ok(tools_width(tools_run.out) <= 80, "a table for a terminal");
    TOOLS_RANKS(2, "muster-perf", "overlap", "-n", "2", "-e", "64K", "--json");
    json_t *all = tools_json();
    is_int((long long)number(all, "size"), 65536, "JSON: size");
    ok(number(json_object_get(all, "computing"), "both_seconds") > 0 &&
           number(json_object_get(all, "device"), "alone_seconds") > 0,
       "times");
    hidden_where_comparable(all, "computing");
    hidden_where_comparable(all, "device");
    json_decref(all);
    /* No sleep is as short as adding up two numbers. */
    TOOLS_ALONE("muster-perf", "overlap", "-n", "3", "-e", "8");
    has_str(tools_run.out, "the two differ by more than a quarter: what is hidden is not said\n",
            "a sleep that is much longer hides nothing");
    TOOLS_ALONE("muster-perf", "overlap", "-n", "3", "-e", "8", "--json");
    all = tools_json();
    hidden_where_comparable(all, "device");
    ok(json_is_null(json_object_get(json_object_get(all, "device"), "hidden")), "which is null");
    json_decref(all);
    TOOLS_RANKS(2, "muster-perf", "overlap", "-d", "all");
    ok(tools_run.status == 1 && tools_count(tools_run.err, "takes one type") == 1, "of one type");
}

static void command_line(void)
{
    static const struct {
        const char *what, *option, *value, *words;
        int status;
    } bad[] = {
        {"all_reduce", "-b", "x", "not 'x'", 2},
        {"all_reduce", "-b", "-1", "not '-1'", 2},
        {"all_reduce", "-e", "8T", "not '8T'", 2},
        {"all_reduce", "-e", "8KK", "not '8KK'", 2},
        {"all_reduce", "-e", "99999999999999999999", "--maxbytes takes bytes", 2},
        {"all_reduce", "-e", "65537G", "not '65537G'", 2},
        {"all_reduce", "-b", "65M", "more than --maxbytes", 2},
        {"all_reduce", "-b", "0", "no way up by a factor", 2},
        {"all_reduce", "-f", "1", "not '1'", 2},
        {"all_reduce", "-i", "0", "not '0'", 2},
        {"all_reduce", "-n", "0", "not '0'", 2},
        {"all_reduce", "-w", "-1", "not '-1'", 2},
        {"all_reduce", "-c", "yes", "not 'yes'", 2},
        {"all_reduce", "-d", "float12", "not 'float12'", 2},
        {"all_reduce", "-d", "bf16", "float16, bfloat16, float8_e4m3,", 2},
        {"al_reduce", "-b", "8", "reduce, all_reduce, gather, gather_v,", 2},
        {"all_reduce", "-o", "mean", "not 'mean'", 2},
        {"reduce", "-r", "-1", "not '-1'", 2},
        {"reduce", "-r", "1", "--root 1 is none of the 1 ranks", 1},
        {"all_reduce", "--peer", "nccl", "not 'nccl'", 2},
        {"all_reduce", "--torch", "python3", "--torch for --peer torch too", 2},
        {"all_reduce", "--clients", "1", "are for store", 2},
        {"all_reduce", "--ragged", "1x1", "are for gather_tokens", 2},
        {"groups", "-b", "8", "are for operations", 2},
        {"gather_tokens", "--peer", "mpi", "--peer mpi is for operations", 2},
        {"groups", "--peer", "mpi", "--peer mpi is for operations", 2},
        {"overlap", "--peer", "torch", "--peer torch for operations, groups", 2},
        {"store", "--peer", "torch", "--peer torch for operations, groups", 2},
        {"all_reduce", "-e", "65536G", "not enough memory", 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        TOOLS_ALONE("muster-perf", bad[i].what, bad[i].option, bad[i].value);
        ok(tools_run.status == bad[i].status && strstr(tools_run.err, bad[i].words) != NULL,
           "%s %s %s is refused", bad[i].what, bad[i].option, bad[i].value);
    }
    TOOLS_RANKS(2, "muster-perf", "all_reduce", "-o", "band", "-b", "8", "-e", "8");
    ok(tools_run.status == 1 && tools_count(tools_run.err, "band is not defined for") == 2,
       "a reduction that a type lacks is refused on each rank");
}

int main(void)
{
    needs_gloo();
    /* AddressSanitizer's memory does not just run out, unless it is told to. */
    setenv("ASAN_OPTIONS", "allocator_may_return_null=1", 1);
    plan(NUM_OPERATIONS + 11 + 8 + 10 + 3 + 6 + 12 + 12 + 31);
    command_line();
    for (size_t i = 0; i < NUM_OPERATIONS; i++)
        operation(i);
    table();
    wrongs();
    torch_in_words();
    ratios();
    peers_that_fail();
    const char *no_mpi = "there is no Open MPI", *no_torch = "/usr/bin/python3 has no torch";
    bool mpi = system("command -v mpicc.openmpi mpirun.openmpi >/dev/null") == 0;
    bool torch = system("/usr/bin/python3 -c 'import torch.distributed' 2>/dev/null") == 0;
    real_peer("mpi", no_mpi, mpi);
    real_lack("mpi", no_mpi, mpi, "# N/A of mpi: MPI has no float16\n");
    real_peer("torch", no_torch, torch);
    real_lack("torch", no_torch, torch, "# N/A of torch: torch's Gloo has no reduce_scatter_v: ");
    overlaps();
    tools_clean();
    return done();
}
