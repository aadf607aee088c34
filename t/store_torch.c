/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Torch's clients on muster's tcp server, and muster's client on torch's servers, with every torch
 * that this machine has.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "ranks_port.h"
#include "store_conformance.h"
#include "store_peers.h"
#include "tcp_store/store_tcp.h"
#include "talk.h"
#include "tap.h"
#include "torch.h"

/* The first torch with libuv's server by default. Those of 2.2 and 2.3 may be asked for it, and it
 * closes the connection at some messages that come in pieces of 4,000 bytes. */
enum { LIBUV = 204 };

/* A multiple of 251, as the pattern is. */
enum { LARGE = 251 * 12000, MOST_CLIENTS = 12 };

/* One torch and what it is asked, with the server at hand for the names of points. */
typedef struct partner {
    talk talk;
    const torch_python *torch;
    char name[128];
} partner;

static partner *partner_start(const torch_python *torch)
{
    partner *one = calloc(1, sizeof(*one));
    one->torch = torch;
    talk_start(&one->talk, (const char *[]){torch->path, PYTHON "/store_torch.py", NULL});
    return one;
}

static void partner_ready(partner *one)
{
    const char *said = talk_read(&one->talk);
    if (strncmp(said, "ready ", 6) != 0)
        bail_out("%s of torch %s says: %s", one->torch->path, one->torch->version, said);
}

static int version_of(const partner *one)
{
    return one->torch->major * 100 + one->torch->minor;
}

/* The command, and its answer. */
#define ASKS(one, answer, what, ...)                                                               \
    is_str(talk_ask(&(one)->talk, __VA_ARGS__), answer, "%s: %s", (one)->name, what)

static bool has_large(muster_store *store, const char *key)
{
    void *value = NULL;
    size_t size = 0;
    bool right =
        muster_store_get(store, muster_str(key), 5000, &value, &size) == MUSTER_OK && size == LARGE;
    for (size_t i = 0; right && i < size; i++)
        right = ((unsigned char *)value)[i] == i % 251;
    muster_free(value);
    return right;
}

static bool set_large(muster_store *store, const char *key)
{
    unsigned char *value = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        value[i] = (unsigned char)(i % 251);
    bool done = muster_store_set(store, muster_str(key), (muster_blob){value, LARGE}) == MUSTER_OK;
    free(value);
    return done;
}

/* What compare_set tells. */
static void compares(muster_store *store, const char *expected, const char *desired,
                     const char *answer, const partner *one, const char *what)
{
    void *value = NULL;
    size_t size = 0;
    char text[64] = "(failed)";
    if (muster_store_compare_set(store, muster_str("compared"), muster_str(expected),
                                 muster_str(desired), &value, &size) == MUSTER_OK)
        snprintf(text, sizeof(text), "%.*s", (int)size, (char *)value);
    is_str(text, answer, "%s: %s", one->name, what);
    muster_free(value);
}

/* ---- Every operation in both directions ---------------------------------------------------- */

/* "a\0b\n\xff/" has this in hex. */
#define ODD_HEX "6100620aff2f"
static const muster_blob odd = {"a\0b\n\xff/", 6};

enum { VALUE_POINTS = 8 };
static void values(muster_store *store, partner *one)
{
    void *value = NULL;
    size_t size = 1;
    ASKS(one, "done", "torch sets an odd key", "set " ODD_HEX " 00ff0a00");
    ok(muster_store_get(store, odd, 5000, &value, &size) == MUSTER_OK && size == 4 &&
           memcmp(value, "\0\xff\n\0", 4) == 0,
       "%s: muster has its odd value", one->name);
    muster_free(value);
    muster_store_set(store, odd, odd);
    ASKS(one, ODD_HEX, "and the other way round", "get " ODD_HEX);
    talk_ask(&one->talk, "set 656d707479 -");
    ok(store_holds(store, "empty", (muster_blob){NULL, 0}), "%s: no bytes from torch", one->name);
    muster_store_set(store, muster_str("void"), (muster_blob){NULL, 0});
    ASKS(one, "-", "nor from muster", "get 766f6964");
    talk_ask(&one->talk, "set_large 4c31 %d", LARGE);
    ok(has_large(store, "L1"), "%s: %d bytes from torch", one->name, LARGE);
    ok(set_large(store, "L2"), "%s: and from muster", one->name);
    ASKS(one, "1", "are what they were", "is_large 4c32 %d", LARGE);
}

