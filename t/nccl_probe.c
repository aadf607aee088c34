/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the probe of the nccl backend finds, and each reason it has, with libraries that say what
 * the test wants (t/nccl/stub.c), and with NVIDIA's own where they are. Each row runs in a process
 * of its own, which this program is when it is given a word.
 */
#include "config.h"

#include "tap.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/host.h"
#include "base/deadline.h"
#include "base/error.h"
#include "base/patience.h"
#include "command.h"
#include "cuda_api.h"
#include "device.h"
#include "nccl_api.h"
#include "probe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the process that probes ---- */

static int entries(const char *folder)
{
    int count = 0;
    DIR *listed = opendir(folder);
    while (listed != NULL && readdir(listed) != NULL)
        count++;
    if (listed != NULL)
        closedir(listed);
    return count;
}

static muster_status probed(muster_backend_info *info)
{
    *info = (muster_backend_info){.size = sizeof(*info)};
    return probe(&host_functions, info);
}

static void *do_nothing(void *unused)
{
    return unused;
}

/* Sanitizers have a thread of their own from the first one on. */
static void have_had_a_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
        pthread_join(thread, NULL);
}

/* One line: what the probe said, how long it took, what it left. */
static int say_probe(void)
{
    muster_backend_info info;
    have_had_a_thread();
    int threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd");
    int64_t begun = deadline_now_ns();
    muster_status status = probed(&info);
    double ms = (double)(deadline_now_ns() - begun) / 1e6;
    printf("%s|%s|%s|%s|%d %d|%.2f\n", muster_status_name(status), info.version, info.details,
           status == MUSTER_OK ? "" : muster_last_error(), entries("/proc/self/task") - threads,
           entries("/proc/self/fd") - descriptors, ms);
    return 0;
}

/* Probes with a runtime that the process has loaded by itself. */
static int say_loaded(void)
{
    if (dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL) == NULL)
        printf("%s\n", dlerror());
    return say_probe();
}

/* The answers of the second and third time, and of a child made by fork. */
static int say_again(void)
{
    muster_backend_info info;
    const cuda_api *cuda;
    probed(&info);
    printf("%s|", probed(&info) == MUSTER_OK ? "ok" : muster_last_error());
    printf("%s|", cuda_api_load(&cuda) == MUSTER_OK ? "ok" : muster_last_error());
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        muster_status status = probed(&info);
        printf("%s %s\n", muster_status_name(status),
               status == MUSTER_OK ? "" : muster_last_error());
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}

/* A driver that takes 3 seconds to start: given up, no memory is a device's meanwhile, and all is
 * well once it is there. */
static int say_slow(void)
{
    muster_backend_info info;
    muster_memory_place place;
    enum { PATIENCE_MS = 1000, LATER_MS = 6000 };
    int64_t begun = deadline_now_ns();
    patience_until(deadline_in(PATIENCE_MS));
    printf("%s", probed(&info) == MUSTER_OK ? "ok" : muster_last_error());
    printf("|%s", deadline_now_ns() - begun < PATIENCE_MS * INT64_C(1000000) ? "in time" : "late");
    printf("|%d", nccl_devices.locate(&place, &place) == MUSTER_OK && place.device == -1);
    patience_usual();
    deadline end = deadline_in(LATER_MS);
    while (probed(&info) != MUSTER_OK && deadline_left_ms(end) > 0)
        usleep(100000);
    printf("|%s\n", probed(&info) == MUSTER_OK ? "ok" : muster_last_error());
    return 0;
}

static void *probe_on_thread(void *status)
{
    muster_backend_info info;
    *(muster_status *)status = probed(&info);
    return NULL;
}

static int say_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    muster_status status[THREADS];
    int good = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, probe_on_thread, &status[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        good += status[i] == MUSTER_OK;
    }
    printf("%d of %d\n", good, THREADS);
    return 0;
}

/* Whether memory can be a device's, before and after something loads the driver. */
static int say_in_use(void)
{
    muster_memory_place place;
    int device = 7;
    nccl_host = &host_functions;
    printf("%d", nccl_devices.in_use());
    printf(" %d", nccl_devices.locate(&place, &place));
    printf(" %d %d", (int)place.kind, place.device);
    printf(" %d", nccl_devices.current(&device));
    printf(" %d", device);
    if (dlopen(getenv("MUSTER_CUDA_LIBRARY"), RTLD_NOW | RTLD_LOCAL) == NULL)
        printf("%s\n", dlerror());
    printf(" %d", nccl_devices.in_use());
    printf(" %d", nccl_devices.in_use());
    printf(" %d", nccl_devices.locate(&place, &place));
    printf(" %d\n", (int)place.kind);
    return 0;
}

