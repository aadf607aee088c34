/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A store seen through a prefix.
 */
#include <stdlib.h>

#include "store/store.h"
#include "store_conformance.h"
#include "tap.h"

static void bad_input(muster_store *parent)
{
    muster_store *store = NULL;
    char *big = calloc(1, 8192);
    memset(big, 'p', 8191);
    is_int(muster_store_prefix(NULL, parent, "p"), MUSTER_ERR_ARGUMENT, "a place is needed");
    is_int(muster_store_prefix(&store, NULL, "p"), MUSTER_ERR_ARGUMENT, "a parent is needed");
    is_int(muster_store_prefix(&store, parent, NULL), MUSTER_ERR_ARGUMENT, "a prefix is needed");
    is_int(muster_store_prefix(&store, parent, big), MUSTER_ERR_ARGUMENT, "a short one");
    has_str(muster_last_error(), "8191", "of fewer bytes than a key");
    big[8000] = '\0';
    is_int(muster_store_prefix(&store, parent, big), MUSTER_OK, "a long one is taken");
    is_int(muster_store_set(store, (muster_blob){big, 190}, muster_str("v")), MUSTER_OK,
           "with a key up to the limit");
    is_int(muster_store_set(store, (muster_blob){big, 191}, muster_str("v")), MUSTER_ERR_ARGUMENT,
           "and no longer one");
    muster_store_free(store);
    free(big);
}

int main(void)
{
    muster_store *parent = NULL, *store = NULL, *inner = NULL, *none = NULL;
    char address[64];
    plan(STORE_CONFORMANCE_POINTS + 18);
    muster_store_hash(&parent);
    bad_input(parent);
    is_int(muster_store_prefix(&store, parent, "group"), MUSTER_OK, "a prefix store");
    store_conformance(store, store, "prefix");
    is_str(store_describe(store), "hash store with prefix group", "says what it is over");
    ok(store_holds(parent, "group/v", muster_str("another")), "its keys have the prefix below");

    muster_store_prefix(&inner, store, "a/b");
    muster_store_prefix(&none, store, "");
    muster_store_set(inner, muster_str("/c"), muster_str("nested"));
    ok(store_holds(parent, "group/a/b//c", muster_str("nested")),
       "prefixes nest, and slashes are kept as they are");
    muster_store_set(none, muster_str("c"), muster_str("empty prefix"));
    ok(store_holds(parent, "group//c", muster_str("empty prefix")), "an empty prefix has a slash");
    is_int(muster_store_port(inner), -1, "no port, as below");
    ok(!store_local_address(inner, address, sizeof(address)), "no address, as below");

    muster_store_free(parent);
    muster_store_free(store);
    ok(store_holds(inner, "/c", muster_str("nested")), "what is below lives as long as it");
    int64_t below = -1, above = -2;
    muster_store_num_keys(none, &below);
    muster_store_num_keys(inner, &above);
    is_int(above, below, "num_keys is that of the whole store");
    ok(store_operations(inner) == 3, "operations are those through this handle");
    muster_store_free(none);
    muster_store_free(inner);
    return done();
}
