/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store inside one process.
 */
#include "store/store.h"
#include "store_conformance.h"
#include "tap.h"

int main(void)
{
    muster_store *store = NULL;
    char address[64];
    plan(STORE_CONFORMANCE_POINTS + 6);
    is_int(muster_store_hash(NULL), MUSTER_ERR_ARGUMENT, "a store needs a place to go to");
    is_int(muster_store_hash(&store), MUSTER_OK, "a hash store");
    store_conformance(store, store, "hash");
    is_str(store_describe(store), "hash store", "is described");
    is_int(muster_store_port(store), -1, "has no port");
    ok(!store_local_address(store, address, sizeof(address)), "and no address");
    muster_store_free(store);
    muster_store_free(NULL);
    is_int(muster_store_port(NULL), -1, "nor has NULL");
    return done();
}