static int be_child(const char *what)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } roles[] = {{"probe", say_probe}, {"loaded", say_loaded},   {"again", say_again},
                 {"slow", say_slow},   {"threads", say_threads}, {"in_use", say_in_use}};
    for (size_t i = 0; i < COUNT(roles); i++)
        if (strcmp(roles[i].name, what) == 0)
            return roles[i].run();
    return 2;
}

/* ---- the test ---- */

static char self[PATH_MAX];
static char shelf[PATH_MAX]; /* a folder with libraries under NVIDIA's names */

/* "@x" is the stub x in the build tree, "%" the shelf. */
static void expand(const char *word, char *into, size_t size)
{
    const char *at = strchr(word, '@'), *where = strchr(word, '%');
    if (at != NULL)
        snprintf(into, size, "%.*s%s/%s.so", (int)(at - word), word, STUBS, at + 1);
    else if (where != NULL)
        snprintf(into, size, "%.*s%s%s", (int)(where - word), word, shelf, where + 1);
    else
        snprintf(into, size, "%s", word);
}

/* Runs this program as what under the words of an environment, with nothing of NVIDIA's else. */
static void run(struct command *child, const char *what, const char *words)
{
    enum { MOST = 12 };
    static char expanded[MOST][PATH_MAX + 64];
    const char *arguments[MOST + 16] = {"env"};
    size_t count = 1, used = 0;
    static const char *const unset[] = {"MUSTER_CUDA_LIBRARY", "MUSTER_CUDART_LIBRARY",
                                        "MUSTER_NCCL_LIBRARY", "CUDA_VISIBLE_DEVICES"};
    for (size_t i = 0; i < COUNT(unset); i++) {
        arguments[count++] = "-u";
        arguments[count++] = unset[i];
    }
    char *copy = strdup(words), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && used < MOST;
         word = strtok_r(NULL, " ", &rest)) {
        expand(word, expanded[used], sizeof(expanded[used]));
        arguments[count++] = expanded[used++];
    }
    arguments[count++] = self;
    arguments[count++] = what;
    command_run(child, NULL, arguments);
    free(copy);
}

typedef struct said {
    const char *status, *version, *details, *sentence, *left, *ms;
} said;

/* Takes the line apart; false if it isn't one, or anything else was printed. */
static bool hear(struct command *child, said *heard)
{
    const char **fields[] = {&heard->status,   &heard->version, &heard->details,
                             &heard->sentence, &heard->left,    &heard->ms};
    char *at = child->out;
    *heard = (said){"", "", "", "", "", ""};
    for (size_t i = 0; i < COUNT(fields) && at != NULL; i++) {
        *fields[i] = at;
        at = strpbrk(at, i + 1 < COUNT(fields) ? "|" : "\n");
        if (at != NULL)
            *at++ = '\0';
    }
    return at != NULL && *at == '\0' && child->err[0] == '\0' && child->status == 0;
}

typedef struct probe_row {
    const char *name;
    const char *environment;
    const char *sentence; /* its beginning; NULL: all goes well */
    const char *also;     /* and a part of it, or of the details; "": there is no more */
} probe_row;

#define DRIVER "MUSTER_CUDA_LIBRARY=@driver "
#define RUNTIME "MUSTER_CUDART_LIBRARY=@runtime13 "
#define NCCL "MUSTER_NCCL_LIBRARY=@nccl STUB_NCCL_VERSION=21403 "

