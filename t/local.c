/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The built-in backend: its table, and groups of one rank.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/host.h"
#include "tap.h"

static const muster_backend *local;

static void probe(void)
{
    muster_backend_info info = {.size = sizeof(info)};
    is_int(local->probe(&host_functions, &info), MUSTER_OK, "it is always there");
    is_str(info.version, muster_version(), "with the version of muster");
    ok(info.details[0] != '\0', "and says what it is");
    is_int(local->abi, MUSTER_BACKEND_ABI, "its ABI is ours");
    is_str(local->options[0].name, "local.single_copy", "it has an option");
    ok(local->options[0].help[0] != '\0' && local->options[1].name == NULL, "and no more");
}

static void open_and_close(void)
{
    muster_comm_owner owner = {.option = NULL};
    muster_open_args args = {.size = sizeof(args), .num_ranks = 1, .group_name = "one"};
    muster_comm *comm = NULL;
    is_int(local->open(&owner, &args, &comm), MUSTER_OK, "one rank is served");
    has_str(local->describe(comm), "one rank", "it can be described");
    local->abort(comm);
    local->abort(comm);
    local->close(comm);
    comm = NULL;
    local->open(&owner, &args, &comm);
    ok(comm != NULL, "it opens again");
    local->forget(comm);
}

int main(void)
{
    plan(10);
    const backend_entry *entry = backend_find("local");
    ok(entry != NULL && entry->available, "it is in the list");
    if (entry == NULL)
        bail_out("there is nothing to test");
    local = entry->ops;
    probe();
    open_and_close();
    return done();
}
