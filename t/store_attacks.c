/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attacks on a tcp store, with a job going on meanwhile. User cases 2, 56 and 58.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "siege.h"
#include "store_conformance.h"
#include "store_peers.h"
#include "tap.h"
#include "tcp_store/tcp_door.h"

enum { PATIENCE = 10000, CUT_OFF = 2000, TURNED_POINTS = 2 };

/* Makes TURNED_POINTS points. */
static void turned_away(siege *at, const char *reason, const char *attack)
{
    ok(siege_said(at, reason), "%s: the log says why: %s", attack, reason);
    ok(siege_said(at, "turned 127.0.0."), "%s: and who", attack);
}

static void wrong_secret(void)
{
    long long ms;
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    is_int(siege_join(at, "another horse and battery", &ms), MUSTER_ERR_MISMATCH, "wrong secret");
    has_str(muster_last_error(), "has another job secret", "wrong secret: who has it is told");
    ok(ms < patient(CUT_OFF), "wrong secret: at once");
    diag("wrong secret: refused after %lld ms", ms);
    turned_away(at, "its proof is not that of the job secret", "wrong secret");
    siege_end(at, "wrong secret");
}

static void without_secret(void)
{
    long long ms;
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    is_int(siege_join(at, NULL, &ms), MUSTER_ERR_MISMATCH, "no secret");
    has_str(muster_last_error(), "MUSTER_JOB_SECRET is not set here",
            "no secret: who lacks it is told");
    ok(ms < patient(CUT_OFF), "no secret: at once");
    diag("no secret: refused after %lld ms", ms);
    turned_away(at, "torch's plain protocol", "no secret");
    siege_end(at, "no secret");
}

static void replay(void)
{
    unsigned char sent[80];
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    close(siege_enter(siege_port(at), sent));
    ok(siege_repelled(siege_port(at), sent, sizeof(sent), CUT_OFF), "replay: it is cut off");
    turned_away(at, "its proof is not that of the job secret", "replay");
    siege_end(at, "replay");
}

/* What the server says is said back to it, as the proof, and as a message. */
static void reflection(void)
{
    unsigned char sent[80], challenge[40];
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    close(siege_enter(siege_port(at), sent));
    for (int whole = 0; whole < 2; whole++) {
        int fd = peer_connect(siege_port(at));
        send(fd, sent, 40, MSG_NOSIGNAL);
        recv(fd, challenge, sizeof(challenge), MSG_WAITALL);
        if (!whole)
            challenge[7] = sent[47]; /* the kind of message that a proof is */
        send(fd, challenge, sizeof(challenge), MSG_NOSIGNAL);
        ok(peer_closes(fd, CUT_OFF), "reflection %d: it is cut off", whole);
        close(fd);
    }
    turned_away(at, "its proof is not that of the job secret", "reflection");
    siege_end(at, "reflection");
}

/* KiB that the server may have more; where ThreadSanitizer notes what was touched, much more. */
#ifdef __SANITIZE_THREAD__
enum { MOST_KIB = 32768 };
#else
enum { MOST_KIB = 4096 };
#endif

/* The job's own ranks have faults too: lengths that no client sends, from one that is inside. */
static void oversized(void)
{
    static const char *const lengths[] = {"\x01\x20\0\0\0\0\0\0", "\0\0\0\x80\0\0\0\0",
                                          "\0\0\0\0\0\0\0\x80", "\xff\xff\xff\xff\xff\xff\xff\xff"};
    static const char queries[] = {1, 5, 6, 11}; /* SET, CHECK, WAIT, MULTI_SET */
    unsigned char sent[80];
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    long before = siege_resident();
    int cut = 0, wanted = 0;
    for (size_t query = 0; query < sizeof(queries); query++)
        for (size_t i = query == 0 ? 0 : 1; i < 4; i++, wanted++) {
            int fd = siege_enter(siege_port(at), sent);
            send(fd, "\0\xce\xf7\x85\x3c", 5, MSG_NOSIGNAL);
            send(fd, &queries[query], 1, MSG_NOSIGNAL);
            send(fd, lengths[i], 8, MSG_NOSIGNAL);
            cut += peer_closes(fd, CUT_OFF);
            close(fd);
        }
    is_int(cut, wanted, "oversized lengths: all are cut off");
    ok(siege_resident() - before < MOST_KIB, "oversized lengths: memory stays: %ld KiB more",
       siege_resident() - before);
    turned_away(at, "it sent what no client sends", "oversized lengths");
    siege_end(at, "oversized lengths");
}

