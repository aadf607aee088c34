/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and counts of the groups made of one group.
 */
#include "group/family.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tap.h"

enum { THREADS = 4, ROUNDS = 2000 };

static void counts(family *members)
{
    is_int(family_count(members, "{0,1}", 1), 0, "never counted");
    is_int(family_count(members, "{0,1}", 1), 1, "once");
    is_int(family_count(members, "{0,1}", 0), 2, "counting nothing looks");
    is_int(family_count(members, "{0,1}", 5), 2, "counts by more");
    is_int(family_count(members, "{0,1}", 0), 7, "all of them");
    is_int(family_count(members, "{1,0}", 1), 0, "another order is another list");
    is_int(family_count(members, "", 1), 0, "an empty key is a key");
}

static void names(family *members)
{
    bool taken = false;
    ok(family_take_name(members, "a", &taken) && taken, "a free name is taken");
    ok(family_take_name(members, "a", &taken) && !taken, "but once");
    ok(family_take_name(members, "b", &taken) && taken, "another one is free");
    family_drop_name(members, "a");
    ok(family_take_name(members, "a", &taken) && taken, "a dropped one is free again");
    family_drop_name(members, "never taken");
    ok(family_take_name(members, "never taken", &taken) && taken, "dropping what nobody has");
    ok(family_take_name(members, "{0,1}", &taken) && taken, "a name is not in use by its count");
    is_int(family_count(members, "{0,1}", 0), 7, "and leaves the count alone");
}

static family *shared;
static atomic_int winners;

/* All threads take the same names and count the same key. */
static void *contend(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        char name[32];
        bool taken = false;
        snprintf(name, sizeof(name), "name %d", i);
        if (family_take_name(shared, name, &taken) && taken)
            atomic_fetch_add(&winners, 1);
        family_count(shared, "turns", 1);
        family_release(family_retain(shared));
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&all[i], NULL, contend, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    is_int(winners, ROUNDS, "of threads that want one name one gets it");
    is_int(family_count(shared, "turns", 0), (long long)THREADS * ROUNDS, "no count is lost");
}

int main(void)
{
    plan(18);
    shared = family_new();
    ok(shared != NULL, "a family is made");
    counts(shared);
    names(shared);
    threads();
    family *again = family_retain(shared);
    family_release(shared);
    is_int(family_count(again, "turns", 0), (long long)THREADS * ROUNDS,
           "lives with its last user");
    family_release(again);
    family_release(NULL);
    return done();
}
