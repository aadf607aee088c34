/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding backends: plugins that are wrong in every way become reasons in the list, the first of a
 * name wins, and nothing is written to stderr.
 */
#include "backend/backend.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend_plugin.h"
#include "backend/backend_scan.h"
#include "tap.h"

#define BAD PLUGINS "/bad/.libs"
#define GOOD PLUGINS "/.libs"

static char root[256]; /* a folder of this test's own */

static const char *in_root(const char *name)
{
    static char path[2][600];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", root, name);
    return path[turn];
}

static void make_text_file(const char *name)
{
    FILE *file = fopen(in_root(name), "w");
    if (file == NULL || fputs("this is no shared object\n", file) < 0 || fclose(file) != 0)
        bail_out("can't write %s", name);
}

static void make_root(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%s/muster-backend-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(root) == NULL)
        bail_out("can't make a folder in %s", root);
    if (mkdir(in_root("a"), 0700) != 0 || mkdir(in_root("b"), 0700) != 0)
        bail_out("can't make folders in %s", root);
    make_text_file("a/muster_text.so");
    make_text_file("a/muster_local.so");
    make_text_file("a/muster_.so");
    make_text_file("a/muster_Upper.so");
    make_text_file("a/muster_gloo.so.1");
    make_text_file("a/libgloo.so");
    make_text_file("a/muster_a_name_that_has_more_than_31_letters.so");
    if (mkdir(in_root("a/muster_folder.so"), 0700) != 0 ||
        symlink(GOOD "/muster_rigged.so", in_root("b/muster_rigged.so")) != 0)
        bail_out("can't fill %s", root);
}

static void remove_root(void)
{
    static const char *const files[] = {"a/muster_text.so",
                                        "a/muster_local.so",
                                        "a/muster_.so",
                                        "a/muster_Upper.so",
                                        "a/muster_gloo.so.1",
                                        "a/libgloo.so",
                                        "b/muster_rigged.so",
                                        "a/muster_rigged.so",
                                        "a/muster_a_name_that_has_more_than_31_letters.so",
                                        "stderr"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(in_root(files[i]));
    rmdir(in_root("a/muster_folder.so"));
    rmdir(in_root("a"));
    rmdir(in_root("b"));
    rmdir(root);
}

/* ---- the first call ---- */

enum { THREADS = 8 };

static pthread_barrier_t start;

static void *first_call(void *unused)
{
    (void)unused;
    const backend_entry *const *list = NULL;
    size_t count;
    error_set(MUSTER_ERR_ARGUMENT, "an earlier sentence");
    pthread_barrier_wait(&start);
    if (backend_list(&list, &count) != MUSTER_OK ||
        strcmp(muster_last_error(), "an earlier sentence") != 0)
        return NULL;
    return (void *)(uintptr_t)list;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    void *list[THREADS];
    bool same = true;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, first_call, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], &list[i]);
    for (int i = 0; i < THREADS; i++)
        same = same && list[i] != NULL && list[i] == list[0];
    ok(same, "threads that call first get one list, and keep their sentences");
    pthread_barrier_destroy(&start);
}

/* ---- reasons ---- */

static const struct {
    const char *name;
    const char *words; /* in the reason; NULL: available */
    bool readable;
} plugins[] = {
    {"rigged", NULL, true},
    {"plain", NULL, true},
    {"local", NULL, true},
    {"stale", "built for plugin ABI 7 and this libmuster has 1", false},
    {"short", "has 16 bytes and must have", false},
    {"mute", "has no symbol muster_backend_1", false},
    {"deaf", "lacks the required slot 'wait'", false},
    {"dumb", "lacks the required slot 'call'", false},
    {"blind", "its table of devices lacks 'locate'", false},
    {"masked", "calls itself 'somebody', which is not the name in its file's name, 'masked'",
     false},
    {"vague", "its option 'iface' does not begin with 'vague.'", false},
    {"loose", "nobody_has_this", false},
    {"text", "the loader refused it", false},
    {"folder", "the loader refused it", false},
    {"absent", "there is no device on this machine", true},
    {"silent", "its probe failed without a reason (the operating system refused a call)", true},
};

enum { NUM_PLUGINS = sizeof(plugins) / sizeof(plugins[0]) };

static void check_plugin(int i)
{
    const backend_entry *entry = backend_find(plugins[i].name);
    ok(entry != NULL && entry->available == (plugins[i].words == NULL), "%s is %savailable",
       plugins[i].name, plugins[i].words == NULL ? "" : "not ");
    if (plugins[i].words == NULL)
        is_str(entry == NULL ? NULL : entry->reason, "", "%s has no reason", plugins[i].name);
    else
        has_str(entry == NULL ? NULL : entry->reason, plugins[i].words, "%s has its reason",
                plugins[i].name);
    ok(entry != NULL && (entry->ops != NULL) == plugins[i].readable, "%s has %s table",
       plugins[i].name, plugins[i].readable ? "a" : "no");
}

