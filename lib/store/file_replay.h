/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading what others have written to the file of a file store.
 */
#ifndef MUSTER_LIB_FILE_REPLAY_H
#define MUSTER_LIB_FILE_REPLAY_H

#include "store/file_log.h"

/* Takes the records from log->position to the end of the file into log->values. The file is locked,
 * so that what is not whole is not going to be: it is refused. */
muster_status file_replay(file_log *log, int fd);

#endif