static const probe_row rows[] = {
    {"all is there", DRIVER RUNTIME NCCL, NULL, "2 GPUs; CUDA 13.0, driver's 13.0; /"},
    {"one device", DRIVER RUNTIME NCCL "STUB_COUNT=1 STUB_DRIVER_VERSION=13010", NULL,
     "1 GPU; CUDA 13.0, driver's 13.1; /"},
    {"a variable that is empty counts for nothing",
     DRIVER RUNTIME "MUSTER_NCCL_LIBRARY= LD_LIBRARY_PATH=% STUB_NCCL_VERSION=21701", NULL,
     "/libnccl.so.2"},

    {"no driver", "MUSTER_CUDA_LIBRARY=/nowhere/libcuda.so.1 " NCCL,
     "there is no NVIDIA driver (/nowhere/libcuda.so.1: cannot open shared object file",
     "; NCCL 2.14.3 is here (/"},
    {"neither driver nor NCCL",
     "MUSTER_CUDA_LIBRARY=/nowhere/libcuda.so.1 MUSTER_NCCL_LIBRARY=/nowhere/libnccl.so.2",
     "there is no NVIDIA driver (", "; and there is no NCCL (/nowhere/libnccl.so.2: cannot open"},
    {"no driver, and NCCL only where the loader finds it",
     "MUSTER_CUDA_LIBRARY=/nowhere/libcuda.so.1 LD_LIBRARY_PATH=% STUB_NCCL_VERSION=21403",
     "there is no NVIDIA driver (/nowhere/libcuda.so.1: cannot open shared object file: No such "
     "file "
     "or directory)",
     ""},
    {"a driver that is no library", "MUSTER_CUDA_LIBRARY=/dev/null " NCCL,
     "there is no NVIDIA driver (/dev/null: ", NULL},
    {"a stub of the driver", DRIVER RUNTIME NCCL "STUB_CU_INIT=34", "/",
     "is a stub for linking, not NVIDIA's driver: take its folder out of LD_LIBRARY_PATH"},
    {"a driver that lacks a function", "MUSTER_CUDA_LIBRARY=@driver_short " RUNTIME NCCL, "/",
     "lacks cuPointerGetAttributes: it is no driver, or older than CUDA 11"},
    {"no device", DRIVER RUNTIME NCCL "STUB_CU_INIT=100",
     "there is no GPU here: NVIDIA's driver finds no device; NCCL", NULL},
    {"no device by the runtime", DRIVER RUNTIME NCCL "STUB_COUNT_ERROR=100",
     "there is no GPU here: NVIDIA's driver finds no device; NCCL", NULL},
    {"no device by the count", DRIVER RUNTIME NCCL "STUB_COUNT=0",
     "there is no GPU here: NVIDIA's driver finds no device; NCCL", NULL},
    {"all devices hidden", DRIVER RUNTIME NCCL "CUDA_VISIBLE_DEVICES= STUB_CU_INIT=100",
     "no GPU is visible: CUDA_VISIBLE_DEVICES is '', which hides all devices", NULL},
    {"all devices hidden by a number", DRIVER RUNTIME NCCL "CUDA_VISIBLE_DEVICES=7 STUB_COUNT=0",
     "no GPU is visible: CUDA_VISIBLE_DEVICES is '7', which hides all devices", NULL},
    {"a driver that was used before a fork", DRIVER RUNTIME NCCL "STUB_CU_INIT=3",
     "NVIDIA's driver (/",
     "(error 3): a child made by fork can't use GPUs that its parent has used"},
    {"a driver without its module", DRIVER RUNTIME NCCL "STUB_CU_INIT=803", "NVIDIA's driver (/",
     "and its kernel module are of different versions (error 803)"},
    {"a driver that fails", DRIVER RUNTIME NCCL "STUB_CU_INIT=999", "NVIDIA's driver (/",
     "does not start (error 999): see whether nvidia-smi shows the GPUs"},

    {"no runtime", DRIVER "MUSTER_CUDART_LIBRARY=/nowhere/libcudart.so.12 " NCCL,
     "the CUDA runtime that MUSTER_CUDART_LIBRARY names can't be opened "
     "(/nowhere/libcudart.so.12: ",
     "); NCCL 2.14.3"},
    {"a runtime that finds no driver", DRIVER RUNTIME NCCL "STUB_DRIVER_VERSION=0",
     "the CUDA runtime does not find NVIDIA's driver, which was found here; what was found of the "
     "runtime is 13.0 (/",
     NULL},
    {"a runtime that lacks a function", DRIVER "MUSTER_CUDART_LIBRARY=@runtime_short " NCCL, "/",
     "lacks cudaEventQuery: it is no CUDA runtime, or older than 11"},
    {"a driver too old for the runtime", DRIVER RUNTIME NCCL "STUB_DRIVER_VERSION=12020",
     "NVIDIA's driver is too old: it serves CUDA up to 12.2, and what was found of the runtime is "
     "13.0 (/",
     "update the driver, or name an older runtime in MUSTER_CUDART_LIBRARY; NCCL"},
    {"too old for all runtimes", DRIVER "LD_LIBRARY_PATH=% STUB_DRIVER_VERSION=10020 " NCCL,
     "NVIDIA's driver is too old: it serves CUDA up to 10.2, and what was found of the runtime is "
     "13.0 (/",
     "/libcudart.so.13), 12.4 (/"},
    {"the newest runtime that works", DRIVER "LD_LIBRARY_PATH=% STUB_DRIVER_VERSION=12060 " NCCL,
     NULL, "CUDA 12.4, driver's 12.6; /"},
    {"the newest runtime of all", DRIVER "LD_LIBRARY_PATH=% STUB_DRIVER_VERSION=13000 " NCCL, NULL,
     "CUDA 13.0, driver's 13.0; /"},
    {"the oldest runtime", DRIVER "LD_LIBRARY_PATH=% STUB_DRIVER_VERSION=11080 " NCCL, NULL,
     "CUDA 11.8, driver's 11.8; /"},

    {"no NCCL", DRIVER RUNTIME "MUSTER_NCCL_LIBRARY=/nowhere/libnccl.so.2",
     "there is no NCCL (/nowhere/libnccl.so.2: cannot open shared object file",
     "): install it, or name its file in MUSTER_NCCL_LIBRARY"},
    {"what is not NCCL", DRIVER RUNTIME "MUSTER_NCCL_LIBRARY=@nccl_short", "/",
     "is not NCCL: it has no ncclGetVersion"},
    {"NCCL that fails", DRIVER RUNTIME NCCL "STUB_NCCL_RESULT=3", "/", "does not tell its version"},
    {"NCCL 2.13", DRIVER RUNTIME NCCL "STUB_NCCL_VERSION=21304", "NCCL 2.13.4 (/",
     ") is older than 2.14, the first whose communicators can be made and ended within a time-out"},
    {"NCCL 2.8, whose numbers are shorter", DRIVER RUNTIME NCCL "STUB_NCCL_VERSION=2804",
     "NCCL 2.8.4 (/", ") is older than 2.14"},
    {"NCCL 3", DRIVER RUNTIME NCCL "STUB_NCCL_VERSION=30001", "NCCL 3.0.1 (/",
     ") is not of the 2.x that this backend knows"},
    {"NCCL 2.18 without what it should have", DRIVER RUNTIME NCCL "STUB_NCCL_VERSION=21801",
     "NCCL 2.18.1 (/", ") lacks ncclCommSplit, which NCCL has had since 2.18.0"},
    {"NCCL 2.17 needs no more than 2.14", DRIVER RUNTIME NCCL "STUB_NCCL_VERSION=21701", NULL,
     "/nccl.so"},
};

