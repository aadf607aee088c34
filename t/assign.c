/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cheapest assignment, against all ways there are to assign; its ties; its bounds; its time.
 */
#include "config.h"

#include "placement/assign.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap.h"

enum { MOST = 7 };

/* A way to give rows columns, and the best so far: more seated, then cheaper, then lower. */
typedef struct search {
    const int64_t *costs;
    int rows, columns;
    int now[MOST], best[MOST];
    int seated, most_seated;
    int64_t cost, least_cost;
    bool any;
} search;

/* Rows are tried from the first on and columns from the lowest on, none last: so of equal ways the
 * lowest is met first. */
static void try_row(search *s, int row, unsigned taken)
{
    if (row == s->rows) {
        bool better = !s->any || s->seated > s->most_seated ||
                      (s->seated == s->most_seated && s->cost < s->least_cost);
        if (better) {
            memcpy(s->best, s->now, sizeof(s->best));
            s->most_seated = s->seated;
            s->least_cost = s->cost;
            s->any = true;
        }
        return;
    }
    for (int c = 0; c < s->columns; c++) {
        int64_t cost = s->costs[row * s->columns + c];
        if ((taken & 1u << c) != 0 || cost == ASSIGN_NEVER)
            continue;
        s->now[row] = c;
        s->seated++;
        s->cost += cost;
        try_row(s, row + 1, taken | 1u << c);
        s->seated--;
        s->cost -= cost;
    }
    s->now[row] = -1;
    try_row(s, row + 1, taken);
}

static bool as_all_ways_say(const int64_t *costs, int rows, int columns)
{
    search s = {.costs = costs, .rows = rows, .columns = columns};
    int got[MOST];
    try_row(&s, 0, 0);
    if (assign_columns(costs, rows, columns, got) != MUSTER_OK)
        return false;
    bool same = memcmp(got, s.best, (size_t)rows * sizeof(int)) == 0;
    for (int r = 0; !same && r < rows; r++) {
        for (int c = 0; c < columns; c++)
            diag("row %d column %d costs %lld", r, c, (long long)costs[r * columns + c]);
        diag("row %d: got %d, the best is %d", r, got[r], s.best[r]);
    }
    return same;
}

/* Random costs below kinds, so that a low number makes many ties; one in never may not be. */
static int64_t random_cost(unsigned *seed, int kinds, int never)
{
    if (never > 0 && rand_r(seed) % never == 0)
        return ASSIGN_NEVER;
    return rand_r(seed) % kinds;
}

static void against_all_ways(void)
{
    static const struct {
        int kinds, never;
        const char *name;
    } sorts[] = {{1, 0, "all alike"},
                 {1, 2, "all alike, half of them not allowed"},
                 {2, 3, "two costs, a third not allowed"},
                 {3, 0, "three costs"},
                 {1000, 5, "many costs, a fifth not allowed"}};
    unsigned seed = 11;
    for (size_t k = 0; k < sizeof(sorts) / sizeof(*sorts); k++) {
        int wrong = 0;
        for (int n = 0; n < 1500; n++) {
            int rows = rand_r(&seed) % 6, columns = rand_r(&seed) % 6;
            int64_t costs[MOST * MOST];
            for (int i = 0; i < rows * columns; i++)
                costs[i] = random_cost(&seed, sorts[k].kinds, sorts[k].never);
            wrong += wrong < 3 && !as_all_ways_say(costs, rows, columns);
        }
        is_int(wrong, 0, "%s: 1500 cases as the search through all ways says", sorts[k].name);
    }
    int64_t large[MOST * MOST];
    int wrong = 0;
    for (int n = 0; n < 6; n++) {
        for (int i = 0; i < MOST * MOST; i++)
            large[i] = random_cost(&seed, 4, 6);
        wrong += !as_all_ways_say(large, MOST, MOST);
    }
    is_int(wrong, 0, "seven rows and columns");
}

