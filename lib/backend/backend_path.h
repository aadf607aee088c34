/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where plugins are looked for.
 */
#ifndef MUSTER_LIB_BACKEND_PATH_H
#define MUSTER_LIB_BACKEND_PATH_H

#include "base/error.h"

typedef struct backend_path {
    char **folders;
    size_t count;
} backend_path;

/*
 * The folders in the order in which they are searched: those of MUSTER_BACKEND_PATH, then for an
 * installed libmuster the one set at build time and muster/<abi> beside the library, for one in its
 * build tree those of that tree. secure: the process has more rights than its user, so that neither
 * the environment nor a build tree is trusted.
 */
muster_status backend_path_make(bool secure, backend_path *path);
void backend_path_free(backend_path *path);

/* Whether there is a folder of that name. */
bool backend_path_exists(const char *folder);

/* "/a, /b (no such folder)", for free(). */
muster_status backend_path_words(const backend_path *path, char **words);

/* Whether this process is such a one. */
bool backend_path_is_secure(void);

/* Inside the room: adds the folders of the build tree that file, a program or library, lies in. */
muster_status backend_path_add_build_tree(backend_path *path, const char *file);

#endif
