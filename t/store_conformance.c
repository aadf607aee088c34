/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every kind of store must do, whatever it is made of.
 */
#include "store_conformance.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "store/store.h"
#include "tap.h"

static const int64_t SOON = 5000; /* for what must come at once */

bool store_conformance_wraps;

long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_ms(int ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

static bool blob_is(const void *data, size_t size, muster_blob expected)
{
    return data != NULL && size == expected.size &&
           (size == 0 || memcmp(data, expected.data, size) == 0);
}

bool store_holds(muster_store *store, const char *key, muster_blob value)
{
    void *data = NULL;
    size_t size = 0;
    bool same = muster_store_get(store, muster_str(key), SOON, &data, &size) == MUSTER_OK &&
                blob_is(data, size, value);
    muster_free(data);
    return same;
}

static void values(muster_store *store, const char *kind)
{
    muster_blob binary_key = {"\0k\xff/\n", 5}, binary = {"\0\xff\0value", 8}, empty = {NULL, 0};
    void *data = NULL;
    size_t size = 0;
    is_int(muster_store_set(store, muster_str("v"), muster_str("one")), MUSTER_OK, "%s: set", kind);
    ok(store_holds(store, "v", muster_str("one")), "%s: get", kind);
    is_int(muster_store_set(store, muster_str("v"), muster_str("another")), MUSTER_OK,
           "%s: set again", kind);
    ok(store_holds(store, "v", muster_str("another")), "%s: the later value counts", kind);
    is_int(muster_store_set(store, muster_str("e"), empty), MUSTER_OK, "%s: no bytes at all", kind);
    is_int(muster_store_get(store, muster_str("e"), 0, &data, &size), MUSTER_OK, "%s: are a value",
           kind);
    ok(data != NULL && size == 0, "%s: of size 0, not NULL", kind);
    muster_free(data);
    data = NULL;
    is_int(muster_store_set(store, binary_key, binary), MUSTER_OK, "%s: a binary key", kind);
    is_int(muster_store_get(store, binary_key, 0, &data, &size), MUSTER_OK, "%s: is found", kind);
    ok(blob_is(data, size, binary), "%s: with all bytes of its value", kind);
    muster_free(data);
    is_int(muster_store_set(store, empty, muster_str("x")), MUSTER_OK, "%s: an empty key", kind);
    ok(store_holds(store, "", muster_str("x")), "%s: is a key", kind);
}

static void counters(muster_store *store, const char *kind)
{
    int64_t sum = 0;
    is_int(muster_store_add(store, muster_str("n"), 5, &sum), MUSTER_OK, "%s: add", kind);
    is_int(sum, 5, "%s: a missing number counts as 0", kind);
    ok(store_holds(store, "n", muster_str("5")), "%s: it is kept as decimal text", kind);
    muster_store_add(store, muster_str("n"), -12, &sum);
    is_int(sum, -7, "%s: below zero", kind);
    is_int(muster_store_add(store, muster_str("n"), 0, NULL), MUSTER_OK, "%s: sum may be NULL",
           kind);
    muster_store_set(store, muster_str("junk"), muster_str(" +12abc"));
    muster_store_add(store, muster_str("junk"), 1, &sum);
    is_int(sum, 13, "%s: blanks before and anything after a number, as torch", kind);
    muster_store_set(store, muster_str("word"), muster_str("twelve"));
    is_int(muster_store_add(store, muster_str("word"), 1, &sum), MUSTER_ERR_ARGUMENT,
           "%s: a word is not added to", kind);
    has_str(muster_last_error(), "twelve", "%s: and is quoted", kind);
    muster_store_set(store, muster_str("most"), muster_str("9223372036854775807"));
    if (store_conformance_wraps)
        skip(2, "%s: a sum over 64 bits wraps around", kind);
    else {
        is_int(muster_store_add(store, muster_str("most"), 1, &sum), MUSTER_ERR_ARGUMENT,
               "%s: a sum over 64 bits is refused", kind);
        ok(store_holds(store, "most", muster_str("9223372036854775807")), "%s: and changes nothing",
           kind);
    }
    is_int(muster_store_add(store, muster_str("most"), -1, &sum), MUSTER_OK,
           "%s: the store goes on after a refusal", kind);
}

static bool compare_gives(muster_store *store, const char *key, const char *expected,
                          const char *desired, const char *answer)
{
    void *data = NULL;
    size_t size = 0;
    bool right = muster_store_compare_set(store, muster_str(key), muster_str(expected),
                                          muster_str(desired), &data, &size) == MUSTER_OK &&
                 blob_is(data, size, muster_str(answer));
    muster_free(data);
    return right;
}

static void compare_sets(muster_store *store, const char *kind)
{
    bool there = true;
    muster_blob key = muster_str("cs");
    ok(compare_gives(store, "cs", "other", "new", "other"),
       "%s: compare_set of a missing key that is expected tells what was expected", kind);
    muster_store_check(store, &key, 1, &there);
    ok(!there, "%s: and stores nothing", kind);
    ok(compare_gives(store, "cs", "", "first", "first"), "%s: a missing key is set", kind);
    ok(compare_gives(store, "cs", "first", "second", "second"), "%s: an equal one is replaced",
       kind);
    ok(compare_gives(store, "cs", "first", "third", "second"), "%s: another one is told", kind);
    ok(store_holds(store, "cs", muster_str("second")), "%s: and kept", kind);
}

static void many(muster_store *store, const char *kind)
{
    muster_blob keys[] = {muster_str("m1"), muster_str("m2"), muster_str("m3")};
    muster_blob sets[] = {muster_str("one"), {"\0\0", 2}, {NULL, 0}};
    muster_blob *gets = NULL;
    bool there = true, existed = false;
    int64_t before = -1, after = -1;
    muster_store_num_keys(store, &before);
    is_int(muster_store_multi_set(store, keys, sets, 3), MUSTER_OK, "%s: multi_set", kind);
    muster_store_num_keys(store, &after);
    is_int(after - before, 3, "%s: num_keys counts them", kind);
    is_int(muster_store_multi_get(store, keys, 3, 0, &gets), MUSTER_OK, "%s: multi_get", kind);
    ok(gets != NULL && blob_is(gets[0].data, gets[0].size, sets[0]) &&
           blob_is(gets[1].data, gets[1].size, sets[1]) && gets[2].size == 0,
       "%s: gives the same values in order", kind);
    muster_free(gets);
    gets = NULL;
    is_int(muster_store_multi_get(store, NULL, 0, 0, &gets), MUSTER_OK, "%s: of no keys", kind);
    ok(gets != NULL, "%s: is no error", kind);
    muster_free(gets);
    is_int(muster_store_multi_set(store, NULL, NULL, 0), MUSTER_OK, "%s: so is setting none", kind);
    muster_store_check(store, keys, 3, &there);
    ok(there, "%s: check finds all", kind);
    is_int(muster_store_delete(store, keys[1], &existed), MUSTER_OK, "%s: delete", kind);
    ok(existed, "%s: tells that the key was there", kind);
    is_int(muster_store_delete(store, keys[1], &existed), MUSTER_OK, "%s: delete again", kind);
    ok(!existed, "%s: tells that it was not", kind);
    is_int(muster_store_delete(store, keys[1], NULL), MUSTER_OK, "%s: nobody needs to ask", kind);
    muster_store_check(store, keys, 3, &there);
    ok(!there, "%s: check misses one", kind);
    muster_store_check(store, NULL, 0, &there);
    ok(there, "%s: of no keys all are there", kind);
    is_int(muster_store_wait(store, NULL, 0, 0), MUSTER_OK, "%s: and waiting for none ends", kind);
    muster_store_delete(store, keys[0], NULL);
    muster_store_delete(store, keys[2], NULL);
    muster_store_num_keys(store, &after);
    is_int(after, before, "%s: num_keys is what it was", kind);
}

/* 1,000 keys at once, with values that make more than one message of them. */
static void very_many(muster_store *store, const char *kind)
{
    enum { KEYS = 1000, SIZE = 3000 };
    static char names[KEYS][16];
    char *bytes = malloc(SIZE);
    muster_blob *keys = calloc(KEYS, sizeof(*keys)), *sets = calloc(KEYS, sizeof(*sets)),
                *gets = NULL;
    memset(bytes, 'x', SIZE);
    for (int i = 0; i < KEYS; i++) {
        names[i][0] = 'K';
        names[i][1] = (char)('0' + i / 100);
        names[i][2] = (char)('0' + i / 10 % 10);
        names[i][3] = (char)('0' + i % 10);
        keys[i] = muster_str(names[i]);
        sets[i] = (muster_blob){bytes, (size_t)(i * 3)};
    }
    is_int(muster_store_multi_set(store, keys, sets, KEYS), MUSTER_OK, "%s: 1,000 keys", kind);
    bool same = muster_store_multi_get(store, keys, KEYS, SOON, &gets) == MUSTER_OK;
    for (int i = 0; same && i < KEYS; i++)
        same = blob_is(gets[i].data, gets[i].size, sets[i]);
    ok(same, "%s: come back", kind);
    for (int i = 0; i < KEYS; i++)
        muster_store_delete(store, keys[i], NULL);
    muster_free(gets);
    free(keys);
    free(sets);
    free(bytes);
}

static void limits(muster_store *store, const char *kind)
{
    enum { BIG = 8 << 20 };
    char *bytes = malloc(BIG + 1);
    memset(bytes, 'k', BIG + 1);
    muster_blob big = {bytes, BIG};
    is_int(muster_store_set(store, muster_str("big"), big), MUSTER_OK, "%s: a value of 8 MiB",
           kind);
    ok(store_holds(store, "big", big), "%s: comes back", kind);
    big.size++;
    is_int(muster_store_set(store, muster_str("big"), big), MUSTER_ERR_ARGUMENT,
           "%s: one byte more is refused", kind);
    has_str(muster_last_error(), "8388609", "%s: with its size", kind);
    is_int(muster_store_set(store, (muster_blob){bytes, 8192}, muster_str("v")),
           MUSTER_ERR_ARGUMENT, "%s: a key of 8,192 bytes is refused", kind);
    muster_store_delete(store, muster_str("big"), NULL);
    free(bytes);
}

/* Each function with each thing that can be wrong. */
static void bad_input(muster_store *store, const char *kind)
{
    muster_blob key = muster_str("k"), null = {NULL, 1};
    void *data;
    size_t size;
    int64_t number;
    bool yes;
    muster_blob *gets;
    const muster_status bad[] = {
        muster_store_set(NULL, key, key),
        muster_store_set(store, null, key),
        muster_store_set(store, key, null),
        muster_store_get(NULL, key, 0, &data, &size),
        muster_store_get(store, null, 0, &data, &size),
        muster_store_get(store, key, -1, &data, &size),
        muster_store_get(store, key, 0, NULL, &size),
        muster_store_get(store, key, 0, &data, NULL),
        muster_store_add(NULL, key, 1, &number),
        muster_store_add(store, null, 1, &number),
        muster_store_compare_set(NULL, key, key, key, &data, &size),
        muster_store_compare_set(store, null, key, key, &data, &size),
        muster_store_compare_set(store, key, null, key, &data, &size),
        muster_store_compare_set(store, key, key, null, &data, &size),
        muster_store_compare_set(store, key, key, key, NULL, &size),
        muster_store_compare_set(store, key, key, key, &data, NULL),
        muster_store_check(NULL, &key, 1, &yes),
        muster_store_check(store, NULL, 1, &yes),
        muster_store_check(store, &null, 1, &yes),
        muster_store_check(store, &key, 1, NULL),
        muster_store_check(store, &key, STORE_MAX_KEYS + 1, &yes),
        muster_store_wait(NULL, &key, 1, 0),
        muster_store_wait(store, NULL, 1, 0),
        muster_store_wait(store, &null, 1, 0),
        muster_store_wait(store, &key, 1, -5),
        muster_store_delete(NULL, key, &yes),
        muster_store_delete(store, null, &yes),
        muster_store_num_keys(NULL, &number),
        muster_store_num_keys(store, NULL),
        muster_store_multi_get(NULL, &key, 1, 0, &gets),
        muster_store_multi_get(store, NULL, 1, 0, &gets),
        muster_store_multi_get(store, &key, 1, -1, &gets),
        muster_store_multi_get(store, &key, 1, 0, NULL),
        muster_store_multi_set(NULL, &key, &key, 1),
        muster_store_multi_set(store, NULL, &key, 1),
        muster_store_multi_set(store, &key, NULL, 1),
        muster_store_multi_set(store, &key, &null, 1),
    };
    size_t refused = 0, all = sizeof(bad) / sizeof(bad[0]);
    for (size_t i = 0; i < all; i++) {
        if (bad[i] == MUSTER_ERR_ARGUMENT)
            refused++;
        else
            diag("bad input %zu gave status %d", i, bad[i]);
    }
    is_int((long long)refused, (long long)all, "%s: every bad input is refused", kind);
}

static void timeouts(muster_store *store, const char *kind)
{
    muster_blob keys[] = {muster_str("there"), muster_str("never")}, *gets;
    void *data;
    size_t size;
    muster_store_set(store, keys[0], keys[0]);
    long long start = now_ms();
    is_int(muster_store_wait(store, keys, 2, 300), MUSTER_ERR_TIMEOUT, "%s: a wait in vain", kind);
    long long took = now_ms() - start;
    ok(took >= 300 && took < patient(1000), "%s: ends in time", kind);
    has_str(muster_last_error(), "never'", "%s: names what is missing", kind);
    ok(strstr(muster_last_error(), "there'") == NULL, "%s: and only that", kind);
    start = now_ms();
    is_int(muster_store_get(store, keys[1], 200, &data, &size), MUSTER_ERR_TIMEOUT,
           "%s: a get in vain", kind);
    took = now_ms() - start;
    ok(took >= 200 && took < patient(1000), "%s: ends in time", kind);
    is_int(muster_store_multi_get(store, keys, 2, 50, &gets), MUSTER_ERR_TIMEOUT,
           "%s: a multi_get in vain", kind);
    start = now_ms();
    is_int(muster_store_get(store, keys[1], 0, &data, &size), MUSTER_ERR_TIMEOUT,
           "%s: a look at what is missing", kind);
    ok(now_ms() - start < patient(200), "%s: does not wait", kind);
    has_str(muster_last_error(), "never'", "%s: and names it", kind);
    ok(store_holds(store, "there", keys[0]), "%s: the store goes on after time-outs", kind);
}

/* ---- user case 5: waiting for several keys -------------------------------------------------- */

enum moment { BEFORE, DURING, AFTER };

typedef struct round_of_three {
    muster_store *store;
    muster_blob keys[3];
    int ended; /* the status */
    long long ended_at;
} round_of_three;

static void *wait_for_three(void *argument)
{
    round_of_three *round = argument;
    round->ended = muster_store_wait(round->store, round->keys, 3, SOON);
    round->ended_at = now_ms();
    return NULL;
}

/* "Before" is before the call begins, "during" while it begins, "after" when it waits. */
static bool one_order(muster_store *waits, muster_store *sets, int order)
{
    char names[3][16];
    round_of_three round = {.store = waits};
    enum moment when[3] = {(enum moment)(order % 3), (enum moment)(order / 3 % 3),
                           (enum moment)(order / 9)};
    pthread_t thread;
    long long last = 0;
    for (int i = 0; i < 3; i++) {
        memcpy(names[i], "w00k0", 6);
        names[i][1] = (char)('0' + order / 10);
        names[i][2] = (char)('0' + order % 10);
        names[i][4] = (char)('a' + i);
        round.keys[i] = muster_str(names[i]);
    }
    for (enum moment now = BEFORE; now <= AFTER; now++) {
        if (now == DURING)
            pthread_create(&thread, NULL, wait_for_three, &round);
        if (now == AFTER)
            pause_ms(20);
        for (int i = 0; i < 3; i++)
            if (when[i] == now) {
                muster_store_set(sets, round.keys[i], muster_str("x"));
                last = now_ms();
            }
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        muster_store_delete(sets, round.keys[i], NULL);
    return round.ended == MUSTER_OK && round.ended_at - last < SOON / 2;
}

static void waits(muster_store *store, muster_store *other, const char *kind)
{
    int right = 0;
    for (int order = 0; order < 27; order++)
        right += one_order(store, other, order);
    is_int(right, 27, "%s: all 27 orders of setting three keys end the wait at once", kind);
}

typedef struct one_get {
    muster_store *store;
    bool right;
    bool silent;
} one_get;

static void *get_late(void *argument)
{
    one_get *get = argument;
    error_set(MUSTER_ERR_TIMEOUT, "of an earlier call");
    get->right = store_holds(get->store, "late", muster_str("by compare_set"));
    get->silent = strcmp(muster_last_error(), "of an earlier call") == 0;
    return NULL;
}

static void wakes(muster_store *store, muster_store *other, const char *kind)
{
    one_get get = {store, false, false};
    pthread_t thread;
    pthread_create(&thread, NULL, get_late, &get);
    pause_ms(30);
    compare_gives(other, "late", "", "by compare_set", "by compare_set");
    pthread_join(thread, NULL);
    ok(get.right, "%s: compare_set wakes who waits", kind);
    ok(get.silent, "%s: and success leaves the last error alone", kind);
    muster_store_delete(store, muster_str("late"), NULL);
}

static void *add_often(void *store)
{
    for (int i = 0; i < 100; i++)
        muster_store_add(store, muster_str("together"), 1, NULL);
    return NULL;
}

static void threads(muster_store *store, const char *kind)
{
    pthread_t thread[4];
    int64_t sum = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, add_often, store);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    muster_store_add(store, muster_str("together"), 0, &sum);
    is_int(sum, 400, "%s: no add of four threads is lost", kind);
}

static void shared(muster_store *store, const char *kind)
{
    long long before = store_operations(store);
    muster_store_num_keys(store, &(int64_t){0});
    muster_store_num_keys(NULL, &(int64_t){0});
    is_int(store_operations(store) - before, 1, "%s: operations are counted", kind);
    ok(store_retain(store) == store, "%s: a store can have two owners", kind);
    muster_store_free(store);
    ok(store_holds(store, "v", muster_str("another")), "%s: and lives with the second", kind);
    ok(store_describe(store)[0] != '\0', "%s: has a name", kind);
}

void store_conformance(muster_store *store, muster_store *other, const char *kind)
{
    values(store, kind);
    counters(store, kind);
    compare_sets(store, kind);
    many(store, kind);
    very_many(store, kind);
    limits(store, kind);
    bad_input(store, kind);
    timeouts(store, kind);
    waits(store, other, kind);
    wakes(store, other, kind);
    threads(store, kind);
    shared(store, kind);
}
