/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: keys and prefixes, one a line: a prefix, a prefix below it, a key, another key.
 */
#include <stdlib.h>
#include <string.h>

#include "base/blobs.h"
#include "fuzz.h"
#include "store/store.h"

enum { LINES = 4 };

/* The key by its whole name in the store below. */
static bool holds_below(muster_store *base, char *const *lines, const char *value)
{
    size_t size = strlen(lines[0]) + strlen(lines[1]) + strlen(lines[2]) + 2, got = 0;
    char *name = malloc(size + 1);
    void *found = NULL;
    fuzz_hold(name != NULL, "there is memory");
    strcat(strcat(strcpy(name, lines[0]), "/"), lines[1]);
    strcat(strcat(name, "/"), lines[2]);
    bool good = muster_store_get(base, (muster_blob){name, size}, 1, &found, &got) == MUSTER_OK &&
                got == strlen(value) && memcmp(found, value, got) == 0;
    muster_free(found);
    free(name);
    return good;
}

static void use(muster_store *base, muster_store *store, char *const *lines)
{
    muster_blob key = muster_str(lines[2]), other = muster_str(lines[3]);
    bool there = false, same = blob_equal(key, other);
    char text[BLOB_TEXT_SIZE];
    fuzz_hold(strlen(blob_text(key, text)) < sizeof(text), "a key can be shown");
    if (muster_store_set(store, key, muster_str("value")) != MUSTER_OK)
        return;
    fuzz_hold(holds_below(base, lines, "value"), "a key has its prefixes in front");
    if (muster_store_check(store, &other, 1, &there) == MUSTER_OK)
        fuzz_hold(there == same, "two keys are two");
    fuzz_hold(muster_store_delete(store, key, &there) == MUSTER_OK && there,
              "what was set can be deleted");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    char *lines[LINES];
    muster_store *base = NULL, *first = NULL, *second = NULL;
    for (int i = 0; i < LINES; i++)
        lines[i] = fuzz_line(&input);
    fuzz_hold(muster_store_hash(&base) == MUSTER_OK, "there is memory");
    if (muster_store_prefix(&first, base, lines[0]) == MUSTER_OK &&
        muster_store_prefix(&second, first, lines[1]) == MUSTER_OK) {
        fuzz_hold(store_describe(second) != NULL, "a store has a name");
        use(base, second, lines);
    }
    muster_store_free(second);
    muster_store_free(first);
    muster_store_free(base);
    for (int i = 0; i < LINES; i++)
        free(lines[i]);
    return 0;
}