enum { NUMBER_POINTS = 10 };
static void numbers(muster_store *store, partner *one)
{
    int64_t sum = 0;
    ASKS(one, "5", "torch adds", "add 6e 5");
    ok(muster_store_add(store, muster_str("n"), -7, &sum) == MUSTER_OK && sum == -2,
       "%s: muster adds to it", one->name);
    ASKS(one, "2d32", "the sum is text", "get 6e");
    compares(store, "", "one", "one", one, "compare_set of a missing key");
    ASKS(one, "6f6e65", "torch is told when the value is another",
         "compare_set 636f6d7061726564 78 79");
    ASKS(one, "74776f", "and changes the right one", "compare_set 636f6d7061726564 6f6e65 74776f");
    compares(store, "one", "three", "two", one, "muster is told as well");
    compares(store, "two", "three", "three", one, "and changes it");
    ASKS(one, "1", "torch deletes", "delete 636f6d7061726564");
    compares(store, "two", "x", "two", one, "a missing key is not what was expected");
}

enum { KEY_POINTS = 6 };
static void keys(muster_store *store, partner *one)
{
    bool existed = true, there = true;
    int64_t count = 0;
    char text[32];
    muster_blob both[] = {muster_str("n"), muster_str("compared")};
    ok(muster_store_check(store, both, 1, &there) == MUSTER_OK && there &&
           muster_store_check(store, both, 2, &there) == MUSTER_OK && !there,
       "%s: muster checks", one->name);
    ok(muster_store_delete(store, both[1], &existed) == MUSTER_OK && !existed &&
           muster_store_delete(store, both[0], &existed) == MUSTER_OK && existed,
       "%s: muster deletes", one->name);
    ASKS(one, "0", "and torch finds nothing to delete", "delete 6e");
    muster_store_num_keys(store, &count);
    snprintf(text, sizeof(text), "%lld", (long long)count);
    ASKS(one, text, "both count the same keys", "num_keys");
    if (version_of(one) < 205) {
        skip(2, "torch %s has no check", one->torch->version);
        return;
    }
    ASKS(one, "0", "torch checks for a missing key", "check 6e");
    ASKS(one, "1", "and for one that is there", "check 766f6964");
}

enum { WAIT_POINTS = 7 };
static void waits(muster_store *store, partner *one)
{
    int64_t sum = 0;
    muster_blob never = muster_str("never");
    talk_send(&one->talk, "wait 10000 736f6f6e");
    pause_ms(100);
    muster_store_set(store, muster_str("soon"), muster_str("x"));
    is_str(talk_read(&one->talk), "there", "%s: torch waits for muster", one->name);
    talk_send(&one->talk, "later 100 6c61746572 79");
    ok(store_holds(store, "later", muster_str("y")), "%s: muster waits for torch", one->name);
    talk_read(&one->talk);
    is_int(muster_store_wait(store, &never, 1, 100), MUSTER_ERR_TIMEOUT, "%s: muster waits in vain",
           one->name);
    /* Were an answer to the wait still to come, it would be read as this one. */
    muster_store_set(store, never, muster_str("x"));
    ok(muster_store_add(store, muster_str("w"), 7, &sum) == MUSTER_OK && sum == 7,
       "%s: and stays in step", one->name);
    ASKS(one, "timeout", "torch waits in vain", "wait 100 6e6f6e65");
    if (version_of(one) < 201) {
        skip(2, "torch %s itself is out of step after a time-out", one->torch->version);
        return;
    }
    muster_store_set(store, muster_str("none"), muster_str("x"));
    ASKS(one, "8", "and stays in step", "add 77 1");
    ASKS(one, "78", "to its next answers", "get 6e6f6e65");
}

enum { MANY_POINTS = 4 };
static void many(muster_store *store, partner *one)
{
    muster_blob named[] = {muster_str("m1"), muster_str("m2"), muster_str("m3")};
    muster_blob set[] = {muster_str("v1"), {NULL, 0}, odd}, *got = NULL;
    ok(muster_store_multi_set(store, named, set, 3) == MUSTER_OK, "%s: muster sets three",
       one->name);
    bool right = muster_store_multi_get(store, named, 3, 5000, &got) == MUSTER_OK;
    for (int i = 0; right && i < 3; i++)
        right = got[i].size == set[i].size &&
                (set[i].size == 0 || memcmp(got[i].data, set[i].data, set[i].size) == 0);
    ok(right, "%s: and gets them", one->name);
    muster_free(got);
    if (version_of(one) < 201) {
        skip(2, "torch %s has no multi_get and append", one->torch->version);
        return;
    }
    ASKS(one, "7631 - " ODD_HEX, "torch gets them", "multi_get 6d31 6d32 6d33");
    talk_ask(&one->talk, "multi_set 6d31 61 6d32 -");
    talk_ask(&one->talk, "append 6d31 62");
    talk_ask(&one->talk, "append 6d34 63");
    ok(store_holds(store, "m1", muster_str("ab")) && store_holds(store, "m4", muster_str("c")) &&
           store_holds(store, "m2", (muster_blob){NULL, 0}),
       "%s: torch sets many and appends", one->name);
}