/* Half a proof, of any length, and then nothing. */
static void half_proofs(void)
{
    enum { STEP = 7 };
    unsigned char sent[80];
    int fds[80 / STEP + 1], num = 0, closed = 0;
    siege *at = siege_begin(SIEGE_SECRET, 400);
    close(siege_enter(siege_port(at), sent));
    for (size_t size = 1; size < 80; size += STEP) {
        fds[num] = peer_connect(siege_port(at));
        send(fds[num++], sent, size < 40 ? size : 40, MSG_NOSIGNAL);
        if (size > 40)
            send(fds[num - 1], sent + 40, size - 40, MSG_NOSIGNAL);
    }
    for (int i = 0; i < num; i++) {
        closed += peer_closes(fds[i], CUT_OFF);
        close(fds[i]);
    }
    is_int(closed, num, "half a proof: all are cut off");
    turned_away(at, "it took too long to show itself as a client", "half a proof");
    siege_end(at, "half a proof");
}

/* Half a message of one that is inside keeps nobody else waiting. */
static void half_messages(void)
{
    unsigned char sent[80];
    int fds[20];
    siege *at = siege_begin(SIEGE_SECRET, 400);
    for (int i = 0; i < 20; i++) {
        fds[i] = siege_enter(siege_port(at), sent);
        send(fds[i], "\0\xce\xf7\x85\x3c\1\2\0\0\0\0\0\0\0/k\5\0\0", (size_t)(i % 18 + 1),
             MSG_NOSIGNAL);
    }
    pause_ms(100);
    is_int(siege_lines(at), 0, "half a message: that may happen to a client and is no reason");
    siege_end(at, "half a message");
    for (int i = 0; i < 20; i++)
        close(fds[i]);
}

/* Many begin a large message each and stop: what they hold is bounded over all of them, and a
 * member with a large value gets its turn. */
static void large_messages(void)
{
    enum { MANY = 40, BEGUN = 4 << 20 };
    unsigned char sent[80];
    int fds[MANY];
    long long ms;
    char *zeros = calloc(1, BEGUN);
    siege *at = siege_begin(SIEGE_SECRET, 400);
    long before = siege_resident();
    for (int i = 0; i < MANY; i++) {
        fds[i] = siege_enter(siege_port(at), sent);
        send(fds[i], "\0\xce\xf7\x85\x3c\1\2\0\0\0\0\0\0\0/k\0\0\x50\0\0\0\0\0", 24, MSG_NOSIGNAL);
    }
    for (int i = 0; i < MANY; i++)
        send(fds[i], zeros, BEGUN, MSG_NOSIGNAL | MSG_DONTWAIT);
    pause_ms(200);
    long more = siege_resident() - before;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ok(more < 16 * BEGUN / 1024 + 8192, "large messages begun: %ld KiB more memory", more);
#else
    skip(1, "a sanitizer keeps what was freed, %ld KiB here", more);
#endif
    muster_store *store = peer_client(siege_port(at));
    long long start = now_ms();
    ok(muster_store_set(store, muster_str("large"), (muster_blob){zeros, BEGUN}) == MUSTER_OK,
       "large messages begun: a member's gets through");
    ms = now_ms() - start;
    ok(ms < patient(10000), "large messages begun: in %lld ms", ms);
    turned_away(at, "it took too long over a large message", "large messages begun");
    muster_store_free(store);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    free(zeros);
    siege_end(at, "large messages begun");
}

/* One byte at a time, for longer than it is given in all. */
static void slow_drip(void)
{
    unsigned char sent[80];
    siege *at = siege_begin(SIEGE_SECRET, 400);
    close(siege_enter(siege_port(at), sent));
    int fd = peer_connect(siege_port(at));
    long long start = now_ms(), lived;
    for (int i = 0; i < 39; i++) {
        send(fd, sent + i, 1, MSG_NOSIGNAL);
        if (peer_closes(fd, 50))
            break;
    }
    lived = now_ms() - start;
    ok(lived >= 390 && lived < patient(1500), "slow drip: it ends all the same: %lld ms", lived);
    close(fd);
    turned_away(at, "it took too long to show itself as a client", "slow drip");
    siege_end(at, "slow drip");
}