static bool row_fits(const probe_row *row, const char *sentence)
{
    size_t length = strlen(row->sentence);
    if (strncmp(sentence, row->sentence, length) != 0)
        return false;
    return row->also == NULL ||
           (row->also[0] == '\0' ? sentence[length] == '\0' : strstr(sentence, row->also) != NULL);
}

static void check_row(const probe_row *row)
{
    struct command child = {.pid = 0};
    said heard;
    run(&child, "probe", row->environment);
    ok(hear(&child, &heard), "%s: one line and nothing else", row->name);
    if (child.err[0] != '\0')
        diag("%s", child.err);
    is_str(heard.status, row->sentence == NULL ? "MUSTER_OK" : "MUSTER_ERR_UNAVAILABLE", "status");
    if (row->sentence == NULL) {
        ok(strncmp(heard.version, "2.1", 3) == 0, "the version of NCCL");
        has_str(heard.details, row->also, "details");
    } else {
        is_str(heard.version, "", "no version");
        if (!ok(row_fits(row, heard.sentence), "the reason"))
            diag("it said: %s", heard.sentence);
    }
    is_str(heard.left, "0 0", "no thread and no descriptor is left");
    command_free(&child);
}

static void put_on_shelf(const char *stub, const char *name)
{
    char from[PATH_MAX + 64], to[PATH_MAX + 64];
    snprintf(from, sizeof(from), "%s/%s.so", STUBS, stub);
    snprintf(to, sizeof(to), "%s/%s", shelf, name);
    if (symlink(from, to) != 0)
        bail_out("no link %s", to);
}

