/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whose turn it is to make groups of a group.
 */
#include "config.h"

#include "group/turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

void turn_line_init(turn_line *line)
{
    pthread_mutex_init(&line->lock, NULL);
    thread_condition_init(&line->changed);
    line->first = NULL;
}

void turn_line_destroy(turn_line *line)
{
    pthread_mutex_destroy(&line->lock);
    pthread_cond_destroy(&line->changed);
}

bool turn_take(turn_line *line, family *members, const char *key, turn *mine)
{
    *mine = (turn){.key = strdup(key)};
    if (mine->key == NULL)
        return false;
    pthread_mutex_lock(&line->lock);
    mine->number = family_count(members, key, 1);
    turn **at = &line->first;
    while (*at != NULL)
        at = &(*at)->next;
    if (mine->number >= 0)
        *at = mine;
    pthread_mutex_unlock(&line->lock);
    if (mine->number >= 0)
        return true;
    free(mine->key);
    mine->key = NULL;
    return false;
}

static bool is_first(const turn_line *line, const turn *mine)
{
    for (const turn *other = line->first; other != mine; other = other->next)
        if (strcmp(other->key, mine->key) == 0)
            return false;
    return true;
}

bool turn_wait(turn_line *line, const turn *mine, deadline end)
{
    bool first, in_time = true;
    pthread_mutex_lock(&line->lock);
    while (!(first = is_first(line, mine)) && in_time)
        in_time = thread_wait(&line->changed, &line->lock, end);
    pthread_mutex_unlock(&line->lock);
    return first;
}

void turn_end(turn_line *line, turn *mine)
{
    if (mine->key == NULL)
        return;
    pthread_mutex_lock(&line->lock);
    turn **at = &line->first;
    while (*at != mine)
        at = &(*at)->next;
    *at = mine->next;
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
    free(mine->key);
    mine->key = NULL;
}
