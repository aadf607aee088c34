/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was found, in words for 80 columns.
 */
#include "config.h"

#include "info.h"
#include "paragraph.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { INDENT = 16 };

static void words_backend(const muster_backend_report *backend, bool verbose)
{
    bool built_in = strcmp(backend->file, "built in") == 0;
    if (backend->available)
        paragraph_print(stdout, INDENT, backend->name, "version %s%s",
                        *backend->version != '\0' ? backend->version : "unknown",
                        built_in ? ", built in" : "");
    else
        paragraph_print(stdout, INDENT, backend->name, "not available: %s", backend->reason);
    if ((verbose || backend->available) && !built_in)
        paragraph_print(stdout, INDENT, "", "%s", backend->file);
}

/* Which versions of its backend know the option; "" where all do. */
static const char *words_versions(const muster_option_report *option, char *text, size_t size)
{
    text[0] = '\0';
    if (*option->since != '\0' && *option->until != '\0')
        snprintf(text, size, ", versions %s to %s", option->since, option->until);
    else if (*option->since != '\0')
        snprintf(text, size, ", since %s", option->since);
    else if (*option->until != '\0')
        snprintf(text, size, ", until %s", option->until);
    return text;
}

static void words_option(const muster_option_report *option, int indent, bool verbose)
{
    char versions[128];
    paragraph_print(stdout, indent, option->name, "%s, %s%s%s%s%s%s%s", option->type,
                    *option->default_value != '\0' ? "default " : "",
                    *option->default_value != '\0' ? option->default_value : "no default",
                    words_versions(option, versions, sizeof(versions)),
                    *option->aliases != '\0' ? ", also called " : "", option->aliases,
                    option->usable ? "" : ", not usable here", verbose ? ":" : "");
    if (verbose)
        paragraph_print(stdout, indent, "", "%s", option->help);
}

static void words_options(const info *found, bool verbose)
{
    size_t longest = 0;
    for (size_t i = 0; i < found->num_options; i++)
        if (strlen(found->options[i].name) > longest)
            longest = strlen(found->options[i].name);
    puts("\noptions");
    for (size_t i = 0; i < found->num_options; i++)
        words_option(&found->options[i], longest > 30 ? 33 : (int)longest + 3, verbose);
}

/* Who this process is, as far as its environment says so. */
static void words_rank(const info *found)
{
    const muster_launcher_report *launcher = found->launcher;
    char where[400] = "";
    if (launcher->problem[0] != '\0') {
        paragraph_print(stdout, INDENT, "this process", "no rank yet: %s", launcher->problem);
        return;
    }
    if (launcher->name[0] == '\0') {
        paragraph_print(stdout, INDENT, "this process",
                        "the one rank of a world of one (no launcher is found)");
        return;
    }
    if (launcher->master_addr[0] != '\0')
        snprintf(where, sizeof(where), " at %.300s port %d,", launcher->master_addr,
                 launcher->master_port);
    if (launcher->world_size < 0)
        paragraph_print(stdout, INDENT, "this process", "rank %d, by %s; rank 0 is found%s by %s",
                        launcher->rank, launcher->name, where, launcher->how);
    else if (launcher->how[0] == '\0')
        paragraph_print(stdout, INDENT, "this process", "rank %d of %d, by %s", launcher->rank,
                        launcher->world_size, launcher->name);
    else
        paragraph_print(stdout, INDENT, "this process",
                        "rank %d of %d, by %s; rank 0 is found%s by %s", launcher->rank,
                        launcher->world_size, launcher->name, where, launcher->how);
}

static const char *words_missing(const char *folder)
{
    struct stat there;
    return stat(folder, &there) == 0 && S_ISDIR(there.st_mode) ? "" : " (no such folder)";
}

/* A folder a line. */
static void words_backend_path(const char *list)
{
    char folder[PATH_MAX];
    for (const char *at = list; *at != '\0';) {
        int length = (int)strcspn(at, ":");
        snprintf(folder, sizeof(folder), "%.*s", length, at);
        if (length > 0)
            paragraph_print(stdout, INDENT, "and before in", "%s%s, by MUSTER_BACKEND_PATH", folder,
                            words_missing(folder));
        at += length + (at[length] == ':');
    }
}

/* Whether there is a plugin, be it a broken one, of the backend that connects ranks. */
static bool words_has_gloo(const info *found)
{
    for (size_t i = 0; i < found->num_backends; i++)
        if (strcmp(found->backends[i].name, "gloo") == 0)
            return true;
    return false;
}

static void words_machine(const info *found, bool verbose)
{
    if (verbose || found->plan == NULL) {
        printf("\nthis machine\n%s", found->machine);
        return;
    }
    paragraph_print(stdout, INDENT, "this machine", "%s", found->plan->topology);
    paragraph_print(stdout, INDENT, "seen by", "%s", found->plan->seen_by);
}

/* Where the ranks of the job are; else where those of this host would be, by themselves. */
static void words_job(const info *found)
{
    const info_job *job = &found->job;
    if (job->world != NULL) {
        printf("\n%d ranks on %d host%s\n", job->num_ranks, muster_group_num_nodes(job->world),
               muster_group_num_nodes(job->world) == 1 ? "" : "s");
        paragraph_print(stdout, INDENT, "backend", "%s, %s", muster_group_backend(job->world),
                        job->why);
        info_print_ranks(job->ranks, job->num_ranks);
        info_print_shortages(job->ranks, job->num_ranks);
        if (found->plan != NULL)
            info_print_hidden(found->plan);
        return;
    }
    if (found->plan == NULL) {
        puts("\nplan");
        paragraph_print(stdout, INDENT, "none", "%s", found->plan_problem);
        return;
    }
    printf("\nplan for %d rank%s on this host, by policy %s\n", found->plan->num_ranks,
           found->plan->num_ranks == 1 ? "" : "s", found->plan->policy);
    info_print_ranks(found->plan->ranks, found->plan->num_ranks);
    info_print_remarks(found->plan);
    if (job->problem[0] != '\0')
        paragraph_print(stdout, INDENT, "other ranks", "not met: %s", job->problem);
}

void info_print(const info *found, bool options, bool launcher, bool verbose)
{
    printf("muster %s\n", muster_version());
    paragraph_print(stdout, INDENT, "backend ABI", "%s", BACKEND_ABI);
    paragraph_print(stdout, INDENT, "plugins in", "%s%s", BACKENDSDIR, words_missing(BACKENDSDIR));
    if (found->backend_path != NULL)
        words_backend_path(found->backend_path);
    words_rank(found);
    words_machine(found, verbose);
    puts("\nbackends, best first");
    for (size_t i = 0; i < found->num_backends; i++)
        words_backend(&found->backends[i], verbose);
    if (!words_has_gloo(found))
        paragraph_print(stdout, INDENT, "gloo",
                        "not found: there is no muster_gloo.so where "
                        "plugins are looked for; install " BACKEND_PACKAGE("gloo"));
    words_job(found);
    if (launcher)
        printf("\nlauncher, as the environment says\n%s", found->started);
    if (options)
        words_options(found, verbose);
}
