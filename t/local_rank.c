/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Local ranks of groups whose ranks say that they are on several hosts, and what is said of a
 * launcher that sees that otherwise.
 */
#include "group/local_rank.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST = 8 };

static char warnings[4096];

static void keep_warning(void *user, muster_log_level level, const char *line)
{
    (void)user;
    size_t used = strlen(warnings);
    if (level == MUSTER_LOG_WARNING)
        snprintf(warnings + used, sizeof(warnings) - used, "%s\n", line);
}

/* A group of which only what is asked for is there. Hosts are letters, a rank each. */
static muster_group *make(const char *hosts, int rank, const int *told)
{
    static rank_record records[MOST];
    static char ids[MOST][2];
    static char name[] = "world";
    static muster_group group;
    int size = (int)strlen(hosts);
    memset(&group, 0, sizeof(group));
    for (int r = 0; r < size; r++) {
        ids[r][0] = hosts[r];
        records[r] =
            (rank_record){.host_id = ids[r], .told_local_rank = told == NULL ? 0 : told[r]};
    }
    group.name = name;
    group.rank = rank;
    group.size = size;
    group.ranks = (roster){.count = size, .ranks = records};
    return &group;
}

static const struct {
    const char *hosts;
    int rank, local_rank, local_size, node_rank, num_nodes;
} places[] = {
    {"a", 0, 0, 1, 0, 1},        {"aaaa", 3, 3, 4, 0, 1}, {"aabb", 0, 0, 2, 0, 2},
    {"aabb", 3, 1, 2, 1, 2},     {"abab", 2, 1, 2, 0, 2}, {"abab", 3, 1, 2, 1, 2},
    {"aaab", 3, 0, 1, 1, 2},     {"bca", 2, 0, 1, 2, 3},  {"abcabcab", 7, 2, 3, 1, 3},
    {"abcabcab", 5, 1, 2, 2, 3},
};

static void placed(void)
{
    for (size_t i = 0; i < COUNT(places); i++) {
        const muster_group *group = make(places[i].hosts, places[i].rank, NULL);
        ok(muster_group_local_rank(group) == places[i].local_rank &&
               muster_group_local_size(group) == places[i].local_size,
           "hosts %s, rank %d: local rank %d of %d", places[i].hosts, places[i].rank,
           places[i].local_rank, places[i].local_size);
        ok(muster_group_node_rank(group) == places[i].node_rank &&
               muster_group_num_nodes(group) == places[i].num_nodes,
           "on host %d of %d", places[i].node_rank, places[i].num_nodes);
    }
    ok(muster_group_local_rank(NULL) == -1 && muster_group_local_size(NULL) == -1 &&
           muster_group_node_rank(NULL) == -1 && muster_group_num_nodes(NULL) == -1,
       "no group: -1");
}

/* What the launcher says to rank 1, and in told to all, is compared with hosts. */
static const struct {
    const char *hosts;
    int local_size;
    int told[MOST]; /* 1 and the local rank */
    const char *words;
} comparisons[] = {
    {"aabb", 2, {1, 2, 1, 2}, ""},
    {"aaa", 3, {1, 3, 2}, ""}, /* Open MPI 6 was seen to count like this */
    {"aaa", -1, {0, 0, 0}, ""},
    {"aaab", 2, {1, 2, 3, 1}, "Slurm says by SLURM_SIZE that 2 ranks are on this host, but 3 are"},
    {"aabb", 4, {1, 2, 3, 4}, "says by SLURM_SIZE that 4 ranks are on this host, but 2 are"},
    {"aaa", 3, {2, 2, 3}, "that its local rank is 1, but so is that of rank 0 on the same host"},
    {"aba", 1, {1, 1, 1}, ""},
};

static void compared(void)
{
    static const launcher_family slurm = {.name = "Slurm"};
    for (size_t i = 0; i < COUNT(comparisons); i++) {
        const muster_group *group = make(comparisons[i].hosts, 1, comparisons[i].told);
        launcher found = {.family = &slurm,
                          .facts = {1, group->size, comparisons[i].told[1] - 1,
                                    comparisons[i].local_size, -1, -1},
                          .variables = {"SLURM_RANK", "SLURM_N", "SLURM_LOCAL", "SLURM_SIZE"}};
        warnings[0] = '\0';
        local_rank_compare(group, &found);
        if (comparisons[i].words[0] == '\0')
            is_str(warnings, "", "hosts %s agree with the launcher", comparisons[i].hosts);
        else
            has_str(warnings, comparisons[i].words, "hosts %s do not", comparisons[i].hosts);
    }
}

static void not_compared(void)
{
    static const launcher_family slurm = {.name = "Slurm"};
    const muster_group *group = make("aab", 1, NULL);
    launcher other_size = {.family = &slurm, .facts = {1, 8, 0, 8, -1, -1}};
    launcher other_rank = {.family = &slurm, .facts = {0, 3, 0, 3, -1, -1}};
    launcher none = {.facts = {1, 3, 0, 3, -1, -1}};
    warnings[0] = '\0';
    local_rank_compare(group, &other_size);
    local_rank_compare(group, &other_rank);
    local_rank_compare(group, &none);
    is_str(warnings, "", "a world that is not the launcher's is not compared");
}

int main(void)
{
    plan((int)(2 * COUNT(places) + 1 + COUNT(comparisons) + 1));
    muster_set_log(keep_warning, NULL, MUSTER_LOG_WARNING);
    placed();
    compared();
    not_compared();
    return done();
}
