/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The assignment problem by the Hungarian method, in the form with shortest augmenting paths and
 * prices for rows and columns: H. W. Kuhn, "The Hungarian method for the assignment problem",
 * Naval Research Logistics Quarterly 2 (1955); R. Jonker and A. Volgenant, "A shortest augmenting
 * path algorithm for dense and sparse linear assignment problems", Computing 38 (1987). Time grows
 * with rows * rows * columns.
 *
 * One column more, the last, has room for all rows, at a cost above all that pairs can come to: who
 * takes it has none. So there always is a whole assignment. Its price stays 0.
 *
 * An assignment is a cheapest one just when each of its pairs is tight (costs what the prices of
 * its row and column come to) and each column left over has price 0. The lowest of them is found by
 * going through the rows: each takes the lowest column that still leaves a cheapest assignment to
 * the rows after it, which one search along tight pairs tells for all columns.
 */
#include "placement/assign.h"

#include <stdlib.h>

#include "base/error.h"

/* Having no column is dearer than any sum of pairs, a pair that may not be dearer than that. */
#define COST_OF_NONE ((int64_t)1 << 45)
#define COST_OF_NEVER ((int64_t)1 << 58)
#define FAR INT64_MAX

enum { NOBODY = -1 };

typedef struct problem {
    const int64_t *costs;
    int rows, none; /* none: the last column, so the number of real ones too */
    int64_t *row_price, *column_price;
    int *row_of, *column_of; /* nobody is the row of the last column, whoever has it */
    int64_t *distance;       /* of each column from the row that is being seated */
    int *from;               /* the row before it on the way */
    bool *reached;
} problem;

static int64_t cost_of(const problem *p, int row, int column)
{
    if (column == p->none)
        return COST_OF_NONE;
    int64_t cost = p->costs[(size_t)row * (size_t)p->none + (size_t)column];
    return cost == ASSIGN_NEVER ? COST_OF_NEVER : cost;
}

/* What the pair costs above the prices; never below 0. */
static int64_t surplus(const problem *p, int row, int column)
{
    return cost_of(p, row, column) - p->row_price[row] - p->column_price[column];
}

/* Lowers the distances by what can be had over that row, itself that far away. */
static void relax(problem *p, int row, int64_t away)
{
    for (int c = 0; c <= p->none; c++) {
        if (p->reached[c] || away + surplus(p, row, c) >= p->distance[c])
            continue;
        p->distance[c] = away + surplus(p, row, c);
        p->from[c] = row;
    }
}

static int nearest_column(const problem *p)
{
    int best = NOBODY;
    for (int c = 0; c <= p->none; c++)
        if (!p->reached[c] && (best == NOBODY || p->distance[c] < p->distance[best]))
            best = c;
    return best;
}

/* Prices after a search that ended at that distance: the pairs on the way become tight. */
static void adjust_prices(problem *p, int row, int64_t end)
{
    p->row_price[row] += end;
    for (int c = 0; c <= p->none; c++)
        if (p->reached[c] && p->row_of[c] != NOBODY) {
            p->row_price[p->row_of[c]] += end - p->distance[c];
            p->column_price[c] -= end - p->distance[c];
        }
}

/* Gives the row a column, others on the way moving on to the next. */
static void seat_row(problem *p, int row)
{
    for (int c = 0; c <= p->none; c++) {
        p->distance[c] = FAR;
        p->reached[c] = false;
    }
    relax(p, row, 0);
    int end = nearest_column(p);
    while (p->row_of[end] != NOBODY) {
        p->reached[end] = true;
        relax(p, p->row_of[end], p->distance[end]);
        end = nearest_column(p);
    }
    adjust_prices(p, row, p->distance[end]);
    for (int back = NOBODY; back != row;) {
        back = p->from[end];
        int left = p->column_of[back];
        p->column_of[back] = end;
        p->row_of[end] = end == p->none ? NOBODY : back;
        end = left;
    }
}

static void reach(problem *p, int column, int from, int *queue, int *last)
{
    p->reached[column] = true;
    p->from[column] = from;
    queue[(*last)++] = column;
}