enum { EXCHANGE_POINTS = VALUE_POINTS + NUMBER_POINTS + KEY_POINTS + MANY_POINTS + WAIT_POINTS };
static void exchange(muster_store *store, partner *one)
{
    values(store, one);
    numbers(store, one);
    keys(store, one);
    many(store, one);
    waits(store, one);
}

/* ---- Torch on muster's server, and the reverse ---------------------------------------------- */

enum { QUEUE_POINTS = 5 };
static void queues(partner *one)
{
    if (version_of(one) < 208) {
        skip(QUEUE_POINTS, "torch %s has no queues", one->torch->version);
        return;
    }
    ASKS(one, "empty", "nothing in a queue", "queue_pop 71 0");
    talk_ask(&one->talk, "queue_push 71 0001");
    talk_ask(&one->talk, "queue_push 71 -");
    ASKS(one, "2", "two in a queue", "queue_len 71");
    ASKS(one, "0001", "the first comes first", "queue_pop 71 1");
    ASKS(one, "-", "the second is empty", "queue_pop 71 1");
    ASKS(one, "0", "a queue is no key", "delete 71");
}

enum { HOSTED_POINTS = EXCHANGE_POINTS + QUEUE_POINTS + 1 };
static void muster_hosts(partner *one)
{
    muster_store *store = peer_host();
    snprintf(one->name, sizeof(one->name), "torch %s on muster", one->torch->version);
    int port = muster_store_port(store);
    char text[16];
    snprintf(text, sizeof(text), "%d", port);
    ASKS(one, text, "joins", "join %d 2", port);
    queues(one);
    exchange(store, one);
    muster_store_free(store);
}

static protocol_family family_of(const partner *one)
{
    int version = version_of(one);
    return version < 201 ? PROTOCOL_1_13 : version < 202 ? PROTOCOL_2_1 : PROTOCOL_2_2;
}

enum { HOSTS_POINTS = EXCHANGE_POINTS + STORE_CONFORMANCE_POINTS + 3 };
static void torch_hosts(partner *one, const char *libuv)
{
    struct port port = port_reserve();
    port_free(&port); /* torch takes no port that somebody keeps, in whatever way */
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", port.number, false);
    char text[16];
    snprintf(one->name, sizeof(one->name), "muster on torch %s%s%s", one->torch->version,
             *libuv == '\0' ? "" : " use_libuv=", libuv);
    snprintf(text, sizeof(text), "%d", port.number);
    talk_send(&one->talk, "host %d 2 %s", port.number, libuv);
    is_int(muster_store_tcp(&store, &args), MUSTER_OK, "%s: joins", one->name);
    if (store == NULL)
        bail_out("%s: %s", muster_last_error(), talk_read(&one->talk));
    /* It returns when two have counted themselves. */
    is_str(talk_read(&one->talk), text, "%s: is counted by torch", one->name);
    is_int(((tcp_store *)store)->client.family, family_of(one), "%s: knows its family", one->name);
    exchange(store, one);
    muster_store *other = NULL;
    muster_store_prefix(&other, store, "fresh");
    store_conformance_wraps = true;
    store_conformance(other, other, one->name);
    muster_store_free(other);
    muster_store_free(store);
}

/* ---- All versions at once ------------------------------------------------------------------ */

typedef struct crowd {
    partner *clients[MOST_CLIENTS];
    int num;
} crowd;

static crowd crowd_start(void)
{
    crowd all = {.num = 0};
    const torch_python *torch;
    for (int i = 0; (torch = torch_python_at(i)) != NULL && all.num + 2 < MOST_CLIENTS; i++)
        all.clients[all.num++] = partner_start(torch);
    /* A second one of the newest, for what takes two that can do it. */
    int newest = 0;
    for (int i = 1; i < all.num; i++)
        if (version_of(all.clients[i]) > version_of(all.clients[newest]))
            newest = i;
    all.clients[all.num] = partner_start(all.clients[newest]->torch);
    partner *last = all.clients[newest];
    all.clients[newest] = all.clients[all.num - 1];
    all.clients[all.num - 1] = last;
    all.num++;
    for (int i = 0; i < all.num; i++)
        partner_ready(all.clients[i]);
    return all;
}

