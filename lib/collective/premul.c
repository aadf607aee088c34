/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pre-multiplied sums: reductions that carry a scalar. The value that a caller holds is a number
 * above the kind; the scalar is in a list of the group. Numbers are those of the process, so that a
 * value which was freed, or is another group's, is not taken for one that is there.
 */
#include "config.h"

#include "collective/premul.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "group/group.h"
#include "reduce/types.h"

struct premul {
    muster_reduction redop;
    double scalar;
    premul *next;
};

enum { MOST_NUMBERS = MUSTER_REDUCTION_LARGEST >> REDUCTION_NUMBER_SHIFT };

void premul_init(premul_list *list)
{
    pthread_mutex_init(&list->lock, NULL);
    list->first = NULL;
}

void premul_destroy(premul_list *list)
{
    while (list->first != NULL) {
        premul *next = list->first->next;
        free(list->first);
        list->first = next;
    }
    pthread_mutex_destroy(&list->lock);
}

/* Where in the list it is, or the place at its end. */
static premul **find(premul_list *list, muster_reduction redop)
{
    premul **at = &list->first;
    while (*at != NULL && (*at)->redop != redop)
        at = &(*at)->next;
    return at;
}

/* After as many as there are numbers they begin again. */
static muster_reduction next_number(premul_list *list)
{
    static atomic_uint last;
    muster_reduction redop;
    do {
        unsigned number = atomic_fetch_add(&last, 1) % MOST_NUMBERS + 1;
        redop = (muster_reduction)(number << REDUCTION_NUMBER_SHIFT | MUSTER_PREMUL_SUM);
    } while (*find(list, redop) != NULL);
    return redop;
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
    if (made == NULL)
        return error_no_memory(sizeof(*made), "a reduction");
    premul_list *list = &group->premuls;
    pthread_mutex_lock(&list->lock);
    *made = (premul){next_number(list), scalar, list->first};
    list->first = made;
    *redop = made->redop;
    pthread_mutex_unlock(&list->lock);
    return MUSTER_OK;
}

void muster_reduction_free(muster_group *group, muster_reduction redop)
{
    if (group_enter(group, "muster_reduction_free") != MUSTER_OK)
        return;
    pthread_mutex_lock(&group->premuls.lock);
    premul **at = find(&group->premuls, redop);
    premul *found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&group->premuls.lock);
    free(found);
}

static bool look_up(premul_list *list, muster_reduction redop, double *scalar)
{
    pthread_mutex_lock(&list->lock);
    const premul *found = *find(list, redop);
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
