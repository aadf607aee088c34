/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of folders in which plugins are looked for.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "backend/backend_path.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "base/log.h"
#include "muster/backend.h"

#define WORDS(number) #number
#define NUMBER(macro) WORDS(macro)

bool backend_path_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

void backend_path_free(backend_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        free(path->folders[i]);
    free(path->folders);
    *path = (backend_path){NULL, 0};
}

bool backend_path_exists(const char *folder)
{
    struct stat found;
    return stat(folder, &found) == 0 && S_ISDIR(found.st_mode);
}

muster_status backend_path_words(const backend_path *path, char **words)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out != NULL && i < path->count; i++)
        fprintf(out, "%s%s%s", i > 0 ? ", " : "", path->folders[i],
                backend_path_exists(path->folders[i]) ? "" : " (no such folder)");
    bool written = out != NULL && !ferror(out);
    if (out == NULL || fclose(out) != 0 || !written) {
        free(text);
        return error_no_memory(256, "the folders of backends");
    }
    *words = text;
    return MUSTER_OK;
}

/* Whether the last folder of the path is among the others by this or another name. */
static bool backend_path_has_last_twice(const backend_path *path)
{
    const char *last = path->folders[path->count - 1];
    struct stat one, other;
    bool there = stat(last, &one) == 0;
    for (size_t i = 0; i + 1 < path->count; i++)
        if (strcmp(path->folders[i], last) == 0 ||
            (there && stat(path->folders[i], &other) == 0 && one.st_dev == other.st_dev &&
             one.st_ino == other.st_ino))
            return true;
    return false;
}

/* Adds the first length bytes of folder, with more behind them, unless it is there already. */
static muster_status backend_path_add(backend_path *path, const char *folder, size_t length,
                                      const char *more)
{
    size_t size = length + strlen(more) + 1;
    char *copy = malloc(size);
    char **grown = realloc(path->folders, (path->count + 1) * sizeof(*grown));
    if (grown != NULL)
        path->folders = grown;
    if (copy == NULL || grown == NULL) {
        free(copy);
        return error_no_memory(size, "a folder of backends");
    }
    memcpy(copy, folder, length);
    strcpy(copy + length, more);
    path->folders[path->count++] = copy;
    if (backend_path_has_last_twice(path))
        free(path->folders[--path->count]);
    return MUSTER_OK;
}

/* An empty part names nothing, in particular not the working directory. */
static muster_status backend_path_add_environment(backend_path *path)
{
    const char *at = getenv("MUSTER_BACKEND_PATH");
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK && at != NULL && *at != '\0') {
        size_t length = strcspn(at, ":");
        if (length > 0)
            status = backend_path_add(path, at, length, "");
        if (length > 0 && status == MUSTER_OK &&
            !backend_path_exists(path->folders[path->count - 1]))
            log_line(MUSTER_LOG_WARNING, "MUSTER_BACKEND_PATH names %s: there is no such folder",
                     path->folders[path->count - 1]);
        at += length + (at[length] == ':');
    }
    return status;
}

/* The length of the folder that file lies in; 0 where file names none. */
static size_t backend_path_folder_length(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash == NULL ? 0 : (size_t)(slash - file);
}

static int backend_path_is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Adds root/backends/<each>/.libs, sorted, so that all ranks see them in one order. */
static muster_status backend_path_add_tree(backend_path *path, const char *root)
{
    char folder[PATH_MAX + 64];
    int length = snprintf(folder, sizeof(folder), "%s/backends/", root);
    if (length < 0 || (size_t)length >= sizeof(folder))
        return MUSTER_OK; /* nothing lies that deep */
    struct dirent **entries;
    int count = scandir(folder, &entries, backend_path_is_visible, alphasort);
    muster_status status = MUSTER_OK;
    for (int i = 0; i < count; i++) {
        char inside[sizeof(entries[i]->d_name) + 8];
        snprintf(inside, sizeof(inside), "%s/.libs", entries[i]->d_name);
        if (status == MUSTER_OK)
            status = backend_path_add(path, folder, (size_t)length, inside);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

/* libtool keeps what is not installed yet in a folder of this name beside where it was built. */
muster_status backend_path_add_build_tree(backend_path *path, const char *file)
{
    static const char libs[] = "/.libs";
    char root[PATH_MAX];
    size_t length = backend_path_folder_length(file);
    if (length < strlen(libs) || length >= sizeof(root) ||
        strncmp(file + length - strlen(libs), libs, strlen(libs)) != 0)
        return MUSTER_OK;
    memcpy(root, file, length);
    root[length - strlen(libs)] = '\0'; /* the folder of the area, such as lib */
    root[backend_path_folder_length(root)] = '\0';
    return backend_path_add_tree(path, root);
}

/* The file that holds this code: libmuster.so, or a program that has it linked in. */
static bool backend_path_own_file(char file[PATH_MAX])
{
    static const char here;
    Dl_info info;
    return dladdr(&here, &info) != 0 && info.dli_fname != NULL &&
           realpath(info.dli_fname, file) != NULL;
}

muster_status backend_path_make(bool secure, backend_path *path)
{
    static const char beside[] = "/muster/" NUMBER(MUSTER_BACKEND_ABI);
    backend_path made = {NULL, 0};
    char file[PATH_MAX];
    bool known = backend_path_own_file(file);
    muster_status status = MUSTER_OK;
    if (!secure)
        status = backend_path_add_environment(&made);
    size_t given = made.count;
    if (status == MUSTER_OK && known && !secure)
        status = backend_path_add_build_tree(&made, file);
    bool installed = made.count == given;
    if (status == MUSTER_OK && installed)
        status = backend_path_add(&made, BACKENDSDIR, strlen(BACKENDSDIR), "");
    if (status == MUSTER_OK && installed && known)
        status = backend_path_add(&made, file, backend_path_folder_length(file), beside);
    if (status == MUSTER_OK)
        *path = made;
    else
        backend_path_free(&made);
    return status;
}
