/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances between words, and the nearest of several.
 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#include "tap.h"

static const struct {
    const char *a, *b;
    int distance;
} distances[] = {
    {"", "", 0},         {"gloo", "gloo", 0}, {"gloo", "glo", 1},       {"glo", "gloo", 1},
    {"gloo", "gluo", 1}, {"gloo", "lgoo", 1}, {"ifcae", "iface", 1},    {"Gloo", "gLOO", 0},
    {"", "gloo", 4},     {"gloo", "", 4},     {"kitten", "sitting", 3}, {"nccl", "gloo", 4},
};

enum { DISTANCES = sizeof(distances) / sizeof(distances[0]) };

static const char *nearest_of(const char *wanted)
{
    static const char *const known[] = {"iface", "hostname", "local", "gloo", "nccl", "max_ctas"};
    nearest search = {wanted, NULL, 0};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        nearest_offer(&search, known[i]);
    return search.best;
}

int main(void)
{
    char longer[80];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    plan(DISTANCES + 9);
    for (int i = 0; i < DISTANCES; i++)
        is_int((long long)nearest_distance(distances[i].a, distances[i].b), distances[i].distance,
               "from '%s' to '%s'", distances[i].a, distances[i].b);
    ok(nearest_distance(longer, "x") == SIZE_MAX, "a word over 63 letters is far");
    ok(nearest_distance("x", longer) == SIZE_MAX, "from either side");
    is_int((long long)nearest_distance(longer + 16, longer + 17), 1, "one of 63 is measured");
    is_str(nearest_of("hostnmae"), "hostname", "swapped letters are near");
    is_str(nearest_of("glo"), "gloo", "one letter missing is near");
    is_str(nearest_of("maxctas"), "max_ctas", "a missing stroke is near");
    is_str(nearest_of("mpi"), NULL, "a short other word is not");
    is_str(nearest_of("transport"), NULL, "nor a long one");
    is_str(nearest_of(longer), NULL, "nor what is not a word at all");
    return done();
}
