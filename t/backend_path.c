/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The folders in which plugins are looked for.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "backend/backend_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static const char *folder(const backend_path *path, size_t i)
{
    return i < path->count ? path->folders[i] : NULL;
}

static char logged[1024];

static void take_line(void *user, muster_log_level level, const char *line)
{
    (void)user;
    size_t used = strlen(logged);
    snprintf(logged + used, sizeof(logged) - used, "%d %s\n", (int)level, line);
}

static void words(void)
{
    backend_path path;
    char *text = NULL;
    setenv("MUSTER_BACKEND_PATH", "/:/one", 1);
    muster_set_log(take_line, NULL, MUSTER_LOG_WARNING);
    is_int(backend_path_make(false, &path), MUSTER_OK, "a list with a folder that is not there");
    char warning[128];
    snprintf(warning, sizeof(warning),
             "%d MUSTER_BACKEND_PATH names /one: there is no such folder\n", MUSTER_LOG_WARNING);
    is_str(logged, warning, "which the log warns of");
    is_int(backend_path_words(&path, &text), MUSTER_OK, "the list has words");
    ok(strncmp(text, "/, /one (no such folder), " BACKENDSDIR,
               strlen("/, /one (no such folder), " BACKENDSDIR)) == 0,
       "which say so too: %s", text);
    free(text);
    backend_path_free(&path);
    ok(backend_path_exists("/") && !backend_path_exists("/dev/null"), "a file is no folder");
    muster_set_log(NULL, NULL, MUSTER_LOG_NONE);
}

static void environment(void)
{
    backend_path path;
    setenv("MUSTER_BACKEND_PATH", ":/one::/two:", 1);
    is_int(backend_path_make(false, &path), MUSTER_OK, "a list is made");
    is_str(folder(&path, 0), "/one", "the environment comes first");
    is_str(folder(&path, 1), "/two", "in its order, without what is empty");
    is_str(folder(&path, 2), BACKENDSDIR, "then what was set at build time");
    const char *beside = folder(&path, 3);
    has_str(beside, "/muster/1", "then what lies beside the library");
    ok(beside != NULL && beside[0] == '/', "by its full name");
    is_int((long long)path.count, 4, "that is all");
    backend_path_free(&path);
    is_int((long long)path.count, 0, "a freed list is empty");

    is_int(backend_path_make(true, &path), MUSTER_OK, "a list for a process of more rights");
    is_str(folder(&path, 0), BACKENDSDIR, "does not begin with the environment");
    is_int((long long)path.count, 2, "nor has it further down");
    backend_path_free(&path);

    setenv("MUSTER_BACKEND_PATH", "/usr:/usr/.:/usr:/nowhere:/nowhere", 1);
    backend_path_make(false, &path);
    is_int((long long)path.count, 4, "a folder is looked into once");
    is_str(folder(&path, 1), "/nowhere", "by its first name");
    backend_path_free(&path);

    unsetenv("MUSTER_BACKEND_PATH");
    backend_path_make(false, &path);
    is_int((long long)path.count, 2, "without a variable there are the installed ones");
    backend_path_free(&path);
    ok(!backend_path_is_secure(), "this process has no more rights than its user");
}

static void make_folder(const char *root, const char *below)
{
    char name[512];
    snprintf(name, sizeof(name), "%s%s", root, below);
    if (mkdir(name, 0700) != 0)
        bail_out("can't make %s", name);
}

static void remove_folder(const char *root, const char *below)
{
    char name[512];
    snprintf(name, sizeof(name), "%s%s", root, below);
    rmdir(name);
}

static void build_tree(void)
{
    static const char *const folders[] = {
        "", "/lib", "/lib/.libs", "/backends", "/backends/.x", "/backends/nccl", "/backends/gloo"};
    const int count = sizeof(folders) / sizeof(folders[0]);
    const char *base = getenv("TMPDIR");
    char root[256], file[300], expected[300];
    snprintf(root, sizeof(root), "%s/muster-path-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(root) == NULL)
        bail_out("can't make a folder in %s", root);
    for (int i = 1; i < count; i++)
        make_folder(root, folders[i]);

    backend_path path = {NULL, 0};
    snprintf(file, sizeof(file), "%s/lib/libmuster.so", root);
    is_int(backend_path_add_build_tree(&path, file), MUSTER_OK, "an installed library");
    is_int((long long)path.count, 0, "has no build tree");
    snprintf(file, sizeof(file), "%s/lib/.libs/libmuster.so", root);
    is_int(backend_path_add_build_tree(&path, file), MUSTER_OK, "one that is not installed");
    is_int((long long)path.count, 2, "has one with two backends");
    snprintf(expected, sizeof(expected), "%s/backends/gloo/.libs", root);
    is_str(folder(&path, 0), expected, "which are sorted");
    has_str(folder(&path, 1), "/backends/nccl/.libs", "and full names");
    backend_path_free(&path);
    is_int(backend_path_add_build_tree(&path, "/nowhere/.libs/x.so"), MUSTER_OK,
           "a tree without backends");
    is_int((long long)path.count, 0, "has none");
    is_int(backend_path_add_build_tree(&path, "/.libs/x.so"), MUSTER_OK, "nor the root");
    is_int((long long)path.count, 0, "of all folders");
    is_int(backend_path_add_build_tree(&path, "x.so"), MUSTER_OK, "a file without a folder");
    is_int((long long)path.count, 0, "has none either");
    for (int i = count; i-- > 0;)
        remove_folder(root, folders[i]);
}

int main(void)
{
    plan(27 + 5);
    words();
    environment();
    build_tree();
    return done();
}
