/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hash table, buffers, blobs, counters and the values of a store in memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/blobs.h"
#include "base/buffer.h"
#include "base/counter.h"
#include "tap.h"
#include "store/value_map.h"

static muster_blob number_key(char text[16], int number)
{
    snprintf(text, 16, "key %d", number);
    return muster_str(text);
}

/* Against what a plain table of flags says, with a fixed seed. */
static void map_random(void)
{
    enum { KEYS = 3000, STEPS = 60000 };
    static bool there[KEYS];
    static int items[KEYS];
    key_map map = {0};
    char text[16];
    unsigned seed = 20240601;
    size_t count = 0;
    bool right = true;
    for (int step = 0; step < STEPS && right; step++) {
        seed = seed * 1103515245u + 12345u;
        int at = (int)(seed >> 8) % KEYS;
        muster_blob key = number_key(text, at);
        void **found = key_map_find(&map, key);
        right = there[at] ? found != NULL && *found == &items[at] : found == NULL;
        if (seed >> 28 < 9) {
            *key_map_put(&map, key) = &items[at];
            count += !there[at];
            there[at] = true;
        } else {
            right = right && key_map_remove(&map, key) == (there[at] ? &items[at] : NULL);
            count -= there[at];
            there[at] = false;
        }
        right = right && map.count == count;
    }
    ok(right, "the map agrees with a plain table (seed 20240601)");
    key_map_free(&map, NULL);
    ok(map.count == 0 && key_map_find(&map, muster_str("key 1")) == NULL, "a freed map is empty");
    ok(key_map_remove(&map, muster_str("key 1")) == NULL, "and has nothing to remove");
}

static void map_keys(void)
{
    key_map map = {0};
    muster_blob zeros[] = {{NULL, 0}, {"\0", 1}, {"\0\0", 2}, {"\0\0a", 3}};
    for (size_t i = 0; i < 4; i++)
        *key_map_put(&map, zeros[i]) = malloc(i + 1);
    is_int((long long)map.count, 4, "keys of zeros differ by their length");
    ok(key_map_put(&map, zeros[0]) == key_map_find(&map, zeros[0]), "the empty key is found");
    key_map_free(&map, free);
}

static void buffers(void)
{
    buffer bytes = {0};
    buffer_append(&bytes, NULL, 0);
    ok(bytes.data == NULL, "nothing appended takes no memory");
    for (int i = 0; i < 100000; i++)
        buffer_append(&bytes, "0123456789", 10);
    ok(bytes.size == 1000000 && memcmp(bytes.data + 999985, "567890123456789", 15) == 0,
       "a buffer grows");
    buffer_consume(&bytes, 5);
    ok(bytes.size == 999995 && bytes.data[0] == '5', "its start can be dropped");
    buffer_consume(&bytes, bytes.size);
    ok(bytes.size == 0 && bytes.capacity == 0, "a large one that is empty gives its memory back");
    buffer_append(&bytes, "a", 1);
    ok(!buffer_reserve(&bytes, SIZE_MAX - 10), "what does not fit into memory is refused");
    buffer_append(&bytes, "b", 1);
    ok(bytes.failed && bytes.size == 1, "and is remembered");
    buffer_free(&bytes);
    ok(!bytes.failed && bytes.data == NULL, "a freed one is new");
}

static void blobs(void)
{
    char text[BLOB_TEXT_SIZE], big[500];
    void *copy = NULL;
    size_t size = 1;
    muster_blob *packed = NULL, parts[] = {muster_str("ab"), {NULL, 0}, muster_str("c")};
    is_str(blob_text((muster_blob){"a\0\\\xff ", 5}, text), "a\\x00\\x5c\\xff ", "keys are shown");
    memset(big, 'k', sizeof(big));
    ok(strlen(blob_text((muster_blob){big, sizeof(big)}, text)) < BLOB_TEXT_SIZE,
       "a long one is cut");
    has_str(text, "kkk...", "and that is seen");
    ok(blob_copy(parts[1], &copy, &size) == MUSTER_OK && copy != NULL && size == 0,
       "a copy of nothing is not NULL");
    free(copy);
    is_int(blobs_pack(parts, 3, &packed), MUSTER_OK, "blobs are packed");
    ok(blob_equal(packed[0], parts[0]) && blob_equal(packed[1], parts[1]) &&
           blob_equal(packed[2], parts[2]),
       "into one block");
    free(packed);
    muster_blob absurd[] = {{"", SIZE_MAX / 2}, {"", SIZE_MAX / 2}};
    is_int(blobs_pack(absurd, 2, &packed), MUSTER_ERR_NO_MEMORY, "a sum that overflows is refused");
    ok(!blob_equal(muster_str("ab"), muster_str("ac")), "unlike blobs are not equal");
}