static void known_cases(void)
{
    int got[4];
    int64_t dear[] = {ASSIGN_DEAREST, 0, ASSIGN_DEAREST, ASSIGN_NEVER};
    is_int(assign_columns(dear, 2, 2, got), MUSTER_OK, "the dearest cost is allowed");
    ok(got[0] == 1 && got[1] == 0, "a dear column is better than none");
    int64_t one[] = {5, 3, 4};
    assign_columns(one, 3, 1, got);
    ok(got[0] == -1 && got[1] == 0 && got[2] == -1, "the one column goes to who has it cheapest");
    int64_t same[] = {0, 0, 0, 0, 0, 0};
    assign_columns(same, 3, 2, got);
    ok(got[0] == 0 && got[1] == 1 && got[2] == -1, "of three alike the last has none");
    int64_t only[] = {0, 0, 0, ASSIGN_NEVER};
    assign_columns(only, 2, 2, got);
    ok(got[0] == 1 && got[1] == 0, "the first row makes way so that both have a column");
    is_int(assign_columns(only, 0, 2, got), MUSTER_OK, "no rows");
    assign_columns(only, 2, 0, got);
    ok(got[0] == -1 && got[1] == -1, "no columns");
}

static void bounds(void)
{
    int got[1];
    int64_t costs[] = {ASSIGN_DEAREST + 1};
    is_int(assign_columns(costs, 1, 1, got), MUSTER_ERR_ARGUMENT, "too dear");
    costs[0] = -2;
    is_int(assign_columns(costs, 1, 1, got), MUSTER_ERR_ARGUMENT, "below never");
    has_str(muster_last_error(), "a cost is not within 0 to", "the sentence says so");
    is_int(assign_columns(costs, ASSIGN_MOST + 1, 1, got), MUSTER_ERR_ARGUMENT, "too many rows");
    is_int(assign_columns(costs, 1, ASSIGN_MOST + 1, got), MUSTER_ERR_ARGUMENT, "or columns");
    is_int(assign_columns(costs, -1, 1, got), MUSTER_ERR_ARGUMENT, "fewer than none");
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The sum, or -1 where two rows have the same column or one has none. */
static int64_t sum_of(const int64_t *costs, int rows, int columns, const int *column_of)
{
    int64_t sum = 0;
    for (int r = 0; r < rows; r++) {
        if (column_of[r] < 0)
            return -1;
        for (int other = 0; other < r; other++)
            if (column_of[other] == column_of[r])
                return -1;
        sum += costs[r * columns + column_of[r]];
    }
    return sum;
}

/* cost = |row - column| has the diagonal; products of row and column are the hard ones. */
static void large(int n, double most_ms)
{
    int64_t *costs = malloc((size_t)n * (size_t)n * sizeof(*costs));
    int *got = malloc((size_t)n * sizeof(*got));
    static const char *const names[] = {"all alike", "products", "random", "two costs"};
    unsigned seed = 5;
    for (int kind = 0; kind < 4; kind++) {
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++)
                costs[r * n + c] = kind == 0   ? 7
                                   : kind == 1 ? (int64_t)(r + 1) * (c + 1)
                                   : kind == 2 ? rand_r(&seed) % 100000
                                               : rand_r(&seed) % 2;
        double begin = seconds();
        muster_status status = assign_columns(costs, n, n, got);
        double ms = 1000 * (seconds() - begin);
        bool orderly = true;
        for (int r = 0; r < n; r++)
            orderly = orderly && got[r] == (kind == 0 ? r : n - 1 - r);
        ok(status == MUSTER_OK && sum_of(costs, n, n, got) >= 0 && (kind > 1 || orderly),
           "%d x %d, %s: each has a column of its own", n, n, names[kind]);
        ok(ms < (double)patient((long long)most_ms), "within %.0f ms", most_ms);
        diag("%d x %d, %s: %.1f ms", n, n, names[kind], ms);
    }
    free(costs);
    free(got);
}

int main(void)
{
    plan(6 + 7 + 6 + 16);
    against_all_ways();
    known_cases();
    bounds();
    large(64, 100);
    large(256, 3000);
    return done();
}