enum { TOGETHER_POINTS = 4, TIMES = 200 };
static void together(const crowd *all, muster_store *store)
{
    int64_t sum = 0;
    int right = 0;
    char text[32];
    for (int i = 0; i < all->num; i++)
        talk_ask(&all->clients[i]->talk, "join %d %d", muster_store_port(store), all->num + 1);
    for (int i = 0; i < all->num; i++)
        talk_send(&all->clients[i]->talk, "count_up 63 %d", TIMES);
    for (int i = 0; i < TIMES; i++)
        muster_store_add(store, muster_str("c"), 1, &sum);
    for (int i = 0; i < all->num; i++)
        talk_read(&all->clients[i]->talk);
    muster_store_add(store, muster_str("c"), 0, &sum);
    is_int(sum, (all->num + 1) * TIMES, "%d clients of torch and muster count together", all->num);
    for (int i = 0; i < all->num; i++)
        talk_send(&all->clients[i]->talk, "wait 20000 676f");
    pause_ms(100);
    muster_store_set(store, muster_str("go"), muster_str("x"));
    for (int i = 0; i < all->num; i++)
        right += strcmp(talk_read(&all->clients[i]->talk), "there") == 0;
    is_int(right, all->num, "and all of them wait for one key");
    right = 0;
    for (int i = 0; i < all->num; i++)
        talk_ask(&all->clients[i]->talk, "set %02x %02x", 0x61 + i, 0x41 + i);
    for (int i = 0; i < all->num; i++) {
        snprintf(text, sizeof(text), "%02x", 0x41 + (i + 1) % all->num);
        right += strcmp(talk_ask(&all->clients[i]->talk, "get %02x", 0x61 + (i + 1) % all->num),
                        text) == 0;
    }
    is_int(right, all->num, "each has the value of its neighbour");
    right = 0;
    for (int i = 0; i < all->num; i++)
        right += strcmp(talk_ask(&all->clients[i]->talk, "delete %02x", 0x61 + i), "1") == 0;
    is_int(right, all->num, "and deletes its own");
}

enum { PAIR_POINTS = 5 };
static void pairs(partner *one, partner *two)
{
    snprintf(one->name, sizeof(one->name), "two of torch %s", one->torch->version);
    if (version_of(one) < 208)
        skip(2, "torch %s has no queues", one->torch->version);
    else {
        talk_send(&one->talk, "queue_pop 6a6f6273 1");
        pause_ms(100);
        ASKS(two, "done", "one pushes", "queue_push 6a6f6273 09");
        is_str(talk_read(&one->talk), "09", "%s: what the other waits to pop", one->name);
    }
    if (strcmp(talk_ask(&one->talk, "has barrier"), "1") != 0) {
        skip(3, "torch %s has no barrier and lists no keys", one->torch->version);
        return;
    }
    talk_send(&one->talk, "barrier 6261 2 10000");
    pause_ms(100);
    ASKS(two, "done", "one of a barrier", "barrier 6261 2 10000");
    is_str(talk_read(&one->talk), "done", "%s: and the other", one->name);
    has_str(talk_ask(&one->talk, "list_keys"), "6261", "%s: the barrier is a key in the list",
            one->name);
}

/* Half of a value of 8 MB is always on its way. */
enum { KILLED_POINTS = 3 };
static void killed(crowd *all, muster_store *store)
{
    partner *gone = all->clients[--all->num], *left = all->clients[0];
    int64_t sum = 0;
    is_str(talk_ask(&gone->talk, "flood 666c 8000000"), "flooding", "a client sends without end");
    pause_ms(200);
    talk_kill(&gone->talk);
    free(gone);
    ok(muster_store_add(store, muster_str("after"), 1, &sum) == MUSTER_OK && sum == 1,
       "it is killed, and muster goes on");
    is_str(talk_ask(&left->talk, "add 6166746572 1"), "2", "and torch %s", left->torch->version);
}

int main(void)
{
    needs_torch();
    int num = 0, num_libuv = 0;
    for (const torch_python *torch; (torch = torch_python_at(num)) != NULL; num++)
        num_libuv += torch->major * 100 + torch->minor >= LIBUV;
    plan(num * (HOSTED_POINTS + HOSTS_POINTS) + num_libuv * HOSTS_POINTS + TOGETHER_POINTS +
         PAIR_POINTS + KILLED_POINTS);
    crowd all = crowd_start();
    muster_store *store = peer_host();
    together(&all, store);
    pairs(all.clients[all.num - 2], all.clients[all.num - 1]);
    killed(&all, store);
    for (int i = 0; i < all.num; i++) {
        bool chooses = family_of(all.clients[i]) == PROTOCOL_2_2;
        muster_hosts(all.clients[i]);
        torch_hosts(all.clients[i], chooses ? "0" : "");
        if (version_of(all.clients[i]) >= LIBUV)
            torch_hosts(all.clients[i], "1");
        talk_stop(&all.clients[i]->talk);
        free(all.clients[i]);
    }
    muster_store_free(store);
    return done();
}
