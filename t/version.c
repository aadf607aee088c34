/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Versions: which is newer, and what is none (user case 17).
 */
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "base/version.h"

static const struct {
    const char *a, *b;
    int order;
} pairs[] = {
    {"2.6", "2.9", -1},
    {"2.9", "2.10", -1},
    {"2.10", "2.6", 1},
    {"2.10", "2.10.0", 0},
    {"2.10.0", "2.10.1", -1},
    {"2", "2.0.0.0", 0},
    {"v2.7", "2.7", 0},
    {"V2.7", "2.7", 0},
    {"2.10.0rc1", "2.10.0", -1},
    {"2.10.0rc1", "2.10.0-rc.1", 0},
    {"2.10.0rc2", "2.10.0rc10", -1},
    {"2.10.0rc1", "2.9.9", 1},
    {"2.6.0a2", "2.6.0b1", -1},
    {"2.6.0b1", "2.6.0RC1", -1},
    {"2.6.0alpha2", "2.6.0a2", 0},
    {"2.6.0.dev3", "2.6.0a1", -1},
    {"2.6.0.dev3", "2.6.0.dev4", -1},
    {"2.6.0rc1.dev3", "2.6.0rc1", -1},
    {"2.6.0rc1.dev3", "2.6.0b9", 1},
    {"2.6.0.post1", "2.6.0", 1},
    {"2.6.0.post1", "2.6.1.dev0", -1},
    {"2.6.0.post1.dev2", "2.6.0.post1", -1},
    {"2.6.0~rc1-1", "2.6.0", -1},
    {"2.6.0+cu126", "2.6", 0},
    {"2.28.9+cuda13.0", "2.28.9", 0},
    {"2.30.7-1", "2.30.7", 0},
    {"2.30.7-1ubuntu2~22.04.1", "2.30.7-3", 0},
    {"2.28.9+cuda13.0-1", "2.28.10", -1},
    {"2.6.0rc1+local-1", "2.6.0", -1},
    {"2147483647", "2147483646", 1},
    {"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16", "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.17", -1},
};

static const char *const refused[] = {
    "",
    "v",
    "2..1",
    "2.",
    ".2",
    "two",
    " 2.6",
    "2.6 ",
    "2.6x",
    "2.6foo1",
    "99999999999.0",
    "2147483648",
    "1.2147483648",
    "2.6rc2147483648",
    "-1",
    "+1",
    "2.6+",
    "2.6-",
    "2.6+a b",
    "2.6rc1rc2",
    "2.6.dev1.post2",
    "2.6~",
    "1:2.6",
    "2,6",
    "0x10",
    "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17",
};

enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]), REFUSED = sizeof(refused) / sizeof(refused[0]) };

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void orders(void)
{
    for (int i = 0; i < PAIRS; i++) {
        int there = 7, back = 7;
        muster_version_compare(pairs[i].a, pairs[i].b, &there);
        muster_version_compare(pairs[i].b, pairs[i].a, &back);
        ok(sign(there) == pairs[i].order && sign(back) == -pairs[i].order,
           "%s against %s is %d (got %d and back %d)", pairs[i].a, pairs[i].b, pairs[i].order,
           there, back);
    }
}

/* Whether the order holds through any three of the versions above. */
static bool is_transitive(void)
{
    const char *all[2 * PAIRS];
    version parsed[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        all[2 * i] = pairs[i].a;
        all[2 * i + 1] = pairs[i].b;
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        if (version_parse(all[i], &parsed[i]) != MUSTER_OK)
            return false;
    for (int i = 0; i < 2 * PAIRS; i++)
        for (int j = 0; j < 2 * PAIRS; j++)
            for (int k = 0; k < 2 * PAIRS; k++)
                if (version_order(&parsed[i], &parsed[j]) <= 0 &&
                    version_order(&parsed[j], &parsed[k]) <= 0 &&
                    version_order(&parsed[i], &parsed[k]) > 0)
                    return false;
    return true;
}

static void refusals(void)
{
    for (int i = 0; i < REFUSED; i++) {
        int order = 7;
        ok(muster_version_compare(refused[i], "1", &order) == MUSTER_ERR_ARGUMENT && order == 7,
           "'%s' is not a version", refused[i]);
    }
    int order = 7;
    is_int(muster_version_compare("1", "2..1", &order), MUSTER_ERR_ARGUMENT, "nor on the right");
    has_str(muster_last_error(), "'2..1' is not a version", "the sentence quotes the text");
    is_int(muster_version_compare(NULL, "1", &order), MUSTER_ERR_ARGUMENT, "NULL is none");
    is_int(muster_version_compare("1", NULL, &order), MUSTER_ERR_ARGUMENT, "NULL is none");
    is_int(muster_version_compare("1", "1", NULL), MUSTER_ERR_ARGUMENT, "order must be given");
    version untouched = {.numbers = {42}};
    ok(!version_read("2..1", &untouched) && untouched.numbers[0] == 42,
       "what is not read is not written");
}

int main(void)
{
    plan(PAIRS + REFUSED + 9);
    char expected[32];
    snprintf(expected, sizeof(expected), "%d.%d.%d", MUSTER_VERSION_MAJOR, MUSTER_VERSION_MINOR,
             MUSTER_VERSION_PATCH);
    is_str(muster_version(), expected, "the library's version is that of its header");
    int order = 7;
    is_int(muster_version_compare(muster_version(), "0.0.1", &order), MUSTER_OK,
           "and is a version");
    orders();
    ok(is_transitive(), "the order is a total one");
    refusals();
    return done();
}
