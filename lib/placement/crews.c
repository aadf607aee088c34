/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Crews of ranks and their cores.
 */
#include "placement/crews.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fnv.h"

muster_status crews_join(crews *all, const cpu_set *domain, bool limited, int *place)
{
    int at = 0;
    while (at < all->count && !cpu_set_equal(&all->crews[at].domain, domain))
        at++;
    *place = -1;
    if (at == all->count) {
        crew *grown = realloc(all->crews, ((size_t)at + 1) * sizeof(*grown));
        if (grown == NULL)
            return error_no_memory(((size_t)at + 1) * sizeof(*grown), "giving cores to ranks");
        all->crews = grown;
        all->crews[all->count++] = (crew){.domain = *domain};
    } else if (limited && all->crews[at].size >= cpu_set_count(domain)) {
        return MUSTER_OK;
    }
    all->crews[at].size++;
    *place = at;
    return MUSTER_OK;
}

/* Which crews have the core in their domain, as a number: equal ones lie in the same domains. */
static uint64_t owners(const crews *all, int core, int *count, int *last)
{
    uint64_t hash = FNV_START;
    *count = 0;
    for (int i = 0; i < all->count; i++)
        if (cpu_set_has(&all->crews[i].domain, core)) {
            hash = fnv_add(hash, (uint64_t)i + 1);
            ++*count;
            *last = i;
        }
    return hash;
}

static void give(crew *to, int core)
{
    cpu_set_add(&to->own, core);
    to->num_own++;
}

/* Whether a is to have the next core rather than b: it has less for each rank, or as much and
 * fewer to choose from. */
static bool comes_before(const crew *a, const crew *b)
{
    long long mine = (long long)a->num_own * b->size, theirs = (long long)b->num_own * a->size;
    if (mine != theirs)
        return mine < theirs;
    return cpu_set_count(&a->domain) < cpu_set_count(&b->domain);
}

static int neediest(const crews *all, int core)
{
    int next = -1;
    for (int i = 0; i < all->count; i++)
        if (cpu_set_has(&all->crews[i].domain, core) &&
            (next < 0 || comes_before(&all->crews[i], &all->crews[next])))
            next = i;
    return next;
}

/* Deals a cell, the cores that lie in the same domains: how many go to whom core by core, which
 * ones by the order of crews, so that each has neighbours. */
static void deal_cell(crews *all, const int *cell, int size, int *quota)
{
    memset(quota, 0, (size_t)all->count * sizeof(*quota));
    for (int i = 0; i < size; i++) {
        int to = neediest(all, cell[i]);
        quota[to]++;
        all->crews[to].num_own++;
    }
    int next = 0;
    for (int i = 0; i < all->count; i++) {
        all->crews[i].num_own -= quota[i];
        for (; quota[i] > 0; quota[i]--)
            give(&all->crews[i], cell[next++]);
    }
}

static bool same_domains(const crews *all, int core, int other)
{
    for (int i = 0; i < all->count; i++)
        if (cpu_set_has(&all->crews[i].domain, core) != cpu_set_has(&all->crews[i].domain, other))
            return false;
    return true;
}

/* Those that several crews could have. */
static void deal_contested(crews *all, int num_cores, uint64_t *in, int *cell, int *quota)
{
    for (int first = 0; first < num_cores; first++) {
        int size = 0;
        for (int core = first; in[first] != 0 && core < num_cores; core++)
            if (in[core] == in[first] && same_domains(all, core, first))
                cell[size++] = core;
        for (int i = 0; i < size; i++)
            in[cell[i]] = 0;
        if (size > 0)
            deal_cell(all, cell, size, quota);
    }
}

static void deal(crews *all, int num_cores, uint64_t *in, int *cell, int *quota)
{
    for (int core = 0; core < num_cores; core++) {
        int count, last = -1;
        uint64_t hash = owners(all, core, &count, &last);
        in[core] = count > 1 ? hash | 1 : 0;
        if (count == 1)
            give(&all->crews[last], core);
    }
    deal_contested(all, num_cores, in, cell, quota);
    for (int i = 0; i < all->count; i++)
        if (all->crews[i].num_own == 0) {
            all->crews[i].own = all->crews[i].domain;
            all->crews[i].num_own = cpu_set_count(&all->crews[i].domain);
        }
}

muster_status crews_share_out(crews *all, int num_cores)
{
    size_t cores = (size_t)num_cores + 1, count = (size_t)all->count + 1;
    uint64_t *in = calloc(cores, sizeof(*in));
    int *cell = calloc(cores, sizeof(*cell));
    int *quota = calloc(count, sizeof(*quota));
    muster_status status = MUSTER_OK;
    if (in == NULL || cell == NULL || quota == NULL)
        status = error_no_memory(cores * sizeof(*in), "giving cores to ranks");
    else
        deal(all, num_cores, in, cell, quota);
    free(in);
    free(cell);
    free(quota);
    return status;
}

cpu_set crews_next_share(crews *all, int place)
{
    crew *c = &all->crews[place];
    long long turn = c->served++;
    long long first = turn * c->num_own / c->size, end = (turn + 1) * c->num_own / c->size;
    cpu_set share = {{0}};
    long long at = 0;
    for (int core = cpu_set_first(&c->own); core >= 0; core = cpu_set_next(&c->own, core), at++)
        if (at >= first && (at < end || at == first))
            cpu_set_add(&share, core);
    return share;
}

void crews_clear(crews *all)
{
    free(all->crews);
    *all = (crews){0};
}
