/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: faults on demand.
 *
 * MUSTER_STANDIN_FAULTS is a list "POINT[@RANK]:N[+]:WHAT,...": at the N-th time that it is reached
 * (with + at that one and all later ones) the point, a function of the stand-in or one of its
 * steps, of that rank or of any, does WHAT: fails with this number, "hang", "die" (the process ends
 * by SIGKILL), or sleeps ("300ms"). Counting begins anew when the variable changes.
 *
 * A function hangs for good. A step hangs until the communicator is aborted: "init", "split",
 * "shrink", "finalize"; "launch", before a group's operations come to their stream; "operation",
 * when one runs there, where its error is told by ncclCommGetAsyncError.
 */
#ifndef MUSTER_T_STANDIN_FAULT_H
#define MUSTER_T_STANDIN_FAULT_H

enum { FAULT_NONE = 0, FAULT_HANG = -1, FAULT_ANY_RANK = -1 };

/* What is to happen at the point now: the number of an error, FAULT_HANG or FAULT_NONE. Sleeps and
 * ends the process by itself. */
int fault_at(const char *point, int rank);

/* Does it for a function: hangs for ever, or returns the error or FAULT_NONE. */
int fault_enter_at(const char *function, int rank);
int fault_enter(const char *function);

/* A function that is exported. */
#define EXPORT(type, name, ...)                                                                    \
    __attribute__((visibility("default"))) type name(__VA_ARGS__);                                 \
    type name(__VA_ARGS__)

#endif
