/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-run from the outside: who gets into its store.
 */
#include "config.h"

#include "muster_run.h"
#include "ranks_port.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct command run;

/* The first line that a rank prints. */
static void first_word(const char *const *arguments, char *line, size_t size)
{
    command_run(&run, NULL, arguments);
    snprintf(line, size, "%.*s", (int)strcspn(run.out, "\n"), run.out);
}

/* Characters of what muster-run makes. */
#ifdef HAVE_SODIUM
enum { SECRET_LENGTH = 64 };
#else
enum { SECRET_LENGTH = 0 };
#endif

/* user case 56: who gets into the store. */
static void secrets(void)
{
    static const char own[] = "the secret of a user";
    char first[100], second[100];
    unsetenv("MUSTER_JOB_SECRET");
    first_word(RUN(SHELL("echo $MUSTER_JOB_SECRET")), first, sizeof(first));
    is_int((long long)strlen(first), SECRET_LENGTH, "a job has a secret, where it can be proved");
    first_word(RUN(SHELL("echo $MUSTER_JOB_SECRET")), second, sizeof(second));
    ok(SECRET_LENGTH == 0 || strcmp(first, second) != 0, "and another one another");
    command_run(&run, NULL, RUN("-n", "2", "-v", SHELL("echo [$MUSTER_JOB_SECRET]")));
    snprintf(first, sizeof(first), "%.*s", SECRET_LENGTH + 2, run.out);
    ok(strncmp(run.out + SECRET_LENGTH + 3, first, strlen(first)) == 0, "its ranks have the same");
    first[SECRET_LENGTH + 1] = '\0';
    ok(SECRET_LENGTH == 0 || strstr(run.err, first + 1) == NULL, "which it does not tell");
    first_word(RUN("--no-secret", SHELL("echo [$MUSTER_JOB_SECRET]")), first, sizeof(first));
    is_str(first, "[]", "with --no-secret there is none");
    setenv("MUSTER_JOB_SECRET", "short", 1);
    command_run(&run, NULL, RUN("true"));
    ok(run.status != 0 && strstr(run.err, "has 5 characters") != NULL, "a short one is refused");
    setenv("MUSTER_JOB_SECRET", own, 1);
    first_word(RUN("--no-secret", SHELL("echo [$MUSTER_JOB_SECRET]")), first, sizeof(first));
    is_str(first, "[]", "--no-secret takes away the user's");
    command_run(&run, NULL, RUN(SHELL("echo $MUSTER_JOB_SECRET")));
    has_str(SECRET_LENGTH > 0 ? run.out : run.err,
            SECRET_LENGTH > 0 ? own : "built without libsodium", "which else is the job's");
    unsetenv("MUSTER_JOB_SECRET");

    command_run(
        &run, NULL,
        RUN(SHELL("printf 0100007F:%04X $MASTER_PORT >&2; awk '$4 == \"0A\" {print $2}' "
                  "/proc/net/tcp /proc/net/tcp6 | grep \":$(printf %04X $MASTER_PORT)$\"")));
    run.out[strcspn(run.out, "\n")] = '\0';
    is_str(run.out, run.err, "the store listens on loopback and nowhere else");
}

/* Both nodes of a job, one of them with a secret of its own or none; run is node 0. */
static void on_two_nodes(const char *option, const char *secret, struct command *other)
{
    struct port port = port_reserve();
    char number[16];
    snprintf(number, sizeof(number), "%d", port.number);
    if (secret != NULL)
        setenv("MUSTER_JOB_SECRET", secret, 1);
    command_start(other, NULL,
                  RUN("-n", "2", "--nnodes", "2", "--node-rank", "1", "--master-addr", "127.0.0.1",
                      "--timeout", "20", "--master-port", number, option, "true"));
    unsetenv("MUSTER_JOB_SECRET");
    command_run(&run, NULL,
                RUN("-n", "2", "--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1",
                    "--timeout", "5", "--master-port", number, option,
                    SHELL("echo [$MUSTER_JOB_SECRET]")));
    command_finish(other);
    port_free(&port);
}

static void secrets_of_nodes(void)
{
    static const char warning[] = "set the same MUSTER_JOB_SECRET on every node";
    struct command other;
    on_two_nodes("--kill-after=5", NULL, &other);
    is_str(run.out, "[]\n", "one node can't make a secret for two");
    has_str(run.err, warning, "and says so");
    ok(strstr(other.err, warning) == NULL, "once");
    command_free(&other);
    on_two_nodes("--no-secret", NULL, &other);
    ok(run.status == 0 && strstr(run.err, warning) == NULL, "unless that is wanted");
    command_free(&other);
#ifdef HAVE_SODIUM
    on_two_nodes("--kill-after=5", "the secret of one node", &other);
    ok(other.status != 0, "a node with a secret of its own does not get in");
    has_str(other.err, "the store has no job secret, but MUSTER_JOB_SECRET is set here",
            "and says what differs");
    command_free(&other);
#else
    skip(2, "built without libsodium");
#endif
}

/* user case 58: strangers at the launcher's own store, torch's greeting and a browser's. */
static void strangers(void)
{
    static const char *const words[] = {"\0\xce\xf7\x85\x3c\x0d\1\2\3\4", "GET / HTTP/1.1\r\n"};
    struct port port = port_reserve();
    char number[16], turned[100], answer[64];
    snprintf(number, sizeof(number), "%d", port.number);
    snprintf(turned, sizeof(turned),
             "muster-run: tcp store 127.0.0.1:%d: turned 127.0.0.1:", port.number);
    command_free(&run);
    command_start(&run, NULL, RUN("-n", "2", "--master-port", number, SHELL("echo here; sleep 1")));
    command_has_said(&run, "here");
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port.number)};
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && send(fd, words[i], 10, 0) == 10)
            while (recv(fd, answer, sizeof(answer), 0) > 0)
                continue;
        close(fd);
    }
    command_finish(&run);
    is_int(run.status, 0, "a job does not mind strangers");
#ifdef HAVE_SODIUM
    has_str(run.err, turned, "and says who was turned away");
    has_str(run.err, "muster-run --no-secret", "with what to do for ranks of torch");
    has_str(run.err, "is no client's of a store", "and what was none at all");
#else
    skip(3, "built without libsodium");
#endif
    port_free(&port);
}

void run_secrets(void)
{
    secrets();
    secrets_of_nodes();
    strangers();
    command_free(&run);
}
