/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of PMI-1: a line is sent, a line is awaited, "cmd=NAME key=value key=value".
 */
#include "config.h"

#include "launch/pmi1.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/error.h"
#include "launch/launcher.h"
#include "net/socket.h"
#include "net/url.h"

/* What the other side is called in a sentence. */
static muster_status pmi1_error(const pmi1 *session, muster_status status, const char *format, ...)
    MUSTER_PRINTF(3, 4);

static muster_status pmi1_error(const pmi1 *session, muster_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_set_v(status, format, arguments);
    va_end(arguments);
    return error_prefix(status, "the launcher's PMI server (PMI_FD=%d): ", session->fd);
}

static muster_status pmi1_broken(const pmi1 *session, muster_status status, const char *asked)
{
    int error = errno;
    if (status == MUSTER_ERR_TIMEOUT)
        return pmi1_error(session, status, "no answer to '%s' within %lld ms", asked,
                          (long long)session->timeout_ms);
    if (status == MUSTER_ERR_PEER_LOST)
        return pmi1_error(session, status, "it closed the connection after '%s'", asked);
    return pmi1_error(session, status, "'%s': %s", asked, strerror(error));
}

/* Until the newline, which is cut off. A server sends nothing that was not asked for, so what comes
 * behind it is refused. */
static muster_status pmi1_read_line(pmi1 *session, const char *asked)
{
    size_t used = 0;
    while (used < PMI1_MAX_LINE) {
        size_t more = 0;
        muster_status status = socket_receive(session->fd, session->line + used,
                                              PMI1_MAX_LINE - used, session->end, &more);
        if (status != MUSTER_OK)
            return pmi1_broken(session, status, asked);
        char *newline = memchr(session->line + used, '\n', more);
        used += more;
        if (newline == NULL)
            continue;
        *newline = '\0';
        if (newline + 1 == session->line + used && strlen(session->line) == used - 1)
            return MUSTER_OK;
        return pmi1_error(session, MUSTER_ERR_PROTOCOL,
                          "the answer to '%s' is not one line: \"%.100s\"", asked, session->line);
    }
    session->line[used] = '\0';
    return pmi1_error(session, MUSTER_ERR_PROTOCOL,
                      "the answer to '%s' has over %d characters: \"%.100s\"", asked,
                      (int)PMI1_MAX_LINE, session->line);
}

/* The value of a key in the answer, up to the next blank; *size is its length. */
static const char *pmi1_field(const pmi1 *session, const char *key, size_t *size)
{
    size_t length = strlen(key);
    for (const char *at = session->line; *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word > length && strncmp(at, key, length) == 0 && at[length] == '=') {
            *size = word - length - 1;
            return at + length + 1;
        }
        at += word;
    }
    return NULL;
}

static bool pmi1_field_is(const pmi1 *session, const char *key, const char *value)
{
    size_t size = 0;
    const char *field = pmi1_field(session, key, &size);
    return field != NULL && size == strlen(value) && strncmp(field, value, size) == 0;
}

/* Sends one line and reads its answer, which must be of the kind expected and report no error. */
static muster_status pmi1_ask(pmi1 *session, const char *expected, const char *format, ...)
    MUSTER_PRINTF(3, 4);

static muster_status pmi1_ask(pmi1 *session, const char *expected, const char *format, ...)
{
    char line[PMI1_MAX_LINE + 1];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(line))
        return pmi1_error(session, MUSTER_ERR_ARGUMENT, "a message of %d characters is too long",
                          length);
    muster_status status = socket_send(session->fd, line, (size_t)length, session->end);
    line[length - 1] = '\0'; /* the newline; from here on for sentences */
    if (status != MUSTER_OK)
        return pmi1_broken(session, status, line);
    status = pmi1_read_line(session, line);
    if (status != MUSTER_OK)
        return status;
    size_t size;
    if (!pmi1_field_is(session, "cmd", expected) ||
        (pmi1_field(session, "rc", &size) != NULL && !pmi1_field_is(session, "rc", "0")))
        return pmi1_error(session, MUSTER_ERR_PROTOCOL, "'%.100s' was answered with \"%.200s\"",
                          line, session->line);
    return MUSTER_OK;
}

