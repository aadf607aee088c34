/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether something was loaded since.
 */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "loads.h"
#include "tap.h"

/* Of those that most systems have one that is not loaded yet. */
static void *load_another(void)
{
    static const char *const names[] = {"libm.so.6",           "libresolv.so.2", "libnsl.so.1",
                                        "libcrypt.so.1",       "libutil.so.1",   "libanl.so.1",
                                        "libBrokenLocale.so.1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        void *there = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (there != NULL) {
            dlclose(there);
            continue;
        }
        void *loaded = dlopen(names[i], RTLD_LAZY);
        if (loaded != NULL)
            return loaded;
    }
    return NULL;
}

int main(void)
{
    static loads seen;
    plan(8);
    ok(!loads_none_since(&seen), "at first all is new");
    loads now = loads_now();
    loads_keep(&seen, &now);
    ok(loads_none_since(&seen) && loads_none_since(&seen), "then nothing is");
    void *first = load_another();
    if (first == NULL) {
        skip(6, "no library to load");
        return done();
    }
    ok(!loads_none_since(&seen), "a library is");
    now = loads_now();
    struct link_map *map = NULL;
    ok(dlinfo(first, RTLD_DI_LINKMAP, &map) == 0 && atomic_load(&now.last) == map,
       "and the last of all");
    loads_keep(&seen, &now);
    ok(loads_none_since(&seen), "until it was seen");
    dlclose(first);
    ok(loads_none_since(&seen), "closing it adds nothing");
    void *second = load_another();
    ok(second == NULL || !loads_none_since(&seen), "another one is new again");
    atomic_store(&now.last, NULL);
    loads_keep(&seen, &now);
    ok(second == NULL || !loads_none_since(&seen), "also where the last one is not known");
    return done();
}
