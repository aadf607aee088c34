/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store in a file: its bytes, several processes, and what can happen to the file.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store.h"
#include "store_conformance.h"
#include "tap.h"

static char folder[512];

static const char *path_to(const char *name)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t size)
{
    int fd = open(path_to(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        bail_out("can't write %s", path_to(name));
    close(fd);
}

static muster_store *open_store(const char *name)
{
    muster_store *store = NULL;
    if (muster_store_file(&store, path_to(name)) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return store;
}

static void bad_input(void)
{
    muster_store *store = NULL;
    is_int(muster_store_file(NULL, path_to("x")), MUSTER_ERR_ARGUMENT, "a place is needed");
    is_int(muster_store_file(&store, NULL), MUSTER_ERR_ARGUMENT, "a path is needed");
    is_int(muster_store_file(&store, ""), MUSTER_ERR_ARGUMENT, "an empty one is none");
    is_int(muster_store_file(&store, folder), MUSTER_ERR_SYSTEM, "a folder is no file");
    is_int(muster_store_file(&store, "/dev/null"), MUSTER_ERR_ARGUMENT, "nor is a device");
    is_int(muster_store_file(&store, path_to("no/such/folder")), MUSTER_ERR_SYSTEM,
           "the folder must be there");
    has_str(muster_last_error(), "no/such/folder", "and is named");
    has_str(muster_last_error(), "there is no such folder; make it", "with what to do");
}

/* As somebody who may not, which root can't be. */
static void no_permission(void)
{
    char path[700];
    snprintf(path, sizeof(path), "%s/closed", folder);
    if (mkdir(path, 0) != 0)
        bail_out("can't make %s", path);
    pid_t child = fork();
    if (child == 0) {
        muster_store *store;
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(0);
        snprintf(path, sizeof(path), "%s/closed/x", folder);
        bool right = muster_store_file(&store, path) == MUSTER_ERR_SYSTEM &&
                     strstr(muster_last_error(), " may not; take a file that ") != NULL;
        _exit(!right);
    }
    int ended;
    waitpid(child, &ended, 0);
    ok(WIFEXITED(ended) && WEXITSTATUS(ended) == 0,
       "whoever may not open the file is told so, and what to take");
    rmdir(path);
}

/* The bytes that torch writes, from both ends. */
static void format(void)
{
    static const unsigned char expected[] = "\x02\0\0\0/k\x02\0\0\0v1"
                                            "\x02\0\0\0/n\x01\0\0\0"
                                            "7"
                                            "\x03\0\0\0-/k\0\0\0\0";
    unsigned char bytes[128];
    muster_store *store = open_store("format");
    muster_store_set(store, muster_str("k"), muster_str("v1"));
    muster_store_add(store, muster_str("n"), 7, NULL);
    muster_store_delete(store, muster_str("k"), NULL);
    int fd = open(path_to("format"), O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, bytes, sizeof(bytes));
    close(fd);
    ok(size == sizeof(expected) - 1 && memcmp(bytes, expected, sizeof(expected) - 1) == 0,
       "the bytes are those of torch");
    muster_store_free(store);

    static const char foreign[] = "\x08\0\0\0cleanup/\x01\0\0\0"
                                  "1"
                                  "\x02\0\0\0/a\x03\0\0\0one"
                                  "\x02\0\0\0/b\x03\0\0\0two"
                                  "\x03\0\0\0-/a\0\0\0\0";
    bool there = true;
    int64_t num_keys = 0;
    muster_blob key = muster_str("a");
    write_file("foreign", foreign, sizeof(foreign) - 1);
    store = open_store("foreign");
    ok(store_holds(store, "b", muster_str("two")), "what torch wrote is read");
    muster_store_check(store, &key, 1, &there);
    ok(!there, "with its deletions");
    muster_store_num_keys(store, &num_keys);
    is_int(num_keys, 2, "its counters are keys too");
    muster_store_free(store);
}

/* Files that are no store, or no longer: refused at once, never read for ever. */
static void corrupt(void)
{
    static const struct {
        const char *what;
        const char *bytes;
        size_t size;
    } cases[] = {
        {"a length cut short", "\x02\0\0", 3},
        {"a key cut short", "\x02\0\0\0/", 5},
        {"a missing value", "\x02\0\0\0/k", 6},
        {"a value cut short", "\x02\0\0\0/k\x05\0\0\0abcd", 14},
        {"a huge key", "\xff\xff\xff\xff/k\x01\0\0\0v", 11},
        {"a huge value", "\x02\0\0\0/k\xff\xff\xff\x7fv", 11},
        {"text", "this is a letter to somebody\n", 29},
        {"a second record cut short", "\x02\0\0\0/k\x01\0\0\0v\x02\0\0\0", 15},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        muster_store *store = NULL;
        write_file("corrupt", cases[i].bytes, cases[i].size);
        is_int(muster_store_file(&store, path_to("corrupt")), MUSTER_ERR_PROTOCOL, "%s is refused",
               cases[i].what);
        has_str(muster_last_error(), "/corrupt", "with the path");
    }
}

static void *remove_later(void *name)
{
    pause_ms(50);
    unlink(path_to(name));
    return NULL;
}

/* A rank of torch writes what another waits for, and is the last that torch counts. */
static void last_words(void)
{
    static const char words[] = "\x02\0\0\0/k\x01\0\0\0v"
                                "\x08\0\0\0cleanup/\x01\0\0\0"
                                "2";
    bool there = false;
    muster_blob keys[] = {muster_str("k"), muster_str("x")};
    muster_store *store = open_store("last");
    write_file("last", words, sizeof(words) - 1);
    unlink(path_to("last"));
    ok(store_holds(store, "k", muster_str("v")), "what the file held in the end is read");
    muster_store_check(store, keys, 1, &there);
    ok(there, "and found");
    is_int(muster_store_wait(store, keys, 2, 5000), MUSTER_ERR_NOT_FOUND, "no more will come");
    has_str(muster_last_error(), "closed (2 here)", "and torch is what removed it");
    is_int(muster_store_check(store, keys, 2, &there), MUSTER_ERR_NOT_FOUND, "nor by asking");
    is_int(muster_store_num_keys(store, &(int64_t){0}), MUSTER_ERR_NOT_FOUND, "nor counting");
    muster_store_free(store);
}

/* torch writes values of any size. */
static void long_record(void)
{
    size_t size = (9 << 20) + 10;
    unsigned char *record = calloc(1, size);
    void *value = NULL;
    size_t got = 0;
    memcpy(record, "\x02\0\0\0/k\0\0\x90\0", 10);
    record[size - 1] = 'z';
    write_file("long", record, size);
    muster_store *store = open_store("long");
    is_int(muster_store_get(store, muster_str("k"), 0, &value, &got), MUSTER_OK,
           "a value is read that is longer than ours may be");
    ok(got == 9 << 20 && ((char *)value)[got - 1] == 'z', "all of it");
    muster_free(value);
    muster_store_free(store);
    free(record);
}

/* user case 7 b: the file is removed while a rank waits. */
/* The kernel raises a signal that ends the process, unless muster holds it back. */
static void limited(void)
{
    static char value[5000];
    struct rlimit least, before;
    muster_store *store = open_store("limited");
    memset(value, 'x', sizeof(value) - 1);
    getrlimit(RLIMIT_FSIZE, &before);
    least = before;
    least.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &least);
    muster_status status = muster_store_set(store, muster_str("a"), muster_str(value));
    setrlimit(RLIMIT_FSIZE, &before);
    is_int(status, MUSTER_ERR_SYSTEM, "a file that may not be so large");
    has_str(muster_last_error(), "which ulimit -f does not allow", "is said");
    is_int(muster_store_set(store, muster_str("a"), muster_str("b")), MUSTER_OK,
           "and what was written of it is gone");
    muster_store_free(store);
}

static void removed(void)
{
    pthread_t thread;
    void *data;
    size_t size;
    char name[] = "removed";
    muster_store *store = open_store(name);
    pthread_create(&thread, NULL, remove_later, name);
    long long start = now_ms();
    is_int(muster_store_get(store, muster_str("k"), 5000, &data, &size), MUSTER_ERR_NOT_FOUND,
           "a file that vanishes ends the wait");
    ok(now_ms() - start < patient(1000), "at once");
    has_str(muster_last_error(), "/removed", "with its path");
    pthread_join(thread, NULL);
    is_int(muster_store_set(store, muster_str("k"), muster_str("v")), MUSTER_ERR_NOT_FOUND,
           "it is not made anew");
    write_file("removed", "", 0);
    is_int(muster_store_set(store, muster_str("k"), muster_str("v")), MUSTER_ERR_NOT_FOUND,
           "nor is another one in its place taken");
    muster_store_free(store);
    last_words();

    store = open_store("cut");
    muster_store_set(store, muster_str("k"), muster_str("v"));
    muster_store_num_keys(store, &(int64_t){0});
    write_file("cut", "", 0);
    is_int(muster_store_wait(store, &(muster_blob){"x", 1}, 1, 2000), MUSTER_ERR_PROTOCOL,
           "a file that was cut is said so");
    muster_store_free(store);
}

static void locked(void)
{
    muster_store *store = open_store("locked");
    int fd = open(path_to("locked"), O_RDWR | O_CLOEXEC);
    void *data;
    size_t size;
    flock(fd, LOCK_EX);
    long long start = now_ms();
    is_int(muster_store_get(store, muster_str("k"), 300, &data, &size), MUSTER_ERR_TIMEOUT,
           "a lock that somebody keeps ends in a time-out");
    long long took = now_ms() - start;
    ok(took >= 300 && took < patient(500), "in time");
    has_str(muster_last_error(), "locked", "that says so");
    close(fd);
    muster_store_free(store);
}

/* user case 7 a: a second user of the file does not mind that the first has gone. */
static void two_owners(void)
{
    muster_store *one = open_store("owners"), *two = open_store("owners"), *a = NULL, *b = NULL;
    muster_store_prefix(&a, one, "a");
    muster_store_prefix(&b, two, "b");
    muster_store_set(a, muster_str("k"), muster_str("of a"));
    muster_store_free(a);
    muster_store_free(one);
    ok(muster_store_set(b, muster_str("k"), muster_str("of b")) == MUSTER_OK &&
           store_holds(b, "k", muster_str("of b")) && store_holds(two, "a/k", muster_str("of a")),
       "one owner goes, the other goes on");
    muster_store_free(b);
    muster_store_free(two);
}

/* One of several processes: adds, and waits for the others. */
static int writer(const char *path, int rank, int size, int adds)
{
    muster_store *store = NULL;
    char name[32];
    muster_blob key;
    bool right = muster_store_file(&store, path) == MUSTER_OK;
    for (int i = 0; right && i < adds; i++)
        right = muster_store_add(store, muster_str("n"), 1, NULL) == MUSTER_OK;
    snprintf(name, sizeof(name), "rank %d", rank);
    right = right && muster_store_set(store, muster_str(name), muster_str("x")) == MUSTER_OK;
    for (int i = 0; right && i < size; i++) {
        snprintf(name, sizeof(name), "rank %d", i);
        key = muster_str(name);
        right = muster_store_wait(store, &key, 1, 10000) == MUSTER_OK;
    }
    int64_t sum = 0;
    right = right && muster_store_add(store, muster_str("n"), 0, &sum) == MUSTER_OK &&
            sum == (int64_t)size * adds;
    if (!right)
        diag("rank %d: sum %lld, %s", rank, (long long)sum, muster_last_error());
    muster_store_free(store);
    return right ? 0 : 1;
}

static bool run_writers(const char *path, int size, int adds)
{
    bool right = true;
    for (int rank = 0; rank < size; rank++)
        if (fork() == 0)
            _exit(writer(path, rank, size, adds));
    for (int rank = 0; rank < size; rank++) {
        int status;
        wait(&status);
        right = right && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return right;
}

/* user case 7 d: all ranks make the file at the same instant. */
static void processes(void)
{
    int right = 0;
    ok(run_writers(path_to("many"), 4, 100), "no add of four processes is lost");
    for (int round = 0; round < 100; round++) {
        char name[32];
        snprintf(name, sizeof(name), "round %d", round);
        right += run_writers(path_to(name), 4, 1);
        unlink(path_to(name));
    }
    is_int(right, 100, "100 times a new file");
}

static bool child_adds(muster_store *store)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(muster_store_add(store, muster_str("child"), 2, NULL) != MUSTER_OK ||
              !store_holds(store, "n", muster_str("400")));
    waitpid(child, &status, 0);
    return status == 0;
}

static void forked(void)
{
    int64_t sum = 0;
    muster_store *store = open_store("many");
    muster_store_add(store, muster_str("child"), 1, NULL);
    ok(child_adds(store), "a forked child goes on with the store");
    muster_store_add(store, muster_str("child"), 0, &sum);
    is_int(sum, 3, "and its parent sees what it did");
    muster_store_free(store);
}

static atomic_bool reading;

static void *read_on(void *store)
{
    int64_t num_keys;
    while (atomic_load(&reading) && muster_store_num_keys(store, &num_keys) == MUSTER_OK)
        pause_ms(1);
    return NULL;
}

static void *set_later(void *store)
{
    pause_ms(30);
    muster_store_set(store, muster_str("late"), muster_str("x"));
    return NULL;
}

/* One thread waits, and what it waits for is read from the file by another one first. */
static void two_threads(void)
{
    pthread_t reader, writer;
    muster_blob key = muster_str("late");
    muster_store *store = open_store("threads"), *other = open_store("threads");
    long long longest = 0;
    atomic_store(&reading, true);
    pthread_create(&reader, NULL, read_on, store);
    for (int round = 0; round < 10; round++) {
        long long start = now_ms();
        pthread_create(&writer, NULL, set_later, other);
        muster_store_wait(store, &key, 1, patient(2000));
        longest = now_ms() - start > longest ? now_ms() - start : longest;
        pthread_join(writer, NULL);
        muster_store_delete(other, key, NULL);
    }
    atomic_store(&reading, false);
    pthread_join(reader, NULL);
    ok(longest < patient(2000), "a wait ends though another thread has read on (%lld ms)", longest);
    muster_store_free(store);
    muster_store_free(other);
}

static void relative_path(void)
{
    char before[512];
    muster_store *store = NULL;
    if (getcwd(before, sizeof(before)) == NULL || chdir(folder) != 0)
        bail_out("can't go to %s", folder);
    muster_store_file(&store, "relative");
    if (chdir(before) != 0)
        bail_out("can't go back to %s", before);
    is_int(muster_store_set(store, muster_str("k"), muster_str("v")), MUSTER_OK,
           "a relative path is that of the moment when the store was made");
    is_str(store_describe(store), "file store relative", "and is what messages call it");
    muster_store_free(store);
}

static int num_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void take_warning(void *user, muster_log_level level, const char *line)
{
    (void)level;
    snprintf(user, 512, "%s", line);
}

/* user case 56, for files: the job's user and nobody else. */
static void who_may_read(void)
{
    char warning[512] = "";
    struct stat found;
    mode_t before = umask(0);
    muster_set_log(take_warning, warning, MUSTER_LOG_WARNING);
    muster_store *store = open_store("private");
    ok(stat(path_to("private"), &found) == 0 && (found.st_mode & 07777) == 0600,
       "the file that a store makes is its user's alone");
    is_str(warning, "", "which is nothing to warn of");
    muster_store_free(store);
    write_file("shared", "", 0);
    chmod(path_to("shared"), 0640);
    muster_store_free(open_store("shared"));
    ok(stat(path_to("shared"), &found) == 0 && (found.st_mode & 07777) == 0640,
       "one that was there keeps its mode");
    is_str(warning, "", "even where others may read it");
    chmod(path_to("shared"), 0666);
    muster_store_free(open_store("shared"));
    has_str(warning, "every user of the machine may change it (its mode is 666)",
            "where others may write the log warns");
    muster_set_log(NULL, NULL, MUSTER_LOG_NONE);
    umask(before);
    unlink(path_to("private"));
    unlink(path_to("shared"));
}

int main(void)
{
    const char *parent = getenv("TMPDIR");
    char command[600];
    plan(2 * STORE_CONFORMANCE_POINTS + 65);
    snprintf(folder, sizeof(folder), "%s/muster-file-XXXXXX", parent == NULL ? "/tmp" : parent);
    if (mkdtemp(folder) == NULL)
        bail_out("no folder %s", folder);
    int before = num_descriptors();
    bad_input();
    no_permission();
    who_may_read();
    format();
    corrupt();
    long_record();
    limited();
    removed();
    locked();
    two_owners();
    processes();
    forked();
    two_threads();
    relative_path();
    muster_store *one = open_store("one"), *two = open_store("one");
    store_conformance(one, two, "file");
    muster_store_free(one);
    muster_store_free(two);
    one = open_store("prefixed");
    muster_store_prefix(&two, one, "p");
    store_conformance(two, two, "prefix over file");
    is_int(muster_store_port(two), -1, "there is no port");
    muster_store_free(one);
    muster_store_free(two);
    is_int(num_descriptors(), before, "no descriptor is left");
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ok(system(command) == 0, "the folder is removed");
    return done();
}