static muster_status pmi1_take(pmi1 *session, const char *key, char *value, size_t size)
{
    size_t length = 0;
    const char *field = pmi1_field(session, key, &length);
    if (field == NULL || length == 0 || length >= size)
        return pmi1_error(session, MUSTER_ERR_PROTOCOL, "no usable %s in \"%.200s\"", key,
                          session->line);
    memcpy(value, field, length);
    value[length] = '\0';
    return MUSTER_OK;
}

static muster_status pmi1_greet(pmi1 *session)
{
    char number[16];
    muster_status status =
        pmi1_ask(session, "response_to_init", "cmd=init pmi_version=1 pmi_subversion=1\n");
    if (status == MUSTER_OK)
        status = pmi1_ask(session, "maxes", "cmd=get_maxes\n");
    if (status == MUSTER_OK)
        status = pmi1_take(session, "vallen_max", number, sizeof(number));
    if (status == MUSTER_OK && !url_parse_number(number, 1, INT32_MAX, &session->max_value))
        status = pmi1_error(session, MUSTER_ERR_PROTOCOL, "vallen_max=%s is no length", number);
    if (status == MUSTER_OK)
        status = pmi1_ask(session, "my_kvsname", "cmd=get_my_kvsname\n");
    if (status == MUSTER_OK)
        status = pmi1_take(session, "kvsname", session->space, sizeof(session->space));
    return status;
}

/* What the descriptor is where it is no stream socket; NULL where it is one. */
static const char *pmi1_no_stream(int fd)
{
    struct stat about;
    int type = 0;
    socklen_t size = sizeof(type);
    if (fstat(fd, &about) != 0)
        return "whatever started this process has closed it";
    if (S_ISREG(about.st_mode))
        return "it is a file";
    if (S_ISFIFO(about.st_mode))
        return "it is a pipe";
    if (!S_ISSOCK(about.st_mode))
        return "it is no socket";
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
        return "it is a socket, but no stream";
    return NULL;
}

muster_status pmi1_open(pmi1 *session, int64_t timeout_ms)
{
    *session = (pmi1){.fd = -1, .end = deadline_in(timeout_ms), .timeout_ms = timeout_ms};
    muster_status status = launcher_number("PMI_FD", 0, INT32_MAX, &session->fd);
    if (status != MUSTER_OK)
        return status;
    const char *what = pmi1_no_stream(session->fd);
    if (what == NULL)
        return pmi1_greet(session);
    return error_set(MUSTER_ERR_UNAVAILABLE,
                     "PMI_FD=%d is no open connection to the launcher's PMI server: %s; set "
                     "MUSTER_PMI=off to do without",
                     session->fd, what);
}

muster_status pmi1_put(pmi1 *session, const char *key, const char *value)
{
    if (strlen(value) >= (size_t)session->max_value)
        return pmi1_error(session, MUSTER_ERR_UNSUPPORTED,
                          "it takes values of up to %d characters, and \"%.100s\" has %zu",
                          session->max_value - 1, value, strlen(value));
    return pmi1_ask(session, "put_result", "cmd=put kvsname=%s key=%s value=%s\n", session->space,
                    key, value);
}

muster_status pmi1_barrier(pmi1 *session)
{
    muster_status status = pmi1_ask(session, "barrier_out", "cmd=barrier_in\n");
    if (status != MUSTER_ERR_TIMEOUT)
        return status;
    return error_set(status, "%s; some rank of the job has not come to the same call",
                     muster_last_error());
}

muster_status pmi1_get(pmi1 *session, const char *key, char *value, size_t size)
{
    muster_status status =
        pmi1_ask(session, "get_result", "cmd=get kvsname=%s key=%s\n", session->space, key);
    return status == MUSTER_OK ? pmi1_take(session, "value", value, size) : status;
}

muster_status pmi1_close(pmi1 *session)
{
    return pmi1_ask(session, "finalize_ack", "cmd=finalize\n");
}