static void list(void)
{
    const backend_entry *const *entries = NULL;
    size_t count = 0;
    is_int(backend_list(&entries, &count), MUSTER_OK, "the list is there");
    size_t rigged = 0, local = 0; /* an installed plugin, of an earlier build, may be there too */
    while (rigged < count && strcmp(entries[rigged]->name, "rigged") != 0)
        rigged++;
    while (local < count && strcmp(entries[local]->name, "local") != 0)
        local++;
    ok(rigged < local && local < count, "the higher priority comes first");
    bool ordered = true;
    for (size_t i = 1; i < count; i++)
        ordered =
            ordered && !(entries[i - 1]->ops == NULL && entries[i]->ops != NULL) &&
            (entries[i]->ops == NULL || entries[i - 1]->ops->priority >= entries[i]->ops->priority);
    ok(ordered, "lower ones follow, what can't be read comes last");
    is_str(backend_find("local")->file, "built in", "a file can't stand in for what is built in");
    is_str(backend_find("rigged")->file, GOOD "/muster_rigged.so", "a plugin has its file");
    is_str(backend_find("rigged")->info.version, "2.10", "and its version");
    is_int((long long)strlen(backend_find("plain")->info.version), 63,
           "a version without an end is given one");
    is_str(backend_find("absent")->info.version, "", "what is not there has no version");
    ok(backend_find("gloo.so.1") == NULL && backend_find("Upper") == NULL &&
           backend_find("") == NULL && backend_find("a_name_that_has_more_than_31_letters") == NULL,
       "files of other names are no plugins");
    is_int(backend_unknown("riged"), MUSTER_ERR_NOT_FOUND, "a name may be unknown");
    has_str(muster_last_error(), "no backend 'riged'; did you mean 'rigged'?", "and near one");
    has_str(muster_last_error(), "rigged, local, ", "and is told those that are");
    has_str(muster_last_error(), "looked for in ", "and where others are looked for");
    has_str(muster_last_error(), GOOD, "which is said");
    backend_unknown("mpi");
    has_str(muster_last_error(), "no backend 'mpi'; found were", "or near none");
    backend_unknown("");
    has_str(muster_last_error(),
            "name is empty; leave it out or say 'auto', or one of: ", "or none");
}

/* ---- which of one name ---- */

static void scan_first(const char *first, const char *second, bool available, const char *what)
{
    char *folders[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second};
    const backend_path path = {folders, 2};
    backend_set set;
    is_int(backend_scan(&path, &set), MUSTER_OK, "%s: folders are scanned", what);
    const backend_entry *entry = backend_scan_find(&set, "rigged");
    ok(entry != NULL && entry->available == available, "%s", what);
    ok(entry != NULL && strncmp(entry->file, first, strlen(first)) == 0, "from the first folder");
    backend_scan_free(&set);
}

static void precedence(void)
{
    char a[600], b[600], nowhere[600];
    snprintf(a, sizeof(a), "%s", in_root("a"));
    snprintf(b, sizeof(b), "%s", in_root("b"));
    snprintf(nowhere, sizeof(nowhere), "%s", in_root("nowhere"));
    make_text_file("a/muster_rigged.so");
    scan_first(b, a, true, "a good one before a bad one is taken");
    scan_first(a, b, false, "a bad one before a good one is not passed over");
    scan_first(b, nowhere, true, "a folder that is missing does no harm");
    char *one[] = {nowhere};
    const backend_path path = {one, 1};
    backend_set set;
    is_int(backend_scan(&path, &set), MUSTER_OK, "no plugin at all");
    is_int((long long)set.count, 1, "leaves what is built in");
    backend_scan_free(&set);
    setenv("MUSTER_RIGGED_FAIL", "probe", 1);
    backend_entry *entry = NULL;
    is_int(backend_plugin_open("rigged", GOOD "/muster_rigged.so", &entry), MUSTER_OK,
           "a plugin is opened");
    unsetenv("MUSTER_RIGGED_FAIL");
    ok(!entry->available, "its probe may fail");
    is_str(entry->reason, "it is rigged to fail in probe", "with its own words");
    is_str(entry->info.version, "", "and no version");
    backend_plugin_free(entry);
    backend_plugin_free(NULL);
}

/* ---- reports ---- */

