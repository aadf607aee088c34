/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A fuzz target as a test: every file of its corpus, which is t/fuzz/corpus/NAME for NAME.t, goes
 * through it once, quickly and without a fault. With files as arguments those instead.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"
#include "tap.h"

enum { MOST_BYTES = 1 << 20, MOST_MS = 3000 };

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In memory of exactly the input's size, so that a read behind it is found. */
static void replay_file(const char *path)
{
    static uint8_t bytes[MOST_BYTES];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        bail_out("%s: %s", path, strerror(errno));
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    uint8_t *input = malloc(size > 0 ? size : 1);
    if (input == NULL)
        bail_out("no memory");
    memcpy(input, bytes, size);
    long long began = now_ms();
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    const char *slash = strrchr(path, '/');
    ok(now_ms() - began < patient(MOST_MS), "%s", slash != NULL ? slash + 1 : path);
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* CORPUS/url for .../fuzz/url.t, also where libtool runs .../fuzz/.libs/lt-url.t; and for a variant
 * of it, url-other.t. */
static void corpus_folder(const char *program, char *folder, size_t size)
{
    const char *name = strrchr(program, '/') != NULL ? strrchr(program, '/') + 1 : program;
    if (strncmp(name, "lt-", 3) == 0)
        name += 3;
    snprintf(folder, size, "%s/%.*s", CORPUS, (int)strcspn(name, ".-"), name);
}

int main(int argc, char **argv)
{
    char folder[1024], path[2048];
    struct dirent **entries = NULL;
    if (argc > 1) {
        plan(argc - 1);
        for (int i = 1; i < argc; i++)
            replay_file(argv[i]);
        return done();
    }
    corpus_folder(argv[0], folder, sizeof(folder));
    int count = scandir(folder, &entries, is_input, alphasort);
    if (count <= 0)
        bail_out("there is no corpus at %s", folder);
    plan(count);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        replay_file(path);
        free(entries[i]);
    }
    free(entries);
    return done();
}
