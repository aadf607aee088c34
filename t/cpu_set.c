/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of CPUs: their lists, what is made of two, walks.
 */
#include "machine/cpu_set.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static cpu_set set_of(const char *text)
{
    cpu_set set = {{0}};
    if (cpu_set_parse(&set, text) != MUSTER_OK)
        bail_out("%s: %s", text, muster_last_error());
    return set;
}

static const struct {
    const char *text;
    const char *written;
    int count, first, last;
} lists[] = {
    {"", "", 0, -1, -1},
    {" \n", "", 0, -1, -1},
    {"0", "0", 1, 0, 0},
    {"0-3,8-11", "0-3,8-11", 8, 0, 11},
    {"0-3,8-11\n", "0-3,8-11", 8, 0, 11},
    {"3,1,2", "1-3", 3, 1, 3},
    {"0-1,1-2,5,5", "0-2,5", 4, 0, 5},
    {"63,64", "63-64", 2, 63, 64},
    {"8-87,96-175", "8-87,96-175", 160, 8, 175},
    {"0-8191", "0-8191", 8192, 0, 8191},
    {"8191", "8191", 1, 8191, 8191},
    {"007", "7", 1, 7, 7},
};

static void good_lists(void)
{
    for (size_t i = 0; i < COUNT(lists); i++) {
        cpu_set set = set_of(lists[i].text);
        char text[64], *whole = NULL;
        size_t length = cpu_set_write(&set, text, sizeof(text));
        is_str(text, lists[i].written, "\"%s\" is written", lists[i].text);
        is_int((long long)length, (long long)strlen(lists[i].written), "its length");
        is_int(cpu_set_count(&set), lists[i].count, "its count");
        is_int(cpu_set_first(&set), lists[i].first, "its first");
        int last = -1, walked = 0;
        for (int cpu = cpu_set_first(&set); cpu >= 0; cpu = cpu_set_next(&set, cpu), walked++)
            last = cpu;
        ok(last == lists[i].last && walked == lists[i].count, "a walk comes to all of them");
        ok(cpu_set_text(&set, &whole) == MUSTER_OK && strcmp(whole, text) == 0, "in memory");
        free(whole);
        ok(cpu_set_is_empty(&set) == (lists[i].count == 0), "whether it is empty");
    }
}

static const char *const bad[] = {
    "x",   "-",     "-1",   "1-",     "3-1",
    "1,",  ",1",    "1,,2", "0-3;",   "1 2",
    "0x1", "1-2-3", "8192", "0-8192", "99999999999999999999",
    "1.5", "0-3/2", "+1",   "1- 2",
};

static void bad_lists(void)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        cpu_set set = set_of("5");
        is_int(cpu_set_parse(&set, bad[i]), MUSTER_ERR_ARGUMENT, "\"%s\" is no list", bad[i]);
        has_str(muster_last_error(), bad[i], "and is quoted");
        ok(cpu_set_count(&set) == 1 && cpu_set_has(&set, 5), "the set is as it was");
    }
    cpu_set set;
    is_int(cpu_set_parse(&set, NULL), MUSTER_ERR_ARGUMENT, "no text");
    is_int(cpu_set_parse(NULL, "1"), MUSTER_ERR_ARGUMENT, "no set");
}

/* Every second CPU makes the longest list there is. */
static void long_lists(void)
{
    cpu_set set = {{0}}, back;
    size_t expected = 0;
    for (int cpu = 0; cpu < CPU_SET_LIMIT; cpu += 2) {
        cpu_set_add(&set, cpu);
        expected += (cpu > 0) + (cpu < 10 ? 1u : cpu < 100 ? 2u : cpu < 1000 ? 3u : 4u);
    }
    char *whole = NULL, cut[16];
    is_int(cpu_set_text(&set, &whole), MUSTER_OK, "a long list");
    is_int((long long)strlen(whole), (long long)expected, "its length");
    ok(cpu_set_parse(&back, whole) == MUSTER_OK && cpu_set_equal(&set, &back), "is read again");
    is_int((long long)cpu_set_write(&set, cut, sizeof(cut)), (long long)expected,
           "where it is cut the length is that of all");
    ok(strlen(cut) == 15 && strncmp(cut, whole, 15) == 0, "and the rest is left out");
    is_int((long long)cpu_set_write(&set, NULL, 0), (long long)expected, "without a place to go");
    free(whole);
}

