/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What functions return, and the sentence that says what went wrong.
 */
#ifndef MUSTER_STATUS_H
#define MUSTER_STATUS_H

#include <muster/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* XX(name, number, text). Numbers are part of the ABI and never change. */
#define MUSTER_STATUS_MAP(XX)                                                                      \
    XX(OK, 0, "success")                                                                           \
    XX(ERR_ARGUMENT, 1, "an argument is wrong")                                                    \
    XX(ERR_NO_MEMORY, 2, "out of memory")                                                          \
    XX(ERR_TIMEOUT, 3, "timed out")                                                                \
    XX(ERR_NOT_FOUND, 4, "not found")                                                              \
    XX(ERR_EXISTS, 5, "already exists")                                                            \
    XX(ERR_MISMATCH, 6, "the ranks disagree")                                                      \
    XX(ERR_UNSUPPORTED, 7, "not supported")                                                        \
    XX(ERR_UNAVAILABLE, 8, "not available here")                                                   \
    XX(ERR_NOT_MEMBER, 9, "this process is not a member of the group")                             \
    XX(ERR_PEER_LOST, 10, "a rank was lost")                                                       \
    XX(ERR_FAILED, 11, "the group has failed")                                                     \
    XX(ERR_REMOTE, 12, "another rank reported an error")                                           \
    XX(ERR_SYSTEM, 13, "the operating system refused a call")                                      \
    XX(ERR_PROTOCOL, 14, "a peer sent what was not understood")                                    \
    XX(ERR_FORKED, 15, "the group belongs to the parent of this process")                          \
    XX(ERR_INTERNAL, 16, "a fault inside the library or a backend")

/* MUSTER_OK is 0, so "if (status)" is true where something went wrong. */
typedef enum muster_status {
#define MUSTER_STATUS_ENUM(name, number, text) MUSTER_##name = number,
    MUSTER_STATUS_MAP(MUSTER_STATUS_ENUM)
#undef MUSTER_STATUS_ENUM
} muster_status;

/* The name ("MUSTER_ERR_TIMEOUT") and the short text of a status; for a number that is none,
 * "unknown status". Never NULL, never freed. */
MUSTER_API const char *muster_status_name(muster_status status);
MUSTER_API const char *muster_status_text(muster_status status);

/*
 * The sentence of the last call that failed on this thread: group, rank, operation, cause and what
 * to do, in one line without a newline. Empty before the first failure. Never NULL, never freed;
 * valid until the next failure on this thread. Calls that succeed leave it alone.
 */
MUSTER_API const char *muster_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
