/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns for large messages.
 */
#include "tcp_store/tcp_large.h"

#include "tap.h"

enum { MANY = TCP_LARGE_AT_ONCE + 3 };

static tcp_large all;
static tcp_large_sender senders[MANY];

static bool may_read(int i, size_t held, int64_t now)
{
    return tcp_large_may_read(&all, &senders[i], held, now);
}

static void turns(void)
{
    int may = 0;
    for (int i = 0; i < MANY; i++)
        may += may_read(i, TCP_LARGE_FROM - 1, 1);
    is_int(may, MANY, "who holds little may read");
    is_int((long long)all.num_turns, 0, "and needs no turn");
    ok(tcp_large_next(&all) == NULL, "nobody waits");
    for (int i = 0, first = 0; i < MANY; i++) {
        first = may_read(i, TCP_LARGE_FROM, 2);
        may = i == 0 ? first : may + first;
    }
    is_int(may, TCP_LARGE_AT_ONCE, "so many may send a large one at once");
    ok(may_read(0, 10 * TCP_LARGE_FROM, 3), "and go on with it");
    ok(!may_read(MANY - 1, TCP_LARGE_FROM, 3), "the others wait");
    ok(tcp_large_next(&all) == NULL, "until a turn is over");
    tcp_large_settle(&all, &senders[0], TCP_LARGE_FROM);
    ok(tcp_large_next(&all) == NULL, "which it is not before the message is whole");
}

static void order(void)
{
    tcp_large_sender *first = &senders[TCP_LARGE_AT_ONCE];
    tcp_large_settle(&all, &senders[0], 0);
    ok(tcp_large_next(&all) == first, "who came first is next");
    ok(may_read(TCP_LARGE_AT_ONCE, TCP_LARGE_FROM, 4), "and has the turn when it reads");
    ok(tcp_large_next(&all) == NULL, "and the others wait on");
    tcp_large_leave(&all, &senders[TCP_LARGE_AT_ONCE + 1]);
    tcp_large_leave(&all, first);
    ok(tcp_large_next(&all) == &senders[TCP_LARGE_AT_ONCE + 2], "who has gone is not called");
    ok(may_read(TCP_LARGE_AT_ONCE + 2, TCP_LARGE_FROM, 5), "the one behind is");
    ok(!may_read(0, TCP_LARGE_FROM, 5), "whose turn was over waits anew");
    tcp_large_leave(&all, &senders[0]);
    ok(!may_read(TCP_LARGE_AT_ONCE, TCP_LARGE_FROM, 5), "so does one more, behind nobody");
    tcp_large_leave(&all, &senders[1]);
    ok(tcp_large_next(&all) == &senders[TCP_LARGE_AT_ONCE], "and is called");
}

static void overdue(void)
{
    ok(tcp_large_overdue(&all, 100) == NULL, "who is slow may be while nobody waits");
    ok(may_read(TCP_LARGE_AT_ONCE, TCP_LARGE_FROM, 10), "all turns are taken");
    ok(!may_read(0, TCP_LARGE_FROM, 10), "and one waits");
    may_read(2, TCP_LARGE_FROM, 50);
    ok(tcp_large_overdue(&all, 1) == NULL, "nobody has had his turn that long");
    tcp_large_sender *one = tcp_large_overdue(&all, 2);
    ok(one != NULL && one->has_turn && one->since_ns == 2, "then one has, reading or not");
    for (int i = 0; i < MANY; i++)
        tcp_large_leave(&all, &senders[i]);
    ok(all.num_turns == 0 && all.turns == NULL && all.first == NULL, "all have gone");
}

int main(void)
{
    plan(22);
    turns();
    order();
    overdue();
    return done();
}
