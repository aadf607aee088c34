/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "torchrun_rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "muster.h"
#include "ranks.h"

static int number(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? -1 : atoi(text);
}

/* One line in one write, so that those of several ranks do not mix. */
static int say(const char *what)
{
    char line[2048];
    int length = snprintf(line, sizeof(line), "rank %d %s\n", number("RANK"), what);
    return write(1, line, (size_t)length) == length ? 0 : 1;
}

static int refuse(const char *what)
{
    fprintf(stderr, "rank %d %s: %s\n", number("RANK"), what, muster_last_error());
    muster_report_failure(NULL);
    return 1;
}

static muster_status make(muster_group **group, const char *method, const char *name)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.init_method = method;
    args.group_name = name;
    args.timeout_ms = (int64_t)(20000 * ranks_time_factor());
    return muster_init_process_group(group, &args);
}

/* The ranks' numbers, gathered: right only when each is where the launcher says. */
static bool gathers_right(muster_group *group)
{
    int64_t mine = number("RANK"), all[RANKS_MOST];
    if (muster_all_gather(group, &mine, all, 1, MUSTER_INT64, NULL) != MUSTER_OK)
        return false;
    bool right =
        muster_group_rank(group) == mine && muster_group_size(group) == number("WORLD_SIZE");
    for (int i = 0; i < muster_group_size(group); i++)
        right = right && all[i] == i;
    return right;
}

/* A world where the launcher says, sub-groups, and a second world at an address of its own. */
static int groups(const char *port)
{
    char method[128];
    muster_group *world = NULL, *regular = NULL, *orthogonal = NULL, *second = NULL;
    if (make(&world, NULL, "world") != MUSTER_OK || !gathers_right(world))
        return refuse("makes no world");
    if (muster_create_sub_group(world, 2, NULL, &regular, &orthogonal) != MUSTER_OK)
        return refuse("makes no sub-groups");
    snprintf(method, sizeof(method), "tcp://127.0.0.1:%s?rank=%d&world_size=%d", port,
             number("RANK"), number("WORLD_SIZE"));
    if (make(&second, method, "second") != MUSTER_OK || !gathers_right(second))
        return refuse("makes no second world");
    muster_group_free(orthogonal);
    muster_group_free(regular);
    muster_group_free(second);
    muster_group_free(world);
    return say("has made all groups");
}

/* In its first life rank 1 dies while the others wait for it, in its second after the group is
 * made. What they leave in the store does not disturb the third. */
static int lives(void)
{
    int life = number("TORCHELASTIC_RESTART_COUNT"), rank = number("RANK");
    muster_group *world = NULL;
    if (life == 0 && rank == 1)
        return usleep(500000), 1;
    if (life == 2 && rank == 0)
        usleep(300000);
    if (make(&world, NULL, "world") != MUSTER_OK || !gathers_right(world))
        return refuse("makes no world");
    if (life == 1 && rank == 1)
        return 1;
    char what[64];
    snprintf(what, sizeof(what), "is well in life %d", life);
    if (life == 1) /* until torchrun ends it */
        return muster_barrier(world, NULL) == MUSTER_OK ? 0 : refuse("has lost a rank");
    muster_group_free(world);
    return say(what);
}

/* Rank 3 of the two nodes dies once: who can make the folder is it. */
static int node(const char *died)
{
    char what[64];
    muster_group *world = NULL;
    if (number("RANK") == 3 && mkdir(died, 0700) == 0)
        return usleep(300000), 1;
    if (make(&world, NULL, "world") != MUSTER_OK || !gathers_right(world))
        return refuse("makes no world");
    muster_group_free(world);
    snprintf(what, sizeof(what), "is well in life %d", number("TORCHELASTIC_RESTART_COUNT"));
    return say(what);
}

int torchrun_rank(int num_words, char **words)
{
    if (num_words == 2 && strcmp(words[0], "groups") == 0)
        return groups(words[1]);
    if (num_words == 1 && strcmp(words[0], "lives") == 0)
        return lives();
    if (num_words == 2 && strcmp(words[0], "node") == 0)
        return node(words[1]);
    fprintf(stderr, "there is no part '%s'\n", words[0]);
    return 2;
}
