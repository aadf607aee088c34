/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pre-multiplied sums: reductions that carry a scalar. The value that a caller holds is a number
 * above the kind; the scalar is in a tree of the group. Numbers are those of the process, so that a
 * value which was freed, or is another group's, is not taken for one that is there.
 */
#include "config.h"

#include "collective/premul.h"

#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "group/group.h"
#include "reduce/types.h"

struct premul {
    muster_reduction redop;
    double scalar;
};

enum { MOST_NUMBERS = MUSTER_REDUCTION_LARGEST >> REDUCTION_NUMBER_SHIFT };

void premul_init(premul_list *list)
{
    pthread_mutex_init(&list->lock, NULL);
    list->made = NULL;
}

void premul_destroy(premul_list *list)
{
    tdestroy(list->made, free);
    pthread_mutex_destroy(&list->lock);
}

static int compare(const void *a, const void *b)
{
    const premul *x = a, *y = b;
    return (x->redop > y->redop) - (x->redop < y->redop);
}

static premul *find(const premul_list *list, muster_reduction redop)
{
    const premul wanted = {.redop = redop};
    premul *const *found = tfind(&wanted, &list->made, compare);
    return found == NULL ? NULL : *found;
}

/* After as many as there are numbers they begin again. */
static muster_reduction next_number(const premul_list *list)
{
    static atomic_uint last;
    muster_reduction redop;
    do {
        unsigned number = atomic_fetch_add(&last, 1) % MOST_NUMBERS + 1;
        redop = (muster_reduction)(number << REDUCTION_NUMBER_SHIFT | MUSTER_PREMUL_SUM);
    } while (find(list, redop) != NULL);
    return redop;
}

/* Gives it a number and keeps it; false where there is no memory. */
static bool keep(premul_list *list, premul *made)
{
    pthread_mutex_lock(&list->lock);
    made->redop = next_number(list);
    bool kept = tsearch(made, &list->made, compare) != NULL;
    pthread_mutex_unlock(&list->lock);
    return kept;
}

muster_status muster_reduction_premul_sum(muster_group *group, double scalar,
                                          muster_reduction *redop)
{
    static const char *const name = "muster_reduction_premul_sum";
    muster_status status = group_ready(group, name);
    if (status != MUSTER_OK)
        return status;
    if (redop == NULL) {
        error_set(MUSTER_ERR_ARGUMENT, "redop is NULL; it takes the reduction that is made");
        return group_error(group, name, MUSTER_ERR_ARGUMENT);
    }
    premul *made = malloc(sizeof(*made));
    if (made != NULL)
        *made = (premul){.scalar = scalar};
    if (made == NULL || !keep(&group->premuls, made)) {
        free(made);
        return error_no_memory(sizeof(*made), "a reduction");
    }
    *redop = made->redop;
    return MUSTER_OK;
}

void muster_reduction_free(muster_group *group, muster_reduction redop)
{
    if (group_enter(group, "muster_reduction_free") != MUSTER_OK)
        return;
    pthread_mutex_lock(&group->premuls.lock);
    premul *found = find(&group->premuls, redop);
    if (found != NULL)
        tdelete(found, &group->premuls.made, compare);
    pthread_mutex_unlock(&group->premuls.lock);
    free(found);
}

static bool look_up(premul_list *list, muster_reduction redop, double *scalar)
{
    pthread_mutex_lock(&list->lock);
    const premul *found = find(list, redop);
    if (found != NULL)
        *scalar = found->scalar;
    pthread_mutex_unlock(&list->lock);
    return found != NULL;
}

muster_status premul_resolve(muster_group *group, muster_reduction *redop, double *scalar)
{
    if ((unsigned)*redop < MUSTER_PREMUL_SUM)
        return MUSTER_OK;
    if (*redop == MUSTER_PREMUL_SUM)
        return error_set(MUSTER_ERR_ARGUMENT, "MUSTER_PREMUL_SUM lacks its scalar; take what "
                                              "muster_reduction_premul_sum() makes");
    if (look_up(&group->premuls, *redop, scalar)) {
        *redop = MUSTER_PREMUL_SUM;
        return MUSTER_OK;
    }
    if (reduction_kind(*redop) == MUSTER_PREMUL_SUM && (int)*redop > 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "premul_sum number %u is no reduction of this group any more, or another "
                         "group's",
                         (unsigned)*redop >> REDUCTION_NUMBER_SHIFT);
    return error_set(MUSTER_ERR_ARGUMENT, "%d is no reduction; take one of enum muster_reduction",
                     (int)*redop);
}
