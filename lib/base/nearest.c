/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The edit distance between two words, and the nearest of several.
 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

enum { NEAREST_LONGEST = 63 };

static char nearest_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t nearest_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t rows[3][NEAREST_LONGEST + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > NEAREST_LONGEST || n > NEAREST_LONGEST)
        return SIZE_MAX;
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            char x = nearest_lower(a[i - 1]), y = nearest_lower(b[j - 1]);
            row[j] = nearest_least(nearest_least(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == nearest_lower(b[j - 2]) && nearest_lower(a[i - 2]) == y)
                row[j] = nearest_least(row[j], before[j - 2] + 1);
        }
    }
    return row[n];
}

/* A third of the letters may be wrong, but in short words two, and in the shortest one. */
static size_t nearest_limit(size_t letters)
{
    return letters < 4 ? 1 : letters < 9 ? 2 : letters / 3;
}

void nearest_offer(nearest *search, const char *known)
{
    size_t distance = nearest_distance(search->wanted, known);
    if (distance > nearest_limit(strlen(search->wanted)))
        return;
    if (search->best == NULL || distance < search->distance) {
        search->best = known;
        search->distance = distance;
    }
}
