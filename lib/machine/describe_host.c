/* SPDX-License-Identifier: BSD-3-Clause
 *
 * This machine in short, for people and for programs.
 */
#include "config.h"

#include "base/error.h"
#include "base/facts.h"
#include "machine/machine.h"
#include "net/host_identity.h"

muster_status muster_describe_host(bool json, char **text)
{
    if (text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_describe_host: text is NULL");
    host_identity self;
    muster_status status = host_identity_get(&self);
    if (status != MUSTER_OK)
        return status;
    machine *seen;
    status = machine_load(&seen);
    if (status != MUSTER_OK)
        return status;
    facts f;
    status = facts_begin(&f, json);
    if (status == MUSTER_OK) {
        facts_text(&f, "host", self.host_name);
        facts_number(&f, "usable cores", self.cores);
        facts_text(&f, "topology by", seen->seen_by);
        facts_number(&f, "packages", seen->num_packages);
        facts_number(&f, "NUMA nodes", seen->num_numas);
        facts_number(&f, "cores", seen->num_cores);
        facts_number(&f, "threads", seen->num_pus);
        status = facts_end(&f, text);
    }
    machine_free(seen);
    return status;
}