static void counters(void)
{
    static const struct {
        const char *value;
        int64_t delta, sum;
        bool refused;
    } cases[] = {
        {"5", 3, 8, false},
        {"-5", 3, -2, false},
        {"+7", 0, 7, false},
        {" \t\v12abc", 1, 13, false},
        {"9223372036854775807", 0, INT64_MAX, false},
        {"-9223372036854775808", 0, INT64_MIN, false},
        {"9223372036854775808", 0, 0, true},
        {"-9223372036854775809", 0, 0, true},
        {"9223372036854775807", 1, 0, true},
        {"-9223372036854775808", -1, 0, true},
        {"", 1, 0, true},
        {"-", 1, 0, true},
        {" ", 1, 0, true},
        {"abc", 1, 0, true},
        {"0x10", 1, 1, false},
    };
    char text[COUNTER_TEXT_SIZE], shown[BLOB_TEXT_SIZE];
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        muster_blob value = muster_str(cases[i].value);
        muster_status status = counter_add(muster_str("k"), &value, cases[i].delta, text, &sum);
        ok(cases[i].refused ? status == MUSTER_ERR_ARGUMENT
                            : status == MUSTER_OK && sum == cases[i].sum,
           "'%s' and %" PRId64, blob_text(value, shown), cases[i].delta);
    }
    is_int(counter_add(muster_str("k"), NULL, INT64_MIN, text, &sum), MUSTER_OK, "a missing one");
    is_str(text, "-9223372036854775808", "is the number itself");
    muster_blob cut = {"123456", 3};
    counter_add(muster_str("k"), &cut, 0, text, &sum);
    is_int(sum, 123, "nothing behind the value is read");
}

static void value_maps(void)
{
    value_map map = {0};
    muster_blob keys[] = {muster_str("a"), muster_str("b"), muster_str("c")}, now, *packed = NULL;
    bool changed = true;
    value_map_set(&map, keys[0], muster_str("1"));
    value_map_set(&map, keys[2], muster_str("3"));
    is_int((long long)value_map_missing(&map, keys, 0, 3), 1, "the first missing key");
    is_int((long long)value_map_missing(&map, keys, 2, 3), 3, "none behind it");
    value_map_compare(&map, keys[0], muster_str("1"), muster_str("2"), &now, &changed);
    ok(changed && blob_equal(now, muster_str("2")), "a compare says what would be");
    ok(value_map_get(&map, keys[0], &now) && blob_equal(now, muster_str("1")),
       "and changes nothing");
    is_int((long long)value_map_count(&map), 2, "keys are counted");
    value_map_set(&map, keys[1], muster_str(""));
    ok(value_map_pack(&map, keys, 3, &packed) == MUSTER_OK &&
           blob_equal(packed[2], muster_str("3")),
       "values are packed");
    free(packed);
    muster_blob grown = muster_str("d");
    for (int i = 0; i < 1000; i++)
        value_map_append(&map, grown, muster_str(i % 2 == 0 ? "even " : "odd "));
    ok(value_map_get(&map, grown, &now) && now.size == 4500, "a value grows");
    ok(memcmp(now.data, "even odd even ", 14) == 0 &&
           memcmp((const char *)now.data + 4491, "even odd ", 9) == 0,
       "by what is put behind it");
    value_map_append(&map, keys[1], (muster_blob){NULL, 0});
    ok(value_map_get(&map, keys[1], &now) && now.size == 0, "or by nothing");
    ok(value_map_delete(&map, keys[0]) && !value_map_delete(&map, keys[0]),
       "a key is deleted once");
    value_map_free(&map);
    ok(!value_map_get(&map, keys[1], &now), "a freed map is empty");
}

int main(void)
{
    plan(49);
    map_random();
    map_keys();
    buffers();
    blobs();
    counters();
    value_maps();
    return done();
}
