/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store by which the ranks meet, hosted by the launcher of node 0: so its port is known before
 * there are ranks, and it is there until the last of them has ended.
 */
#include "config.h"

#include "job.h"

bool job_host_store(struct job *job)
{
    const struct options *options = job->options;
    job->port = options->master_port;
    if (options->node_rank != 0)
        return true;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = options->master_addr;
    args.port = options->master_port;
    args.listen = true;
    if (muster_store_tcp(&job->store, &args) != MUSTER_OK) {
        job_say(job, "no store for the ranks to meet: %s", muster_last_error());
        return false;
    }
    job->port = muster_store_port(job->store);
    return true;
}
