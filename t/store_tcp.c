/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tcp store: client and server in one process.
 */
#include "store.h"
#include "store_conformance.h"
#include "tap.h"

int main(void)
{
    muster_store *store = NULL, *other = NULL;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    plan(STORE_CONFORMANCE_POINTS + 2);
    args.host = "127.0.0.1";
    args.listen = true;
    is_int(muster_store_tcp(&store, &args), MUSTER_OK, "a tcp store");
    args.listen = false;
    args.port = muster_store_port(store);
    is_int(muster_store_tcp(&other, &args), MUSTER_OK, "a tcp store");
    diag("%s", store_describe(store));
    store_conformance(store, other, "tcp");
    muster_store_free(other);
    muster_store_free(store);
    return done();
}
