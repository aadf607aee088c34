/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that muster's store and torch's FileStore have at the same time: t/torch_file.py is the
 * other side. Keys of this side begin with "c", those of the other with "py".
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"
#include "store/store.h"
#include "store_conformance.h"
#include "torch.h"
#include "torch_points.h"

enum { MUSTER_POINTS = 26, GROUP_POINTS = 4, PYTHON_POINTS = 19, TURNS = 200 };

static char folder[512];
static char group_path[720];
static muster_store *shared; /* of the threads that are ranks */
static unsigned char every_byte[256], backwards[256];

static int64_t long_wait(void)
{
    return patient(30000);
}

static void set(muster_store *store, const char *key, muster_blob value)
{
    if (muster_store_set(store, muster_str(key), value) != MUSTER_OK)
        bail_out("%s", muster_last_error());
}

static muster_status wait_for(muster_store *store, const char *key)
{
    muster_blob keys = muster_str(key);
    muster_status status = muster_store_wait(store, &keys, 1, long_wait());
    if (status != MUSTER_OK)
        diag("%s", muster_last_error());
    return status;
}

static bool is_there(muster_store *store, const char *key)
{
    bool there = false;
    muster_blob keys = muster_str(key);
    return muster_store_check(store, &keys, 1, &there) == MUSTER_OK && there;
}

/* As table() of the script. */
static void compare_table(muster_store *store, const char *key)
{
    static const char *const cases[][2] = {{"", "a"},  {"", "b"}, {"a", "c"}, {"x", "d"},
                                           {"c", "c"}, {"c", ""}, {"", "e"},  {"x", "y"}};
    char said[128] = "", absent[64];
    snprintf(absent, sizeof(absent), "%sabsent", key);
    for (size_t i = 0; i < 8; i++) {
        void *value = NULL;
        size_t size = 0, used = strlen(said);
        muster_store_compare_set(store, muster_str(i < 7 ? key : absent), muster_str(cases[i][0]),
                                 muster_str(cases[i][1]), &value, &size);
        snprintf(said + used, sizeof(said) - used, "%s%.*s", i > 0 ? "," : "", (int)size,
                 (char *)value);
        muster_free(value);
    }
    set(store, "c/said", muster_str(said));
}

static void write_first(muster_store *store)
{
    char *large = malloc(8 << 20);
    muster_store *prefixed = NULL, *twice = NULL;
    memset(large, 'L', 8 << 20);
    set(store, "c/text", muster_str("of c"));
    set(store, "c/bytes", (muster_blob){every_byte, 256});
    muster_store_set(store, (muster_blob){every_byte, 256}, muster_str("key of c"));
    set(store, "c/empty", muster_str(""));
    set(store, "c/large", (muster_blob){large, 8 << 20});
    muster_store_prefix(&prefixed, store, "in/");
    muster_store_prefix(&twice, prefixed, "c");
    set(twice, "k", muster_str("prefixed"));
    muster_store_free(prefixed);
    muster_store_free(twice);
    muster_store_add(store, muster_str("c/count"), 7, NULL);
    muster_store_add(store, muster_str("c/below"), -7, NULL);
    set(store, "c/deleted", muster_str("x"));
    set(store, "c/delete me", muster_str("x"));
    muster_store_delete(store, muster_str("c/deleted"), NULL);
    compare_table(store, "c/table");
    set(store, "both/turns", muster_str("0"));
    free(large);
}

static void read_back(muster_store *store)
{
    void *value = NULL;
    size_t size = 0;
    int64_t sum = 0, keys = 0;
    char number[24];
    bool existed = false;
    is_int(wait_for(store, "py/written"), MUSTER_OK, "what torch wrote comes");
    muster_store_num_keys(store, &keys);
    snprintf(number, sizeof(number), "%lld", (long long)keys);
    ok(store_holds(store, "py/written", muster_str(number)), "both count the same keys");
    ok(store_holds(store, "py/text", muster_str("of py")), "text is read");
    ok(store_holds(store, "py/bytes", (muster_blob){every_byte, 256}), "and every byte");
    muster_store_get(store, (muster_blob){backwards, 256}, 0, &value, &size);
    ok(size == 9 && memcmp(value, "key of py", 9) == 0, "in a key too");
    muster_free(value);
    ok(store_holds(store, "py/empty", muster_str("")), "an empty value is one");
    ok(store_holds(store, "py/in//k", muster_str("prefixed")), "torch puts prefixes as we do");
    is_int(muster_store_get(store, muster_str("py/large"), 0, &value, &size), MUSTER_OK,
           "a value is read that is longer than ours may be");
    is_int((long long)size, 9 << 20, "all of it");
    muster_free(value);
    muster_store_add(store, muster_str("py/count"), 2, &sum);
    is_int(sum, -5, "a counter goes on");
    ok(!is_there(store, "py/deleted"), "a deleted key is gone");
    muster_store_delete(store, muster_str("c/delete me"), &existed);
    ok(!existed, "so is one of ours that torch deleted");
    ok(store_holds(store, "py/table", muster_str("e")), "compare_set did the same there");
}

/* One step of a number by compare_set, whoever else is at it. */
static bool take_turn(muster_store *store)
{
    muster_blob key = muster_str("both/turns");
    for (;;) {
        void *now = NULL, *then = NULL;
        size_t now_size = 0, then_size = 0;
        char text[24], next[24];
        if (muster_store_get(store, key, 0, &now, &now_size) != MUSTER_OK)
            return false;
        snprintf(text, sizeof(text), "%.*s", (int)now_size, (char *)now);
        /* Says whose it is: the other's turn, coming first, would read as ours has gone well. */
        int length = snprintf(next, sizeof(next), "%d of c", atoi(text) + 1);
        muster_status status = muster_store_compare_set(store, key, (muster_blob){now, now_size},
                                                        muster_str(next), &then, &then_size);
        bool done = (size_t)length == then_size && memcmp(then, next, then_size) == 0;
        muster_free(now);
        muster_free(then);
        if (status != MUSTER_OK || done)
            return status == MUSTER_OK;
    }
}

