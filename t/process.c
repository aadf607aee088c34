/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which process this is, also where it is a fork.
 */
#include "base/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* Whether a child, and its own child, know who they are. */
static int child(int generations)
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(process_id() == getpid() && (generations == 1 || child(generations - 1) == 0) ? 0
                                                                                            : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : 1;
}

int main(void)
{
    plan(4);
    is_int(process_id(), getpid(), "a process knows itself");
    is_int(process_id(), getpid(), "and again");
    is_int(child(2), 0, "so do its child and grandchild");
    is_int(process_id(), getpid(), "and it is still the same");
    return done();
}
