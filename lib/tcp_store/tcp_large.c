/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whose turn it is to send a large message.
 */
#include "tcp_store/tcp_large.h"

static void take(tcp_large_sender **link, const tcp_large_sender *one)
{
    while (*link != NULL && *link != one)
        link = &(*link)->next;
    if (*link != NULL)
        *link = one->next;
}

static void find_last(tcp_large *all)
{
    all->last = &all->first;
    while (*all->last != NULL)
        all->last = &(*all->last)->next;
}

bool tcp_large_may_read(tcp_large *all, tcp_large_sender *one, size_t held, int64_t now_ns)
{
    if (one->waits)
        return false;
    if (held < TCP_LARGE_FROM || one->has_turn)
        return true;
    if (all->num_turns < TCP_LARGE_AT_ONCE) {
        one->has_turn = true;
        one->since_ns = now_ns;
        one->next = all->turns;
        all->turns = one;
        all->num_turns++;
        return true;
    }
    one->waits = true;
    one->next = NULL;
    if (all->first == NULL)
        all->last = &all->first;
    *all->last = one;
    all->last = &one->next;
    return false;
}

void tcp_large_settle(tcp_large *all, tcp_large_sender *one, size_t held)
{
    if (!one->has_turn || held >= TCP_LARGE_FROM)
        return;
    one->has_turn = false;
    take(&all->turns, one);
    all->num_turns--;
}

void tcp_large_leave(tcp_large *all, tcp_large_sender *one)
{
    tcp_large_settle(all, one, 0);
    if (!one->waits)
        return;
    one->waits = false;
    take(&all->first, one);
    find_last(all);
}

tcp_large_sender *tcp_large_next(tcp_large *all)
{
    tcp_large_sender *one = all->first;
    if (one == NULL || all->num_turns >= TCP_LARGE_AT_ONCE)
        return NULL;
    one->waits = false;
    all->first = one->next;
    return one;
}

tcp_large_sender *tcp_large_overdue(const tcp_large *all, int64_t since_ns)
{
    tcp_large_sender *one = all->first == NULL ? NULL : all->turns;
    while (one != NULL && one->since_ns > since_ns)
        one = one->next;
    return one;
}