/* What scanners and browsers say. */
static void foreign_words(void)
{
    static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char tls[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    int port = siege_port(at);
    ok(siege_repelled(port, http, sizeof(http) - 1, CUT_OFF), "HTTP: cut off at once");
    ok(siege_repelled(port, tls, sizeof(tls) - 1, CUT_OFF), "TLS: cut off at once");
    turned_away(at, "what it sent is no client's of a store", "HTTP and TLS");
    siege_end(at, "HTTP and TLS");
}

static void noise(const char *secret, const char *attack)
{
    enum { TIMES = 200, SIZE = 1024 };
    unsigned char bytes[SIZE];
    unsigned seed = 20261130;
    int cut = 0;
    siege *at = siege_begin(secret, 400);
    for (int i = 0; i < TIMES; i++) {
        for (int k = 0; k < SIZE; k++)
            bytes[k] = (unsigned char)((seed = seed * 1103515245u + 12345u) >> 16);
        cut += siege_repelled(siege_port(at), bytes, SIZE, CUT_OFF);
    }
    is_int(cut, TIMES, "%s: all are cut off", attack);
    ok(siege_lines(at) <= TCP_DOOR_LINES, "%s: the log has %d lines for %d of them", attack,
       siege_lines(at), TIMES);
    siege_end(at, attack);
}

/* Who connects and goes, politely or not. */
static void port_scan(void)
{
    enum { TIMES = 1000 };
    struct linger reset = {1, 0};
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    for (int i = 0; i < TIMES; i++) {
        int fd = peer_connect(siege_port(at));
        if (i % 2 == 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fd);
    }
    is_int(siege_lines(at), 0, "port scan: who goes by himself is not worth a line");
    siege_end(at, "port scan");
}

/* A crowd that comes back as soon as it is sent away. */
static void crowds(const char *secret, int connections, const char *word, const char *attack)
{
    long long ms, worst = 0;
    int joined = 0, descriptors = count_descriptors();
    siege *at = siege_begin(secret, PATIENCE);
    long before = siege_resident(), cpu = siege_cpu_ms();
    crowd *all = crowd_come(siege_port(at), connections, word);
    for (int i = 0; i < 10; i++) {
        joined += siege_join(at, secret, &ms) == MUSTER_OK;
        worst = ms > worst ? ms : worst;
        pause_ms(20);
    }
    is_int(joined, 10, "%s: members get in", attack);
    ok(worst < patient(SIEGE_STALL_MS), "%s: none has to wait for long", attack);
    diag("%s: the slowest of 10 took %lld ms", attack, worst);
    int more = count_descriptors() - descriptors;
    ok(more < 700, "%s: the server holds %d descriptors", attack, more);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ok(siege_resident() - before < 2048, "%s: %ld KiB more memory", attack,
       siege_resident() - before);
#else
    skip(1, "a sanitizer keeps what was freed");
    (void)before;
#endif
    ok(siege_lines(at) <= 2 * (TCP_DOOR_LINES + 1), "%s: the log has %d lines", attack,
       siege_lines(at));
    turned_away(at, "too many others came", attack);
    crowd_go(all);
    diag("%s: %ld ms of processor time for server and members", attack, siege_cpu_ms() - cpu);
    siege_end(at, attack);
}

/* Strangers have taken the last descriptors of the process: one of them has to go. */
static void last_descriptors(void)
{
    struct rlimit before, few;
    siege *at = siege_begin(SIEGE_SECRET, PATIENCE);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)count_descriptors() + 12;
    setrlimit(RLIMIT_NOFILE, &few);
    crowd *all = crowd_come(siege_port(at), 60, NULL);
    long cpu = siege_cpu_ms();
    turned_away(at, "it said nothing and too many others came", "no descriptors");
    pause_ms(300);
    cpu = siege_cpu_ms() - cpu;
    ok(cpu < patient(400), "no descriptors: the server does not spin: %ld ms", cpu);
    setrlimit(RLIMIT_NOFILE, &before);
    crowd_go(all);
    siege_end(at, "no descriptors");
}

int main(int argc, char **argv)
{
    crowd_main(argc, argv);
#ifndef HAVE_SODIUM
    plan_skip_all("built without libsodium");
#endif
    struct rlimit usual;
    getrlimit(RLIMIT_NOFILE, &usual);
    usual.rlim_cur = usual.rlim_max < 1024 ? usual.rlim_max : 1024;
    setrlimit(RLIMIT_NOFILE, &usual);
    plan(117);
    wrong_secret();
    without_secret();
    replay();
    reflection();
    oversized();
    half_proofs();
    half_messages();
    large_messages();
    slow_drip();
    foreign_words();
    noise(SIEGE_SECRET, "noise");
    noise(NULL, "noise, no secret");
    port_scan();
    crowds(SIEGE_SECRET, 10000, NULL, "10,000 silent");
    crowds(SIEGE_SECRET, 2000, "\xb5", "2,000 that begin");
    crowds(NULL, 10000, NULL, "10,000 silent, no secret");
    last_descriptors();
    return done();
}