static const muster_option_report *find_option(const muster_option_report *reports, size_t count,
                                               const char *name)
{
    static const muster_option_report none;
    for (size_t i = 0; i < count; i++)
        if (strcmp(reports[i].name, name) == 0)
            return &reports[i];
    return &none;
}

static void reports(void)
{
    muster_backend_report *backends = NULL;
    muster_option_report *options = NULL;
    size_t num_backends = 0, num_options = 0;
    is_int(muster_list_backends(&backends, &num_backends), MUSTER_OK, "backends are listed");
    ok(num_backends >= NUM_PLUGINS, "all of them");
    size_t rigged = 0;
    while (rigged + 1 < num_backends && strcmp(backends[rigged].name, "rigged") != 0)
        rigged++;
    ok(backends[rigged].available && strcmp(backends[rigged].version, "2.10") == 0 &&
           backends[rigged].reason[0] == '\0',
       "each with what is known of it");
    ok(strstr(backends[rigged].file, "muster_rigged.so") != NULL, "and its file");
    free(backends);
    is_int(muster_list_options(&options, &num_options), MUSTER_OK, "options are listed");
    const muster_option_report *delay = find_option(options, num_options, "rigged.delay_ms");
    is_str(delay->type, "integer", "with type");
    is_str(delay->default_value, "0", "default");
    is_str(delay->aliases, "rigged.latency rigged.latency_ms", "older names");
    is_str(delay->since, "", "first version");
    ok(delay->usable, "and whether they are of use");
    const muster_option_report *turbo = find_option(options, num_options, "rigged.turbo");
    ok(strcmp(turbo->since, "3.0") == 0 && !turbo->usable, "one for a newer version is not");
    const muster_option_report *slow = find_option(options, num_options, "rigged.slow_start");
    ok(strcmp(slow->until, "1.9") == 0 && !slow->usable, "nor one for an older version");
    is_str(find_option(options, num_options, "rigged.trace")->default_value, "0",
           "a default has the form that backends get");
    ok(find_option(options, num_options, "plain.nothing")->usable, "that of any version is");
    ok(!find_option(options, num_options, "absent.nothing")->usable, "that of no backend is not");
    free(options);
    is_int(muster_list_backends(NULL, &num_backends), MUSTER_ERR_ARGUMENT, "a place is needed");
    is_int(muster_list_backends(&backends, NULL), MUSTER_ERR_ARGUMENT, "and one for the number");
    is_int(muster_list_options(NULL, &num_options), MUSTER_ERR_ARGUMENT, "for options too");
    is_int(muster_list_options(&options, NULL), MUSTER_ERR_ARGUMENT, "both");
}

static void tables(void)
{
    options_table *made = NULL;
    size_t count = 0;
    is_int(backend_option_tables(&made, &count), MUSTER_OK, "tables for checking options");
    muster_options *all = NULL;
    muster_status status = options_collect(NULL, NULL, "rigged.latency=5,stale.x=1", &all);
    if (status == MUSTER_OK)
        status = options_check(all, made, count);
    is_int(status, MUSTER_OK, "settings are checked against what was found");
    const muster_option *rigged = backend_find("rigged")->ops->options;
    is_str(options_value(all, rigged, "rigged.delay_ms", NULL), "5", "older names are settled");
    muster_options_free(all);
    options_collect(NULL, NULL, "rigged.turbo=1", &all);
    is_int(options_check(all, made, count), MUSTER_ERR_UNSUPPORTED, "3.0 is not there");
    has_str(muster_last_error(), "it needs rigged 3.0 or later, and 2.10 was found", "2.10 is");
    muster_options_free(all);
    free(made);
}

/* ---- silence ---- */

static int stderr_fd;

static void catch_stderr(void)
{
    int fd = open(in_root("stderr"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0 || stderr_fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        bail_out("can't redirect stderr");
    close(fd);
}

static void check_stderr(void)
{
    dup2(stderr_fd, STDERR_FILENO);
    close(stderr_fd);
    struct stat written;
    ok(stat(in_root("stderr"), &written) == 0 && written.st_size == 0,
       "nothing was written to stderr");
}

int main(void)
{
    unsetenv("MUSTER_OPTIONS");
    unsetenv("MUSTER_LOG");
    unsetenv("MUSTER_RIGGED_FAIL");
    plan(3 * NUM_PLUGINS + 57);
    make_root();
    char path[1024];
    snprintf(path, sizeof(path), "%s:%s:%s", BAD, in_root("a"), GOOD);
    setenv("MUSTER_BACKEND_PATH", path, 1);
    catch_stderr();
    threads();
    for (int i = 0; i < NUM_PLUGINS; i++)
        check_plugin(i);
    list();
    precedence();
    reports();
    tables();
    check_stderr();
    remove_root();
    return done();
}
