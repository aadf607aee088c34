/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A group of one rank and its gathers without memory: every allocation is refused in turn, which
 * must be an error or no matter, and nothing else. Run it under a sanitizer, which finds leaks.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster.h"
#include "scarce.h"
#include "tap.h"

static muster_store *store;
static muster_group *group;

static muster_status make(muster_group **made)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.rank = 0;
    args.world_size = 1;
    args.options = "rigged.trace=yes";
    args.timeout_ms = 2000;
    return muster_init_process_group(made, &args);
}

static muster_status make_and_free(void)
{
    muster_group *made = NULL;
    muster_status status = make(&made);
    muster_group_free(made);
    return status;
}

static muster_status make_sub_groups(void)
{
    muster_group *regular = NULL, *orthogonal = NULL, *split = NULL;
    muster_status status = muster_create_sub_group(group, 1, NULL, &regular, &orthogonal);
    if (status == MUSTER_OK)
        status = muster_group_split(group, 0, 0, NULL, &split);
    muster_group_free(regular);
    muster_group_free(orthogonal);
    muster_group_free(split);
    return status;
}

static muster_status gather_tokens(void)
{
    static const size_t lengths[] = {2, 0, 3};
    static const int64_t ids[] = {1, 70000, -5, INT64_MAX, 0};
    const muster_token_lists mine = {3, lengths, ids};
    muster_tokens *all = NULL;
    muster_padded_tokens *padded = NULL;
    muster_status status = muster_all_gather_tokens(group, &mine, &all);
    if (status == MUSTER_OK)
        status = muster_tokens_padded(all, -1, &padded);
    if (status == MUSTER_OK && (all->num_tokens != 5 || padded->width != 3))
        status = MUSTER_ERR_INTERNAL;
    muster_padded_tokens_free(padded);
    muster_tokens_free(all);
    return status;
}

static muster_status gather_objects(void)
{
    const muster_blob blobs[] = {{"abc", 3}, {NULL, 0}};
    const muster_object_list mine = {2, blobs};
    muster_objects *all = NULL;
    muster_status status = muster_gather_objects(group, &mine, 0, &all);
    if (status == MUSTER_OK && (all->num_objects != 2 || all->num_bytes != 3))
        status = MUSTER_ERR_INTERNAL;
    muster_objects_free(all);
    return status;
}

static muster_status reduce_and_describe(void)
{
    int32_t value = 3;
    char *text = NULL;
    muster_status status =
        muster_all_reduce(group, &value, &value, 1, MUSTER_INT32, MUSTER_SUM, NULL);
    if (status == MUSTER_OK)
        status = muster_group_describe(group, true, &text);
    muster_free(text);
    return status == MUSTER_OK && value != 3 ? MUSTER_ERR_INTERNAL : status;
}

/* Those of the collectives that take memory for themselves, and a batch. */
static muster_status move_and_reduce(void)
{
    static const size_t counts[] = {2};
    int32_t from[] = {3, 4}, to[2] = {0};
    const muster_type type = MUSTER_INT32;
    muster_reduction twice;
    muster_transfer own[] = {{MUSTER_SENDS, 0, 2, {from}, type},
                             {MUSTER_RECEIVES, 0, 2, {to}, type}};
    muster_status status = muster_reduction_premul_sum(group, 2, &twice);
    if (status == MUSTER_OK)
        status = muster_batch_send_recv(group, own, 2, NULL);
    if (status == MUSTER_OK)
        status = muster_all_to_all_v(group, to, counts, from, counts, type, NULL);
    if (status == MUSTER_OK)
        status = muster_reduce_scatter_v(group, from, to, counts, type, twice, NULL);
    if (status == MUSTER_OK)
        status = muster_gather_v(group, to, 2, from, counts, type, 0, NULL);
    return status == MUSTER_OK && from[1] != 8 ? MUSTER_ERR_INTERNAL : status;
}

/* A group and a store of its own each time: what a refusal leaves behind in them is another
 * matter. */
static muster_status run_once(muster_status (*what)(void), int allocations, bool *reached)
{
    muster_store_hash(&store);
    if (what != make_and_free && make(&group) != MUSTER_OK)
        bail_out("no group: %s", muster_last_error());
    scarce_left = allocations;
    muster_status status = what();
    *reached = allocations >= 0 && scarce_left < 0;
    scarce_left = -1;
    muster_group_free(group);
    muster_store_free(store);
    group = NULL;
    return status;
}

/* Some refusals are no matter, so it goes on until none of the allocations was refused. */
static void starve(muster_status (*what)(void), const char *name)
{
    int refused = 0, errors = 0;
    bool clean = true, reached = true;
    for (; reached && refused < 3000; refused++) {
        muster_status status = run_once(what, refused, &reached);
        errors += status != MUSTER_OK;
        bool said = status == MUSTER_OK || status == MUSTER_ERR_NO_MEMORY;
        if (!said && clean)
            diag("refused %d: %s, %s", refused, muster_status_name(status), muster_last_error());
        clean = clean && said && (reached || status == MUSTER_OK);
    }
    ok(clean, "%s: a refusal is an error that says so, or no matter", name);
    ok(!reached && errors > 0, "%s: %d allocations refused, %d errors, then it works", name,
       refused - 1, errors);
    bool unused;
    is_int(run_once(what, -1, &unused), MUSTER_OK, "%s: and goes on working", name);
}

int main(void)
{
    plan(18);
    unsetenv("MUSTER_OPTIONS");
    unsetenv("MUSTER_RIGGED_FAIL");
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/.libs", 1);
    starve(make_and_free, "a group");
    starve(make_sub_groups, "sub-groups");
    starve(gather_tokens, "a gather of tokens");
    starve(gather_objects, "a gather of objects");
    starve(reduce_and_describe, "a sum and a description");
    starve(move_and_reduce, "blocks and a batch");
    return done();
}
