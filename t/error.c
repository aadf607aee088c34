/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Status codes, their texts, and the thread's last error.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "tap.h"

static void *other_thread(void *unused)
{
    (void)unused;
    bool empty = muster_last_error()[0] == '\0';
    error_set(MUSTER_ERR_TIMEOUT, "of the other thread");
    return (void *)(intptr_t)empty;
}

static void statuses(void)
{
    is_int(MUSTER_ERR_INTERNAL, 16, "the last status keeps its number");
    is_str(muster_status_name(MUSTER_ERR_TIMEOUT), "MUSTER_ERR_TIMEOUT", "a status has its name");
    is_str(muster_status_text(MUSTER_OK), "success", "a status has a text");
    is_str(muster_status_name((muster_status)999), "unknown status",
           "an unknown status is said so");
    is_str(muster_status_text((muster_status)-1), "unknown status", "a negative status too");
}

static void sentences(void)
{
    is_str(muster_last_error(), "", "there is no sentence before the first failure");
    errno = ENOENT;
    is_int(error_set(MUSTER_ERR_ARGUMENT, "rank %d of %d", 4, 3), MUSTER_ERR_ARGUMENT,
           "setting a sentence returns the status");
    is_int(errno, ENOENT, "and keeps errno");
    is_str(muster_last_error(), "rank 4 of 3", "the sentence is formatted");
    error_prefix(MUSTER_ERR_ARGUMENT, "group '%s': ", "g");
    is_str(muster_last_error(), "group 'g': rank 4 of 3", "words can be put in front");
    error_set(MUSTER_ERR_ARGUMENT, "%s!", muster_last_error());
    is_str(muster_last_error(), "group 'g': rank 4 of 3!",
           "an argument may be the sentence itself");
    errno = EACCES;
    is_int(error_system("opening %s", "f"), MUSTER_ERR_SYSTEM, "errno makes a system error");
    has_str(muster_last_error(), "opening f: Permission denied", "that says what errno means");
    is_int(error_no_memory(12, "tokens"), MUSTER_ERR_NO_MEMORY, "no memory has its status");
    has_str(muster_last_error(), "12 bytes of tokens", "and says how much for what");
}

static void limits(void)
{
    char longer[ERROR_SIZE + 100];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    error_set(MUSTER_ERR_ARGUMENT, "%s", longer);
    is_int((long long)strlen(muster_last_error()), ERROR_SIZE - 1, "a long sentence is cut");
    is_str(muster_last_error() + ERROR_SIZE - 4, "...", "and shows that it was");
    pthread_t thread;
    void *empty = NULL;
    error_set(MUSTER_ERR_ARGUMENT, "host \"%s\"", "a\nb\033[2J\x7f\t\xc3\xa4");
    is_str(muster_last_error(), "host \"a?b?[2J??\xc3\xa4\"",
           "it is one line, and no more than text");
    error_set(MUSTER_ERR_ARGUMENT, "of the main thread");
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, &empty);
    ok(empty != NULL, "another thread starts without a sentence");
    is_str(muster_last_error(), "of the main thread", "and does not touch ours");
    error_kept before;
    error_keep(&before);
    error_set(MUSTER_ERR_TIMEOUT, "of a try");
    is_int(error_settle(&before, MUSTER_ERR_TIMEOUT), MUSTER_ERR_TIMEOUT, "a call that fails");
    is_str(muster_last_error(), "of a try", "says why");
    is_int(error_settle(&before, MUSTER_OK), MUSTER_OK, "one that succeeds in the end");
    is_str(muster_last_error(), "of the main thread", "leaves what was said before");
}

static char seen[256];
static int lines;

static void collect(void *user, muster_log_level level, const char *line)
{
    strncpy(seen, line, sizeof(seen) - 1);
    lines += *(int *)user + (int)level * 0;
}

static void logging(void)
{
    int one = 1;
    log_line(MUSTER_LOG_WARNING, "nobody wants this");
    muster_set_log(collect, &one, MUSTER_LOG_INFO);
    log_line(MUSTER_LOG_DEBUG, "too fine");
    is_int(lines, 0, "lines above the level are not passed on");
    log_line(MUSTER_LOG_INFO, "rank %d", 3);
    is_int(lines, 1, "lines of the level are");
    is_str(seen, "rank 3", "formatted, without a newline");
    log_line(MUSTER_LOG_INFO, "host %s", "a\nb");
    is_str(seen, "host a?b", "one line whatever is in it");
}

int main(void)
{
    plan(28);
    statuses();
    sentences();
    limits();
    logging();
    return done();
}