static void at_once(muster_store *store)
{
    int right = 0;
    set(store, "c/go", muster_str(""));
    wait_for(store, "both/mine");
    for (int i = 0; i < TURNS; i++)
        right += muster_store_add(store, muster_str("both/count"), 1, NULL) == MUSTER_OK &&
                 take_turn(store);
    is_int(right, TURNS, "both sides write at once");
    is_int(wait_for(store, "py/both done"), MUSTER_OK, "and come to the end");
    bool by_us = store_holds(store, "both/turns", muster_str("400 of c"));
    ok(by_us || store_holds(store, "both/turns", muster_str("400 of py")), "no turn is lost");
    ok(store_holds(store, "both/count", muster_str("400")), "nor an add");
    set(store, "c/both done", muster_str(""));
}

static void wait_for_each_other(muster_store *store)
{
    muster_blob keys[] = {muster_str("py/ask"), muster_str("c/never")};
    is_int(wait_for(store, "py/ask"), MUSTER_OK, "torch asks");
    is_int(muster_store_wait(store, keys, 2, 300), MUSTER_ERR_TIMEOUT, "a wait ends in time");
    has_str(muster_last_error(), "c/never", "and names the key");
    set(store, "c/answer 1", muster_str("1"));
    pause_ms(100);
    set(store, "c/answer 2", muster_str("2"));
    void *value = NULL;
    size_t size = 0;
    is_int(muster_store_get(store, muster_str("py/answer"), long_wait(), &value, &size), MUSTER_OK,
           "a get waits for torch");
    muster_free(value);
}

/* user case 7: one user of the file removes it under another. */
static void removed_by_torch(muster_store *counted)
{
    set(counted, "c/ready", muster_str(""));
    is_int(wait_for(counted, "py/last"), MUSTER_OK, "the last word of torch is read");
    muster_blob never = muster_str("c/never");
    is_int(muster_store_wait(counted, &never, 1, long_wait()), MUSTER_ERR_NOT_FOUND,
           "a wait for more ends");
    has_str(muster_last_error(), "torch's FileStore does so", "and says why");
    is_int(muster_store_set(counted, muster_str("k"), muster_str("v")), MUSTER_ERR_NOT_FOUND,
           "the file is not made anew");
    ok(access(store_describe(counted) + strlen("file store "), F_OK) != 0, "and is gone");
}

/* A rank of a group over a file that torch removes meanwhile. */
static void grouped(int rank, int size)
{
    char method[800];
    muster_group *group = NULL;
    snprintf(method, sizeof(method), "file://%s?rank=%d&world_size=%d", group_path, rank, size);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.init_method = method;
    args.timeout_ms = long_wait();
    if (!is_int(muster_init_process_group(&group, &args), MUSTER_OK, "a group over a file"))
        diag("%s", muster_last_error());
    ranks_barrier();
    if (rank == 0)
        set(shared, "c/formed", muster_str(""));
    ok(wait_for(shared, "py/left") == MUSTER_OK && access(group_path, F_OK) != 0,
       "torch removes it");
    is_int(muster_barrier(group, NULL), MUSTER_OK, "the group goes on");
    muster_group_free(group);
}

static void with_torch(const torch_python *python)
{
    struct command script = {0};
    char path[600], counted_path[700];
    muster_store *store = NULL, *counted = NULL;
    snprintf(path, sizeof(path), "%s/%s", folder, python->version);
    snprintf(counted_path, sizeof(counted_path), "%s.counted", path);
    if (muster_store_file(&store, path) != MUSTER_OK ||
        muster_store_file(&counted, counted_path) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    write_first(store);
    command_start(&script, NULL, (const char *[]){python->path, SCRIPT, path, counted_path, NULL});
    read_back(store);
    at_once(store);
    wait_for_each_other(store);
    removed_by_torch(counted);
    shared = store;
    snprintf(group_path, sizeof(group_path), "%s.group", counted_path);
    ranks_threads("a group", 2, GROUP_POINTS - 1, grouped);
    command_finish(&script);
    torch_points(&script, python->version, PYTHON_POINTS);
    command_free(&script);
    muster_store_free(store);
    muster_store_free(counted);
}

int main(void)
{
    const char *parent = getenv("TMPDIR");
    char command[600];
    int pythons = 0;
    needs_torch();
    needs_gloo();
    while (torch_python_at(pythons) != NULL)
        pythons++;
    plan(pythons * (MUSTER_POINTS + GROUP_POINTS + PYTHON_POINTS) + 1);
    setenv("MUSTER_BACKEND_PATH", GLOO_FOLDER, 1);
    for (int i = 0; i < 256; i++) {
        every_byte[i] = (unsigned char)i;
        backwards[i] = (unsigned char)(255 - i);
    }
    snprintf(folder, sizeof(folder), "%s/muster-torch-XXXXXX", parent == NULL ? "/tmp" : parent);
    if (mkdtemp(folder) == NULL)
        bail_out("no folder %s", folder);
    for (int i = 0; i < pythons; i++)
        with_torch(torch_python_at(i));
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ok(system(command) == 0, "the folder is removed");
    return done();
}
