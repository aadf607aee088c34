/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The built-in backend for groups of one rank.
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
    ok(local->options == NULL, "it has no options");
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
    comm = NULL;
    args.num_ranks = 2;
    is_int(local->open(&owner, &args, &comm), MUSTER_ERR_UNSUPPORTED, "two ranks are not");
    has_str(muster_last_error(), "groups of one rank and this one has 2", "and are told so");
    ok(comm == NULL, "nothing is handed over");
}

static void messages(void)
{
    muster_request *request = NULL;
    char byte = 0;
    is_int(local->post_send(NULL, 0, 0, &byte, 1, &request), MUSTER_ERR_UNSUPPORTED,
           "nothing is sent");
    has_str(muster_last_error(), "can't send", "and that is said");
    is_int(local->post_recv(NULL, 0, 0, &byte, 1, &request), MUSTER_ERR_UNSUPPORTED,
           "nothing is received");
    has_str(muster_last_error(), "can't receive", "and that is said");
    is_int(local->wait(NULL, request, 0), MUSTER_ERR_UNSUPPORTED, "nothing is waited for");
    has_str(muster_last_error(), "can't wait", "and that is said");
    ok(request == NULL, "there is no request");
}

int main(void)
{
    plan(19);
    const backend_entry *entry = backend_find("local");
    ok(entry != NULL && entry->available, "it is in the list");
    if (entry == NULL)
        bail_out("there is nothing to test");
    local = entry->ops;
    probe();
    open_and_close();
    messages();
    return done();
}
