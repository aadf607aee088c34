/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A loopback address for each process.
 */
#include "net/loopback.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "net/interface.h"
#include "tap.h"

/* The formula, where the host has the addresses; on one that has only 127.0.0.1 that is right too.
 */
static void formula(void)
{
    static const struct {
        long long pid;
        const char *address;
    } rows[] = {
        {1, "127.128.0.2"},
        {253, "127.128.0.254"},
        {254, "127.128.1.1"},
        {254 * 256, "127.129.0.1"},
        {254 * 256 * 128 - 1, "127.255.255.254"},
        {254 * 256 * 128, "127.128.0.1"},
    };
    char text[LOOPBACK_SIZE];
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *got = loopback_of_process(rows[i].pid, text, sizeof(text));
        ok(strcmp(got, rows[i].address) == 0 || strcmp(got, "127.0.0.1") == 0,
           "process %lld has %s", rows[i].pid, got);
    }
}

int main(void)
{
    char mine[LOOPBACK_SIZE], again[LOOPBACK_SIZE];
    interface_address found = {0};
    plan(9);
    formula();
    is_str(loopback_of_process(getpid(), mine, sizeof(mine)),
           loopback_of_process(getpid(), again, sizeof(again)), "it stays the same");
    is_int(interface_of_address(mine, AF_INET, &found), MUSTER_OK, "%s is of this host", mine);
    ok(found.loopback, "and loopback");
    return done();
}