/* From the row's own column, once it leaves it, back along tight pairs of later rows: the columns
 * reached are those whose row can move on, and from says to which column. A column that is left
 * over can be filled where one of price 0 is then left in its place. Of the rows that have none one
 * is found, and for that while it is the row of the last column. */
static void find_movable(problem *p, int row, int *queue)
{
    int first = 0, last = 0;
    bool left_over = false;
    for (int c = 0; c <= p->none; c++)
        p->reached[c] = false;
    reach(p, p->column_of[row], NOBODY, queue, &last);
    while (first < last) {
        int to = queue[first++];
        for (int r = row + 1; r < p->rows; r++)
            if (!p->reached[p->column_of[r]] && surplus(p, r, to) == 0) {
                p->row_of[p->column_of[r]] = r;
                reach(p, p->column_of[r], to, queue, &last);
            }
        for (int c = 0; !left_over && p->column_price[to] == 0 && c <= p->none; c++)
            if (!p->reached[c] && p->row_of[c] == NOBODY)
                reach(p, c, to, queue, &last);
        left_over = left_over || p->column_price[to] == 0;
    }
}

/* The row takes the lowest column that it can, those who sit on the way to its own move on. */
static void lower_row(problem *p, int row, int *queue)
{
    int own = p->column_of[row], to = 0, mover = row;
    find_movable(p, row, queue);
    while (!p->reached[to] || surplus(p, row, to) != 0)
        to++;
    for (bool moved = false; !moved; to = p->from[to]) {
        int next = p->row_of[to];
        p->row_of[to] = mover;
        if (mover != NOBODY)
            p->column_of[mover] = to;
        mover = next;
        moved = to == own;
    }
    p->row_of[p->none] = NOBODY;
}

static bool is_sound(const int64_t *costs, size_t pairs)
{
    for (size_t i = 0; i < pairs; i++)
        if (costs[i] != ASSIGN_NEVER && (costs[i] < 0 || costs[i] > ASSIGN_DEAREST))
            return false;
    return true;
}

static void solve(problem *p, int *queue)
{
    for (int c = 0; c <= p->none; c++)
        p->row_of[c] = NOBODY;
    for (int r = 0; r < p->rows; r++)
        p->column_of[r] = NOBODY;
    for (int r = 0; r < p->rows; r++)
        seat_row(p, r);
    for (int r = 0; r < p->rows; r++)
        lower_row(p, r, queue);
    for (int r = 0; r < p->rows; r++)
        if (p->column_of[r] == p->none)
            p->column_of[r] = NOBODY;
}

muster_status assign_columns(const int64_t *costs, int rows, int columns, int *column_of)
{
    if (rows < 0 || columns < 0 || rows > ASSIGN_MOST || columns > ASSIGN_MOST)
        return error_set(MUSTER_ERR_ARGUMENT, "%d rows and %d columns, but at most %d go", rows,
                         columns, ASSIGN_MOST);
    if (!is_sound(costs, (size_t)rows * (size_t)columns))
        return error_set(MUSTER_ERR_ARGUMENT, "a cost is not within 0 to %lld",
                         (long long)ASSIGN_DEAREST);
    size_t n = (size_t)columns + 1, r = (size_t)rows;
    problem p = {.costs = costs, .rows = rows, .none = columns, .column_of = column_of};
    int64_t *wide = calloc(2 * n + r, sizeof(*wide));
    int *narrow = calloc(3 * n, sizeof(*narrow));
    p.reached = calloc(n, sizeof(*p.reached));
    muster_status status = MUSTER_OK;
    if (wide == NULL || narrow == NULL || p.reached == NULL) {
        status = error_no_memory(n * 40, "placing ranks");
    } else {
        p.column_price = wide;
        p.distance = wide + n;
        p.row_price = wide + 2 * n;
        p.row_of = narrow;
        p.from = narrow + n;
        solve(&p, narrow + 2 * n);
    }
    free(wide);
    free(narrow);
    free(p.reached);
    return status;
}
