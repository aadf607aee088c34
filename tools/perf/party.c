/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process that the conductor has a line to.
 */
#include "config.h"

#include "party.h"
#include "stopwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a party may take to end by itself. */
enum { PARTY_END_MS = 10000, PARTY_LOOK_MS = 10 };

/* All that run. A child must not keep the lines to the others open: that is how they are told to
 * end. */
static perf_party *party_list;

static void party_hang_up(perf_party *party)
{
    close(party->orders);
    close(party->answers);
}

/* A server of 1,000 clients has more descriptors than the usual limit. */
static void party_raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void perf_party_tie(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void party_run(int orders, int answers, int (*body)(const void *context),
                      const void *context)
{
    setpgid(0, 0);
    perf_party_tie();
    for (perf_party *other = party_list; other != NULL; other = other->next)
        party_hang_up(other);
    party_raise_limit();
    bool wired = dup2(orders, STDIN_FILENO) >= 0 && dup2(answers, STDOUT_FILENO) >= 0;
    if (orders > STDERR_FILENO)
        close(orders);
    if (answers > STDERR_FILENO)
        close(answers);
    int status = wired ? body(context) : EXIT_FAILURE;
    fflush(stdout);
    _exit(status);
}

bool perf_party_start(perf_party *party, int (*body)(const void *context), const void *context)
{
    int orders[2], answers[2];
    if (pipe2(orders, O_CLOEXEC) != 0)
        return false;
    if (pipe2(answers, O_CLOEXEC) != 0) {
        close(orders[0]);
        close(orders[1]);
        return false;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(orders[1]);
        close(answers[0]);
        party_run(orders[0], answers[1], body, context);
    }
    close(orders[0]);
    close(answers[1]);
    *party = (perf_party){pid, orders[1], answers[0], party_list};
    if (pid < 0) {
        party_hang_up(party);
        *party = (perf_party){0};
        return false;
    }
    party_list = party;
    return true;
}

/* A line without its end; false when there is none in time. */
static bool party_line(const perf_party *party, char *line, size_t size, int64_t timeout_ms)
{
    double end = stopwatch_seconds() + (double)timeout_ms / 1000;
    for (size_t at = 0; at + 1 < size;) {
        struct pollfd one = {party->answers, POLLIN, 0};
        double left = end - stopwatch_seconds();
        int ready = left <= 0 ? 0 : poll(&one, 1, left > 1e6 ? 1000000000 : (int)(left * 1000) + 1);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || read(party->answers, line + at, 1) != 1)
            return false;
        line[at] = line[at] == '\n' ? '\0' : line[at];
        if (line[at++] == '\0')
            return true;
    }
    return false;
}

bool perf_party_ask(perf_party *party, const char *order, double numbers[2], char *rest,
                    size_t rest_size, int64_t timeout_ms, char why[512])
{
    char line[512];
    int used = 0;
    if (order != NULL && write(party->orders, order, strlen(order)) != (ssize_t)strlen(order)) {
        snprintf(why, 512, "a process of the measurement has ended");
        return false;
    }
    do {
        if (!party_line(party, line, sizeof(line), timeout_ms)) {
            snprintf(why, 512, "a process of the measurement gave no answer in time, or has ended");
            return false;
        }
        if (line[0] == '!') {
            snprintf(why, 512, "%s", line + 1);
            return false;
        }
        /* Anything else is what a library below torch has to say. */
    } while (sscanf(line, "%lf %lf %n", &numbers[0], &numbers[1], &used) < 2);
    if (rest != NULL)
        snprintf(rest, rest_size, "%s", line + used);
    return true;
}

static bool party_has_ended(pid_t pid)
{
    for (int waited = 0; waited < PARTY_END_MS; waited += PARTY_LOOK_MS) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            return true;
        poll(NULL, 0, PARTY_LOOK_MS);
    }
    return false;
}

void perf_party_end(perf_party *party)
{
    if (party->pid == 0)
        return;
    perf_party **link = &party_list;
    while (*link != party)
        link = &(*link)->next;
    *link = party->next;
    party_hang_up(party);
    if (!party_has_ended(party->pid)) {
        kill(-party->pid, SIGKILL);
        waitpid(party->pid, NULL, 0);
    }
    *party = (perf_party){0};
}
