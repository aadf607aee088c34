/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens libraries of NVIDIA's.
 */
#include "config.h"

#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* They leave threads of their own behind, so none is ever closed, not even one that is refused. */
enum { LIBRARY_FLAGS = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

bool library_refuse(library_reason *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->words, sizeof(why->words), format, arguments);
    va_end(arguments);
    return false;
}

/* The file that the user names, or NULL. */
static const char *library_named(const library_place *place)
{
    const char *named = getenv(place->variable);
    return named == NULL || named[0] == '\0' ? NULL : named;
}

bool library_is_named(const library_place *place)
{
    return library_named(place) != NULL;
}

static void library_locate(library *opened, const char *name)
{
    struct link_map *map = NULL;
    bool found = dlinfo(opened->handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
    snprintf(opened->file, sizeof(opened->file), "%s", found ? map->l_name : name);
}

static bool library_open(const char *name, int flags, library *opened, library_reason *why)
{
    dlerror();
    opened->handle = dlopen(name, LIBRARY_FLAGS | flags);
    if (opened->handle != NULL) {
        library_locate(opened, name);
        return true;
    }
    const char *words = dlerror();
    if (flags == 0)
        library_refuse(why, "%s", words == NULL ? "the loader refuses it" : words);
    return false;
}

static int library_count(const library_place *place)
{
    int count = 0;
    while (place->names[count] != NULL)
        count++;
    return count;
}

/* The first turns are for what is loaded, in the order of names, the others for what is not. */
bool library_next(const library_place *place, int *turn, library *opened, library_reason *why)
{
    const char *named = library_named(place);
    if (named != NULL)
        return (*turn)++ == 0 && library_open(named, 0, opened, why);
    int count = library_count(place);
    while (*turn < 2 * count) {
        const char *name = place->names[*turn % count];
        bool loaded = library_open(name, RTLD_NOLOAD, opened, why);
        bool first = (*turn)++ < count;
        if (first ? loaded : !loaded && library_open(name, 0, opened, why))
            return true;
    }
    return false;
}

bool library_loaded(const library_place *place)
{
    const char *named = library_named(place);
    if (named != NULL)
        return dlopen(named, LIBRARY_FLAGS | RTLD_NOLOAD) != NULL;
    for (const char *const *name = place->names; *name != NULL; name++)
        if (dlopen(*name, LIBRARY_FLAGS | RTLD_NOLOAD) != NULL)
            return true;
    return false;
}

bool library_function(const library *opened, const char *name, void *pointer)
{
    void *symbol = dlsym(opened->handle, name);
    memcpy(pointer, &symbol, sizeof(symbol));
    return symbol != NULL;
}
