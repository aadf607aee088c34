/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what a launcher's PMI-1 server answers. Each line of the input answers one question.
 */
#include "config.h"

#include "launch/pmi1.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "net/socket.h"

enum { PATIENCE_MS = 2000 };

static fuzz_bytes answers;
static int far_end;

/* A question is on its way: its answer is sent before the client waits for it. */
muster_status __real_socket_send(int fd, const void *data, size_t size, deadline end);
muster_status __wrap_socket_send(int fd, const void *data, size_t size, deadline end);
muster_status __wrap_socket_send(int fd, const void *data, size_t size, deadline end)
{
    const uint8_t *newline = answers.size > 0 ? memchr(answers.data, '\n', answers.size) : NULL;
    size_t length = newline != NULL ? (size_t)(newline - answers.data) + 1 : answers.size;
    fuzz_bytes line = fuzz_take(&answers, length);
    if (line.size > 0 && write(far_end, line.data, line.size) != (ssize_t)line.size)
        abort();
    if (answers.size == 0)
        shutdown(far_end, SHUT_WR);
    return __real_socket_send(fd, data, size, end);
}

static void talk(pmi1 *session)
{
    char value[64] = "";
    fuzz_hold(session->max_value > 0, "values have a length");
    fuzz_hold(session->space[0] != '\0', "the space has a name");
    if (pmi1_put(session, "key", "value") != MUSTER_OK || pmi1_barrier(session) != MUSTER_OK)
        return;
    if (pmi1_get(session, "key", value, sizeof(value)) == MUSTER_OK)
        fuzz_hold(value[0] != '\0' && strchr(value, ' ') == NULL, "a value is a word");
    pmi1_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    char number[16];
    pmi1 session;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    answers = (fuzz_bytes){data, size};
    far_end = ends[1];
    snprintf(number, sizeof(number), "%d", ends[0]);
    setenv("PMI_FD", number, 1);
    if (pmi1_open(&session, PATIENCE_MS) == MUSTER_OK)
        talk(&session);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
