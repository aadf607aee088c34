/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens NCCL, and takes its functions.
 */
#include "config.h"

#include "nccl_api.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "library.h"

const muster_host *nccl_host;

static const char *const nccl_names[] = {"libnccl.so.2", NULL};
static const library_place nccl_place = {"MUSTER_NCCL_LIBRARY", nccl_names};

static struct {
    pthread_once_t once;
    bool usable;
    library_reason why;
    nccl_api api;
} nccl = {.once = PTHREAD_ONCE_INIT};

const char *nccl_version_text(int version, char text[NCCL_VERSION_TEXT])
{
    /* Before 2.9 there was one digit for the minor number: 2804 is 2.8.4. */
    int unit = version < NCCL_VERSION_MAJOR_UNIT ? 1000 : NCCL_VERSION_MAJOR_UNIT;
    int minor = version % unit / NCCL_VERSION_MINOR_UNIT;
    snprintf(text, NCCL_VERSION_TEXT, "%d.%d.%d", version / unit % 1000, minor,
             version % NCCL_VERSION_MINOR_UNIT);
    return text;
}

static bool nccl_check_version(const library *opened, nccl_api *api, library_reason *why)
{
    if (!library_function(opened, "ncclGetVersion", &api->get_version))
        return library_refuse(why, "%s is not NCCL: it has no ncclGetVersion", opened->file);
    if (api->get_version(&api->version) != NCCL_SUCCESS || api->version <= 0)
        return library_refuse(why, "%s does not tell its version", opened->file);
    nccl_version_text(api->version, api->version_text);
    if (api->version < NCCL_OLDEST)
        return library_refuse(why,
                              "NCCL %s (%s) is older than 2.14, the first whose communicators can "
                              "be made and ended within a time-out; install a newer one, or name "
                              "one in MUSTER_NCCL_LIBRARY",
                              api->version_text, opened->file);
    if (api->version / NCCL_VERSION_MAJOR_UNIT != NCCL_OLDEST / NCCL_VERSION_MAJOR_UNIT)
        return library_refuse(why, "NCCL %s (%s) is not of the 2.x that this backend knows",
                              api->version_text, opened->file);
    return true;
}

/* What is newer than the library is not taken from it even where it is there. */
static bool nccl_take_functions(const library *opened, nccl_api *api, library_reason *why)
{
    char since[NCCL_VERSION_TEXT];
    for (const nccl_function *row = nccl_functions; row->name != NULL; row++)
        if (api->version >= row->since &&
            !library_function(opened, row->name, (char *)api + row->offset))
            return library_refuse(
                why, "NCCL %s (%s) lacks %s, which NCCL has had since %s: install another one",
                api->version_text, opened->file, row->name,
                nccl_version_text(row->since == 0 ? NCCL_OLDEST : row->since, since));
    return true;
}

static bool nccl_take(const library *opened, nccl_api *api, library_reason *why)
{
    *api = (nccl_api){.version = 0};
    memcpy(api->file, opened->file, sizeof(api->file));
    return nccl_check_version(opened, api, why) && nccl_take_functions(opened, api, why);
}

static void nccl_load(void)
{
    library opened;
    library_reason loader = {""};
    int turn = 0;
    if (library_next(&nccl_place, &turn, &opened, &loader))
        nccl.usable = nccl_take(&opened, &nccl.api, &nccl.why);
    else
        nccl.usable = library_refuse(&nccl.why,
                                     "there is no NCCL (%s): install it, or name its file in "
                                     "MUSTER_NCCL_LIBRARY",
                                     loader.words);
}

bool nccl_api_try(const nccl_api **api, const char **why)
{
    pthread_once(&nccl.once, nccl_load);
    *api = nccl.usable ? &nccl.api : NULL;
    *why = nccl.why.words;
    return nccl.usable;
}

bool nccl_api_is_near(void)
{
    return library_is_named(&nccl_place) || library_loaded(&nccl_place);
}

muster_status nccl_api_load(const nccl_api **api)
{
    const char *why;
    if (nccl_api_try(api, &why))
        return MUSTER_OK;
    return nccl_host->error(MUSTER_ERR_UNAVAILABLE, "%s", why);
}
