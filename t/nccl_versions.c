/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NVIDIA's NCCL of any version, opened without a GPU: that it has the functions that the table
 * gives its version, and none that the table gives to later ones. Libraries are given as arguments
 * or in MUSTER_TEST_NCCL_LIBRARIES with colons between; else it is the one that the loader finds.
 * Each is opened in a process of its own, and shown with what its version lacks.
 */
#include "config.h"

#include "tap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/host.h"
#include "base/deadline.h"
#include "nccl_api.h"
#include "nccl_config.h"
#include "options.h"
#include "options/option_table.h"

enum { LIBRARIES_MOST = 64 };

/* What the process that opens a library says of it. */
typedef struct finding {
    int version; /* 0: it can't be opened */
    bool usable;
    double ms;
    char why[1024];   /* it is not usable */
    char lacks[1024]; /* functions that it is too old for */
    char wrong[1024]; /* functions that are not as the table says */
} finding;

static void add(char *list, size_t size, const char *word)
{
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length == 0 ? "" : " ", word);
}

static void compare(void *library, finding *found)
{
    for (const nccl_function *row = nccl_functions; row->name != NULL; row++) {
        bool there = dlsym(library, row->name) != NULL, due = found->version >= row->since;
        if (!due)
            add(found->lacks, sizeof(found->lacks), row->name);
        if (there != due)
            add(found->wrong, sizeof(found->wrong), row->name);
    }
}

static void look(const char *file, finding *found)
{
    const nccl_api *api;
    const char *why;
    nccl_result (*get_version)(int *);
    setenv("MUSTER_NCCL_LIBRARY", file, 1);
    int64_t begun = deadline_now_ns();
    found->usable = nccl_api_try(&api, &why);
    found->ms = (double)(deadline_now_ns() - begun) / 1e6;
    snprintf(found->why, sizeof(found->why), "%s", why);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *symbol = library == NULL ? NULL : dlsym(library, "ncclGetVersion");
    memcpy(&get_version, &symbol, sizeof(symbol));
    if (symbol == NULL || get_version(&found->version) != NCCL_SUCCESS)
        found->version = 0;
    else
        compare(library, found);
}

static void look_from_child(const char *file, finding *found)
{
    int ends[2];
    if (pipe(ends) != 0)
        bail_out("no pipe");
    pid_t child = fork();
    if (child == 0) {
        look(file, found);
        _exit(write(ends[1], found, sizeof(*found)) == (ssize_t)sizeof(*found) ? 0 : 1);
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t part = 1; part > 0 && got<sizeof(*found); got += part> 0 ? (size_t)part : 0)
        part = read(ends[0], (char *)found + got, sizeof(*found) - got);
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (got < sizeof(*found))
        *found = (finding){.version = 0, .why = "the process that opened it has died"};
}

static int count_options(const char *version)
{
    int count = 0;
    for (const muster_option *row = nccl_options; row->name != NULL; row++)
        count += option_table_era(row, version) == OPTION_USABLE;
    return count;
}

static void check_library(const char *file)
{
    finding found = {.version = 0};
    char version[NCCL_VERSION_TEXT];
    look_from_child(file, &found);
    nccl_version_text(found.version, version);
    if (!ok(found.version > 0, "%s is NCCL %s", file, version))
        diag("%s", found.why);
    is_int(found.usable, found.version >= NCCL_OLDEST, "it is taken, or refused for its age");
    if (found.version < NCCL_OLDEST) {
        has_str(found.why, "is older than 2.14", "with that reason");
        diag("NCCL %s: %s", version, found.why);
        return;
    }
    is_str(found.wrong, "", "its functions are those that the table gives it");
    diag("NCCL %s: opened in %.1f ms; config of %zu bytes; %d options; without %s", version,
         found.ms, nccl_config_size(found.version), count_options(version),
         found.lacks[0] == '\0' ? "nothing" : found.lacks);
}

/* The libraries to open, where they are given by the environment. */
static int from_environment(char *paths, const char **files)
{
    int count = 0;
    char *rest = NULL;
    for (char *path = strtok_r(paths, ":", &rest); path != NULL && count < LIBRARIES_MOST;
         path = strtok_r(NULL, ":", &rest))
        files[count++] = path;
    return count;
}

static int from_loader(const char **files)
{
    void *library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        plan_skip_all("no libnccl.so.2 here, and none in MUSTER_TEST_NCCL_LIBRARIES");
    dlclose(library);
    files[0] = "libnccl.so.2";
    return 1;
}

int main(int argc, char **argv)
{
    const char *files[LIBRARIES_MOST];
    char *paths = getenv("MUSTER_TEST_NCCL_LIBRARIES");
    int count = argc - 1 < LIBRARIES_MOST ? argc - 1 : LIBRARIES_MOST;
    nccl_host = &host_functions;
    for (int i = 0; i < count; i++)
        files[i] = argv[i + 1];
    if (count == 0)
        count = paths != NULL ? from_environment(paths, files) : from_loader(files);
    plan(3 * count);
    for (int i = 0; i < count; i++)
        check_library(files[i]);
    return done();
}
