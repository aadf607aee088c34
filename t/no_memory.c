/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options and backends without memory: every allocation is refused in turn, which must be an error
 * and nothing else.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <stdlib.h>
#include <string.h>

#include "backend/backend_scan.h"
#include "options/options.h"
#include "scarce.h"
#include "tap.h"

static const muster_option rows[] = {
    {.name = "a.x", .type = MUSTER_OPTION_STRING, .aliases = "a.old"},
    {.name = "a.y", .type = MUSTER_OPTION_BOOLEAN, .environment = "T_A_Y"},
    {.name = NULL},
};

static const options_table table = {"a", rows, "", true, true};

/* The name is of today in base, older in the text; the variable is a value to be put in form. */
static muster_status settle(void)
{
    muster_options *given = NULL, *all = NULL;
    muster_status status = muster_options_new(&given);
    if (status == MUSTER_OK)
        status = muster_options_set(given, "a.x", "1");
    if (status == MUSTER_OK)
        status = muster_options_parse(given, "a.x=2,a.x=3");
    if (status == MUSTER_OK)
        status = options_collect(given, NULL, "a.old=4", &all);
    if (status == MUSTER_OK)
        status = options_check(all, &table, 1);
    muster_options_free(given);
    muster_options_free(all);
    return status;
}

static muster_status find(void)
{
    backend_path path;
    backend_set set;
    muster_status status = backend_path_make(false, &path);
    if (status != MUSTER_OK)
        return status;
    status = backend_scan(&path, &set);
    if (status == MUSTER_OK)
        backend_scan_free(&set);
    backend_path_free(&path);
    return status;
}

/* The first call; it fails until there is memory, and then has the list for good. */
static muster_status list(void)
{
    options_table *tables = NULL;
    size_t count;
    muster_status status = backend_option_tables(&tables, &count);
    free(tables);
    return status;
}

static void starve(muster_status (*what)(void), const char *name)
{
    int refused = 0;
    bool clean = true;
    muster_status status = MUSTER_ERR_NO_MEMORY;
    for (; status != MUSTER_OK && refused < 1000; refused++) {
        scarce_left = refused;
        status = what();
        scarce_left = -1;
        clean = clean && (status == MUSTER_OK || (status == MUSTER_ERR_NO_MEMORY &&
                                                  strstr(muster_last_error(), "no memory for")));
    }
    ok(clean, "%s: every refusal is an error that says so", name);
    ok(refused > 2 && status == MUSTER_OK, "%s: %d allocations refused, then it works", name,
       refused - 1);
}

int main(void)
{
    plan(6);
    unsetenv("MUSTER_OPTIONS");
    setenv("T_A_Y", "yes", 1);
    setenv("MUSTER_BACKEND_PATH", PLUGINS "/bad/.libs", 1);
    starve(settle, "options");
    starve(find, "backends");
    starve(list, "the list of backends");
    return done();
}
