/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store by which the ranks meet, hosted by the launcher of node 0: so its port is known before
 * there are ranks, and it is there until the last of them has ended.
 */
#include "config.h"

#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What the store says: above all, who was turned away. On a thread of the store, and in one write,
 * since the queues of our own lines belong to another. */
static void store_say(void *user, muster_log_level level, const char *line)
{
    char text[2048];
    (void)user;
    (void)level;
    int length = snprintf(text, sizeof(text) - 1, "muster-run: %s", line);
    if (length < 0)
        return;
    size_t size = (size_t)length < sizeof(text) - 1 ? (size_t)length : sizeof(text) - 2;
    text[size] = '\n';
    ssize_t written = write(STDERR_FILENO, text, size + 1);
    (void)written; /* there is nowhere else to say it */
}

/* Who set MUSTER_LOG has said what to hear. */
static void store_log(const struct options *options)
{
    const char *wanted = getenv("MUSTER_LOG");
    if ((wanted == NULL || *wanted == '\0') && options->verbosity >= 0)
        muster_set_log(store_say, NULL, MUSTER_LOG_WARNING);
}

bool job_host_store(struct job *job)
{
    const struct options *options = job->options;
    job->port = options->master_port;
    if (options->node_rank != 0)
        return true;
    store_log(options);
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = options->master_addr;
    args.port = options->master_port;
    args.listen = true;
    if (muster_store_tcp(&job->store, &args) != MUSTER_OK) {
        job_say(job, "no store for the ranks to meet: %s%s", muster_last_error(),
                options->num_nodes > 1 ? "; --master-addr is to be an address of node 0" : "");
        return false;
    }
    job->port = muster_store_port(job->store);
    nodes_warn_of_loopback(job);
    return true;
}