static const struct {
    const char *a, *b, *and, * or, *minus;
    bool subset; /* a of b */
} pairs[] = {
    {"", "", "", "", "", true},
    {"0-3", "", "", "0-3", "0-3", false},
    {"", "0-3", "", "0-3", "", true},
    {"0-3", "2-5", "2-3", "0-5", "0-1", false},
    {"2-3", "0-5", "2-3", "0-5", "", true},
    {"0,64,128", "64", "64", "0,64,128", "0,128", false},
    {"8191", "0-8191", "8191", "0-8191", "", true},
};

static void two_sets(void)
{
    for (size_t i = 0; i < COUNT(pairs); i++) {
        cpu_set a = set_of(pairs[i].a), b = set_of(pairs[i].b);
        cpu_set made[] = {cpu_set_and(&a, &b), cpu_set_or(&a, &b), cpu_set_minus(&a, &b)};
        const char *expected[] = {pairs[i].and, pairs[i].or, pairs[i].minus};
        for (size_t j = 0; j < COUNT(made); j++) {
            char text[64];
            cpu_set_write(&made[j], text, sizeof(text));
            is_str(text, expected[j], "%s of \"%s\" and \"%s\"",
                   j == 0   ? "both"
                   : j == 1 ? "either"
                            : "the first alone",
                   pairs[i].a, pairs[i].b);
        }
        ok(cpu_set_is_subset(&a, &b) == pairs[i].subset, "subset or not");
        ok(cpu_set_meets(&a, &b) == (pairs[i].and[0] != '\0'), "meets or not");
        is_int(cpu_set_count_both(&a, &b), cpu_set_count(&made[0]), "count of both");
        ok(cpu_set_equal(&a, &b) == (strcmp(pairs[i].a, pairs[i].b) == 0), "equal or not");
    }
}

static void single_cpus(void)
{
    cpu_set set = {{0}};
    ok(cpu_set_add(&set, 0) && cpu_set_add(&set, CPU_SET_LIMIT - 1), "the first and the last");
    ok(!cpu_set_add(&set, -1) && !cpu_set_add(&set, CPU_SET_LIMIT) && !cpu_set_add(&set, 1LL << 40),
       "none beyond");
    ok(!cpu_set_add_range(&set, 3, 2) && !cpu_set_add_range(&set, 1, CPU_SET_LIMIT),
       "no range that is none");
    is_int(cpu_set_count(&set), 2, "what was refused has changed nothing");
    ok(!cpu_set_has(&set, -1) && !cpu_set_has(&set, CPU_SET_LIMIT) && !cpu_set_has(&set, 1) &&
           cpu_set_has(&set, 0),
       "which are in it");
    is_int(cpu_set_next(&set, 0), CPU_SET_LIMIT - 1, "the last is after the first");
    is_int(cpu_set_next(&set, CPU_SET_LIMIT - 1), -1, "nothing after the last");
    is_int(cpu_set_next(&set, CPU_SET_LIMIT + 5), -1, "nor beyond it");
    is_int(cpu_set_next(&set, -7), 0, "anything is after a negative one");
}

int main(void)
{
    plan((int)(COUNT(lists) * 7 + COUNT(bad) * 3 + 2 + 6 + COUNT(pairs) * 7 + 9));
    good_lists();
    bad_lists();
    long_lists();
    two_sets();
    single_cpus();
    return done();
}
