/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structs of callers that were built with an older or a newer header.
 */
#include "base/arguments.h"

#include <string.h>

#include "tap.h"

/* The struct as today's library knows it, and as a later header has it. */
typedef struct today {
    size_t struct_size;
    long first;
    long second;
} today;

typedef struct later {
    today known;
    long third;
    char fourth;
} later;

static const today defaults = {sizeof(today), 10, 20};
static const size_t least = offsetof(today, second);

static muster_status copy(today *ours, const void *theirs)
{
    *ours = defaults;
    return arguments_copy(ours, sizeof(*ours), least, theirs, "a_struct");
}

static void good(void)
{
    today ours, same = {sizeof(today), 1, 2};
    ok(copy(&ours, &same) == MUSTER_OK && ours.first == 1 && ours.second == 2, "the same header");

    struct {
        size_t struct_size;
        long first;
    } older = {least, 3};
    ok(copy(&ours, &older) == MUSTER_OK && ours.first == 3 && ours.second == 20,
       "an older one: what it lacks keeps its default");
    is_int((long long)ours.struct_size, sizeof(today), "ours has our own size");

    later newer = {{sizeof(later), 4, 5}, 0, 0};
    ok(copy(&ours, &newer) == MUSTER_OK && ours.first == 4 && ours.second == 5,
       "a newer one that sets nothing new");
}

static void bad(void)
{
    today ours;
    later newer = {{sizeof(later), 4, 5}, 1, 0};
    is_int(copy(&ours, &newer), MUSTER_ERR_ARGUMENT, "a newer one that sets something new");
    has_str(muster_last_error(), "the a_struct is of a newer muster", "says so");
    has_str(muster_last_error(), muster_version(), "with our version");
    ok(memcmp(&ours, &defaults, sizeof(ours)) == 0, "and leaves ours alone");
    newer.third = 0;
    newer.fourth = 1;
    is_int(copy(&ours, &newer), MUSTER_ERR_ARGUMENT, "the last byte counts as well");

    static const size_t sizes[] = {0,    1,       sizeof(size_t), offsetof(today, second) - 1,
                                   4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        today wrong = {sizes[i], 1, 2};
        is_int(copy(&ours, &wrong), MUSTER_ERR_ARGUMENT, "a struct_size of %zu", sizes[i]);
        has_str(muster_last_error(), "begin with its initialiser macro", "says what to do");
    }
}

/* user case: a program built with today's header calls through every struct of the interface. */
static void public_structs(void)
{
    muster_group *group = NULL;
    muster_init_args init = MUSTER_INIT_ARGS_INIT;
    init.struct_size = 3;
    is_int(muster_init_process_group(&group, &init), MUSTER_ERR_ARGUMENT, "init refuses 3 bytes");
    has_str(muster_last_error(), "muster_init_args has a struct_size of 3", "and says of what");

    muster_store *store = NULL;
    muster_tcp_store_args tcp = MUSTER_TCP_STORE_ARGS_INIT;
    tcp.struct_size = 3;
    is_int(muster_store_tcp(&store, &tcp), MUSTER_ERR_ARGUMENT, "a tcp store refuses 3 bytes");
    ok(group == NULL && store == NULL, "nothing is written");
}

int main(void)
{
    plan(25);
    good();
    bad();
    public_structs();
    return done();
}