static void fill_shelf(void)
{
    const char *where = getenv("TMPDIR");
    snprintf(shelf, sizeof(shelf), "%s/muster-shelf-XXXXXX", where == NULL ? "/tmp" : where);
    if (mkdtemp(shelf) == NULL)
        bail_out("no folder %s", shelf);
    put_on_shelf("runtime13", "libcudart.so.13");
    put_on_shelf("runtime12", "libcudart.so.12");
    put_on_shelf("runtime11", "libcudart.so.11.0");
    put_on_shelf("nccl", "libnccl.so.2");
}

static void clear_shelf(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                        "libnccl.so.2"};
    char path[PATH_MAX + 64];
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", shelf, names[i]);
        unlink(path);
    }
    rmdir(shelf);
}

static void check_loaded(void)
{
    struct command child = {.pid = 0};
    said heard;
    run(&child, "loaded", DRIVER "LD_LIBRARY_PATH=% STUB_DRIVER_VERSION=13000 " NCCL);
    ok(hear(&child, &heard), "a runtime is loaded already");
    has_str(heard.details, "CUDA 12.4, driver's 13.0", "that one is used, though there is a newer");
    run(&child, "loaded", DRIVER "LD_LIBRARY_PATH=% STUB_DRIVER_VERSION=11080 " NCCL);
    ok(hear(&child, &heard), "one that the driver is too old for is loaded already");
    has_str(heard.details, "CUDA 11.8, driver's 11.8", "then one that works is looked for");
    command_free(&child);
}

static void check_again(void)
{
    struct command child = {.pid = 0};
    run(&child, "again", DRIVER RUNTIME NCCL);
    is_str(child.out,
           "ok|ok|MUSTER_ERR_UNAVAILABLE this process is a child, made by fork, of one that uses "
           "GPUs, and can't use them: make it before the parent does, or let it execute a program; "
           "NCCL 2.14.3 is here (" STUBS "/nccl.so)\n",
           "the same answer every time, but not in a child");
    run(&child, "again", DRIVER RUNTIME NCCL "STUB_COUNT=0");
    has_str(child.out, "no device; NCCL 2.14.3 is here (" STUBS "/nccl.so)|there is no GPU here",
            "the same reason every time");
    has_str(child.out, "MUSTER_ERR_UNAVAILABLE there is no GPU here", "and in a child");
    run(&child, "threads", DRIVER RUNTIME NCCL);
    is_str(child.out, "8 of 8\n", "eight threads probe at once");
    run(&child, "slow", DRIVER RUNTIME NCCL "STUB_CU_INIT_MS=3000");
    is_str(child.out,
           "NVIDIA's driver does not come back from being started: it hangs; see whether "
           "nvidia-smi shows the GPUs; NCCL 2.14.3 is here (" STUBS "/nccl.so)|in time|1|ok\n",
           "a driver that hangs is given up");
    run(&child, "in_use", DRIVER "STUB_CU_INIT=3");
    is_str(child.out, "0 0 0 -1 0 -1 1 1 0 0\n",
           "memory is the host's until something loads the driver, and where it does not start");
    command_free(&child);
}

/* NVIDIA's own libraries, if they are where the loader looks. */
static void check_real(void)
{
    struct command child = {.pid = 0};
    said heard;
    run(&child, "probe", "LC_ALL=C");
    run(&child, "probe", "LC_ALL=C"); /* the files are now in memory */
    ok(hear(&child, &heard), "with what this host has the probe says one line");
    diag("%s %s%s%s", heard.status, heard.version, heard.details, heard.sentence);
    diag("%s ms; threads and descriptors left: %s", heard.ms, heard.left);
    bool here = strcmp(heard.status, "MUSTER_OK") == 0;
    if (here) {
        skip(2, "there is a GPU, whose driver keeps descriptors");
    } else {
        is_str(heard.left, "0 0", "no thread and no descriptor is left");
        ok(atof(heard.ms) < (double)patient(50), "in less than 50 ms");
    }
    run(&child, "probe", "MUSTER_CUDA_LIBRARY=" TOOLKIT_STUB);
    hear(&child, &heard);
    if (access(TOOLKIT_STUB, R_OK) == 0)
        has_str(heard.sentence, TOOLKIT_STUB " is a stub for linking",
                "the toolkit's stub is known");
    else
        skip(1, "no toolkit with a stub of the driver");
    command_free(&child);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return be_child(argv[1]);
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        bail_out("no /proc");
    plan((int)COUNT(rows) * 5 + 4 + 6 + 4);
    fill_shelf();
    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(&rows[i]);
    check_loaded();
    check_again();
    check_real();
    clear_shelf();
    return done();
}
