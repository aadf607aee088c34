/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job secret, which the store asks of everybody who connects: it goes to the ranks in their
 * environment, where the same user can read it and nobody else, and never into a command line.
 */
#include "config.h"

#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#ifdef HAVE_SODIUM
enum { SECRET_BYTES = 32, CAN_PROVE = 1 };
#else
enum { SECRET_BYTES = 32, CAN_PROVE = 0 };
#endif

static bool secret_make(void)
{
    unsigned char bytes[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 1];
    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return setenv("MUSTER_JOB_SECRET", text, 1) == 0;
}

/* One node can't invent what the others have to know too. */
static void secret_missing(struct job *job)
{
    const struct options *options = job->options;
    if (options->verbosity >= 0 && options->node_rank == 0)
        job_say(job,
                "no job secret: whoever reaches %s port %d can read and change what the ranks "
                "agree on; set the same MUSTER_JOB_SECRET on every node (random, as of 'openssl "
                "rand -hex 32'), or give --no-secret",
                options->master_addr, options->master_port);
}

bool job_choose_secret(struct job *job)
{
    const struct options *options = job->options;
    if (options->no_secret)
        return unsetenv("MUSTER_JOB_SECRET") == 0;
    if (getenv("MUSTER_JOB_SECRET") != NULL)
        return true; /* the user's, or that of a muster-run around this one */
    if (options->num_nodes > 1) {
        secret_missing(job);
        return true;
    }
    if (CAN_PROVE)
        return secret_make();
    if (options->verbosity > 0)
        job_say(job, "no job secret: built without libsodium");
    return true;
}
