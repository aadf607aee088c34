/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster: assembles the ranks of a job into process groups and gathers what they carry.
 *
 * A program that runs on many ranks calls muster_init_process_group() on each of them, gets a
 * muster_group, and calls collectives on it. Groups run on a backend: "gloo" between processes and
 * hosts, "local" for one rank. All of it is reached through this header.
 *
 * Conventions that hold for every function here:
 *
 * Errors. A function that can fail returns a muster_status. After anything but MUSTER_OK,
 * muster_last_error() gives one sentence for the calling thread: what was wrong, where, and what to
 * do. Nothing is printed, nothing exits. On failure no output argument is written, unless its
 * description says otherwise.
 *
 * Ownership. What a function returns through a pointer belongs to the caller, who frees it with the
 * _free function of its type. Every _free function accepts NULL. What a caller passes in stays the
 * caller's and is not needed after the call, except the buffers of an asynchronous operation, which
 * must live until its muster_work is done.
 *
 * Structs that the caller fills begin with struct_size, set by the initialiser macro of the type,
 * so that a program built against an older header keeps working with a newer library.
 *
 * Threads. Any function may be called from any thread, several at once on one group too.
 * Collectives of one group are carried out one after the other in the order in which they were
 * issued, whatever thread issued them; that order must be the same on all ranks, so threads that
 * share a group agree on it among themselves. Messages between two ranks, and different groups,
 * wait for nothing of that. What frees an object must be the last call on it.
 *
 * Time-outs. Every wait is bounded, in milliseconds. Each group has a time-out; a call that exceeds
 * it returns MUSTER_ERR_TIMEOUT and names the ranks that it was waiting for.
 *
 * Fork. In a child process a group of its parent may be freed, which releases memory and sends
 * nothing; every other call on it returns MUSTER_ERR_FORKED. New groups may be made.
 */
#ifndef MUSTER_H
#define MUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MUSTER_API __attribute__((visibility("default")))
#else
#define MUSTER_API
#endif

/* ---- Version ------------------------------------------------------------------------------- */

#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 1
#define MUSTER_VERSION_PATCH 0

/* The version of the library found at run time, as "0.1.0". Never NULL, never freed. */
MUSTER_API const char *muster_version(void);

/* ---- Errors -------------------------------------------------------------------------------- */

/* XX(name, number, text). Numbers are part of the ABI and never change. */
#define MUSTER_STATUS_MAP(XX)                                                                      \
    XX(OK, 0, "success")                                                                           \
    XX(ERR_ARGUMENT, 1, "an argument is wrong")                                                    \
    XX(ERR_NO_MEMORY, 2, "out of memory")                                                          \
    XX(ERR_TIMEOUT, 3, "timed out")                                                                \
    XX(ERR_NOT_FOUND, 4, "not found")                                                              \
    XX(ERR_EXISTS, 5, "already exists")                                                            \
    XX(ERR_MISMATCH, 6, "the ranks disagree")                                                      \
    XX(ERR_UNSUPPORTED, 7, "not supported")                                                        \
    XX(ERR_UNAVAILABLE, 8, "not available here")                                                   \
    XX(ERR_NOT_MEMBER, 9, "this process is not a member of the group")                             \
    XX(ERR_PEER_LOST, 10, "a rank was lost")                                                       \
    XX(ERR_FAILED, 11, "the group has failed")                                                     \
    XX(ERR_REMOTE, 12, "another rank reported an error")                                           \
    XX(ERR_SYSTEM, 13, "the operating system refused a call")                                      \
    XX(ERR_PROTOCOL, 14, "a peer sent what was not understood")                                    \
    XX(ERR_FORKED, 15, "the group belongs to the parent of this process")                          \
    XX(ERR_INTERNAL, 16, "a fault inside the library or a backend")

typedef enum muster_status {
#define MUSTER_STATUS_ENUM(name, number, text) MUSTER_##name = number,
    MUSTER_STATUS_MAP(MUSTER_STATUS_ENUM)
#undef MUSTER_STATUS_ENUM
} muster_status;

/* The name ("MUSTER_ERR_TIMEOUT") and the short text of a status; for a number that is none,
 * "unknown status". Never NULL, never freed. */
MUSTER_API const char *muster_status_name(muster_status status);
MUSTER_API const char *muster_status_text(muster_status status);

/*
 * The sentence of the last call that failed on this thread: group, rank, operation, cause and what
 * to do. Empty before the first failure. Valid until the next failure on this thread; calls that
 * succeed leave it alone.
 */
MUSTER_API const char *muster_last_error(void);

/*
 * Tells the launcher why this process is going to fail, for a program to call before it exits; NULL
 * is muster_last_error(). torchrun (TORCHELASTIC_ERROR_FILE) then shows the sentence, and the
 * earliest one of all ranks as the root cause. The first report of a process counts. Under other
 * launchers nothing happens. muster itself never calls it.
 */
MUSTER_API muster_status muster_report_failure(const char *sentence);

/*
 * Compares two version strings number by number: *order becomes negative, 0 or positive as a is
 * older than, the same as or newer than b. "2.10" is newer than "2.6"; missing numbers count as 0;
 * a pre-release ("2.6.0rc1", "2.6.0a2", "2.6.0.dev3") is older than its release; a leading "v", a
 * local part behind "+" and a packager's revision behind "-" do not count. MUSTER_ERR_ARGUMENT for
 * text that is not a version and for numbers over 2^31-1.
 */
MUSTER_API muster_status muster_version_compare(const char *a, const char *b, int *order);

/* ---- Log ----------------------------------------------------------------------------------- */

typedef enum muster_log_level {
    MUSTER_LOG_NONE = 0, /* the default: nothing is ever printed */
    MUSTER_LOG_WARNING = 1,
    MUSTER_LOG_INFO = 2,
    MUSTER_LOG_DEBUG = 3
} muster_log_level;

/* Receives one line without a newline. Called from any thread, never while a lock of a group is
 * held; must not call muster. */
typedef void (*muster_log_fn)(void *user, muster_log_level level, const char *line);

/*
 * Sends log lines up to level to fn; fn NULL writes them to stderr. Without this call the
 * environment decides: MUSTER_LOG=warning, info or debug writes to stderr, and unset is silence.
 */
MUSTER_API void muster_set_log(muster_log_fn fn, void *user, muster_log_level level);

/* ---- Bytes --------------------------------------------------------------------------------- */

/* A run of bytes that somebody else owns. data may be NULL where size is 0. */
typedef struct muster_blob {
    const void *data;
    size_t size;
} muster_blob;

/* The bytes of a C string, without its terminator. */
static inline muster_blob muster_str(const char *text)
{
    muster_blob blob = {text, text == NULL ? 0 : strlen(text)};
    return blob;
}

/* Frees bytes that a function of this library returned. */
MUSTER_API void muster_free(void *data);

/* ---- Options ------------------------------------------------------------------------------- */

/*
 * Settings by name, such as "gloo.iface". Each backend declares its own with a type, a default, the
 * first and last version that know it, and older names that are still understood. They are checked
 * against the backend as found at run time when a group is made: unknown names are refused with the
 * nearest known one suggested, ill-typed values are refused, and one that the backend found is too
 * old for is refused with the version that it needs, or dropped with a warning where it was marked
 * optional. An optional one of a backend that is not there at all is dropped in the same way.
 *
 * The same option may come from three places; the stronger wins: a muster_options object, the text
 * in muster_init_args.options, the environment variable MUSTER_OPTIONS.
 */
typedef struct muster_options muster_options;

MUSTER_API muster_status muster_options_new(muster_options **options);
MUSTER_API void muster_options_free(muster_options *options);

/* Sets name to value, both copied; a later call for the same name replaces the earlier. The name
 * with a '?' behind it ("nccl.max_ctas?") marks the option optional. Names and values are checked
 * when a group is made, since only then is it known which backend they meet. */
MUSTER_API muster_status muster_options_set(muster_options *options, const char *name,
                                            const char *value);

/*
 * Sets several from text: "gloo.iface=eth0,gloo.hostname=10.0.0.1". A part between commas that
 * holds no '=', or begins with one, continues the value before it, so that "gloo.iface=^lo,docker"
 * is one option. Spaces around names, values and commas do not count; a value in double quotes is
 * taken as it stands. On an error nothing is set.
 */
MUSTER_API muster_status muster_options_parse(muster_options *options, const char *text);

/* *value is the value set for name, valid until the next change; MUSTER_ERR_NOT_FOUND if it is not
 * set. */
MUSTER_API muster_status muster_options_get(const muster_options *options, const char *name,
                                            const char **value);

/* ---- Stores -------------------------------------------------------------------------------- */

/*
 * A key-value store is how ranks find each other before they are connected. Keys and values are
 * bytes, zeros included. A store may be shared by threads; a group that is made over a store keeps
 * it alive by itself, so the caller may free it at any time.
 *
 * Limits: keys up to 8,191 bytes, prefixes included; values up to 8 MiB; 131,072 keys in one call.
 * timeout_ms: how long to wait for a key; 0 looks once. Never negative.
 */
typedef struct muster_store muster_store;

/* A store inside this process, for groups whose ranks are threads. */
MUSTER_API muster_status muster_store_hash(muster_store **store);

/* A store in one file on a folder that all ranks share, in the format of torch's FileStore. The
 * file is created where it is missing, for its user alone (mode 600), and stays; remove it when the
 * job is over. */
MUSTER_API muster_status muster_store_file(muster_store **store, const char *path);

typedef struct muster_tcp_store_args {
    size_t struct_size;
    /* Name or numeric address, IPv4 or IPv6; where to listen, and to connect to. */
    const char *host;
    int port;      /* 0 with listen: any free port, see muster_store_port */
    bool listen;   /* host the server in this process, on exactly that address; of a name on
                      all of its addresses that this host has, with one port */
    int listen_fd; /* a socket that listens already, or -1; a store that is made takes it over */
    int64_t timeout_ms; /* for connecting, and for each answer */
} muster_tcp_store_args;
#define MUSTER_TCP_STORE_ARGS_INIT                                                                 \
    {                                                                                              \
        sizeof(muster_tcp_store_args), NULL, 0, false, -1, 300000                                  \
    }

/*
 * A store on a TCP server that speaks the protocol of torch's TCPStore. The server of a store that
 * is freed goes on in the background while other clients are connected, and ends with the last of
 * them or with the process.
 *
 * Torch has changed the protocol with 2.1 and with 2.2. Clients of every torch since 1.13 may come
 * to one server of muster at the same time. A client of muster finds out what the server speaks;
 * the environment variable MUSTER_STORE_FAMILY tells it instead (a version of torch: 1.13, 2.1,
 * 2.2), and is read when a store is opened. Who answers as no store does is MUSTER_ERR_PROTOCOL,
 * with what was answered. Each store that is opened counts itself in the server's key "init/", as
 * torch's clients do: a rank of torch that hosts waits until its world has come.
 *
 * Where the environment variable MUSTER_JOB_SECRET is set, client and server prove to each other
 * that they know it before anything else is said, and whoever does not, every client of torch
 * included, is turned away; MUSTER_ERR_MISMATCH for a client that has another one, or none, or one
 * where the server has none. It is read when a store is opened: 16 to 1,024 characters.
 * MUSTER_ERR_UNSUPPORTED where muster was built without libsodium. Nothing is encrypted by this;
 * README.md says under "Who gets in" what it protects and what not.
 */
MUSTER_API muster_status muster_store_tcp(muster_store **store, const muster_tcp_store_args *args);

/* The same store seen through a prefix: key k is "<prefix>/k" in parent. Keeps parent alive. */
MUSTER_API muster_status muster_store_prefix(muster_store **store, muster_store *parent,
                                             const char *prefix);

MUSTER_API void muster_store_free(muster_store *store);

/* The port of a tcp store (through prefixes too), or -1. */
MUSTER_API int muster_store_port(const muster_store *store);

MUSTER_API muster_status muster_store_set(muster_store *store, muster_blob key, muster_blob value);

/* Waits for key and returns its value in memory that muster_free() frees; *value is never NULL. */
MUSTER_API muster_status muster_store_get(muster_store *store, muster_blob key, int64_t timeout_ms,
                                          void **value, size_t *size);

/* Adds delta to the decimal number at key, which counts as 0 where it is missing. */
MUSTER_API muster_status muster_store_add(muster_store *store, muster_blob key, int64_t delta,
                                          int64_t *sum);

/*
 * Stores desired where key holds expected, or is missing and expected is empty. *value then is what
 * key holds afterwards (memory for muster_free), so the call changed something if that is desired.
 * Where key is missing and expected is not empty nothing is stored and *value is expected, as with
 * torch.
 */
MUSTER_API muster_status muster_store_compare_set(muster_store *store, muster_blob key,
                                                  muster_blob expected, muster_blob desired,
                                                  void **value, size_t *size);

/* *all_there tells whether every one of the keys exists. */
MUSTER_API muster_status muster_store_check(muster_store *store, const muster_blob *keys,
                                            size_t num_keys, bool *all_there);

/* Waits until all keys exist; the sentence after MUSTER_ERR_TIMEOUT names those that are not
 * there. */
MUSTER_API muster_status muster_store_wait(muster_store *store, const muster_blob *keys,
                                           size_t num_keys, int64_t timeout_ms);

/* Deletes key; *existed, where not NULL, tells whether it was there. */
MUSTER_API muster_status muster_store_delete(muster_store *store, muster_blob key, bool *existed);

/* The number of keys in the store as a whole, also when asked through a prefix. */
MUSTER_API muster_status muster_store_num_keys(muster_store *store, int64_t *num_keys);

/* Waits for all keys and returns their values in one block of memory: values[i] points into it. The
 * one muster_free(*values) frees all of it. */
MUSTER_API muster_status muster_store_multi_get(muster_store *store, const muster_blob *keys,
                                                size_t num_keys, int64_t timeout_ms,
                                                muster_blob **values);

MUSTER_API muster_status muster_store_multi_set(muster_store *store, const muster_blob *keys,
                                                const muster_blob *values, size_t num_keys);

/* ---- Process groups ------------------------------------------------------------------------ */

typedef struct muster_group muster_group;

#define MUSTER_TIMEOUT_DEFAULT (-1) /* 30 minutes for a new world, the parent's for a sub-group */

/* The arguments of muster_init_process_group. All ranks of a group pass the same, but for rank. */
typedef struct muster_init_args {
    size_t struct_size;
    /* "auto" or NULL: the best backend that every rank has. "gloo", "local", "cpu:gloo": exactly
     * that, or an error that says why not; so is "nccl", for which there is no backend yet. */
    const char *backend;
    /* How ranks meet; NULL is "env://".
     *
     * env:// takes rank and world size from the variables of whatever started the process (RANK and
     * WORLD_SIZE; those of Open MPI, MPICH, Slurm, Flux, ...), and meets at MASTER_ADDR and
     * MASTER_PORT, else at an address that the launcher lets the ranks agree on; see
     * muster_describe_launcher. With no launcher and neither rank nor world_size given this process
     * is the one rank of a world of one.
     *
     * tcp://host:port is where rank 0 listens and the others connect; tcp://[::1]:29500 for IPv6.
     *
     * file:///path is one file on a folder that all ranks share.
     *
     * Behind the last two rank and world_size may stand: tcp://10.0.0.1:29500?rank=0&world_size=4.
     * Where neither is given, there or below, they are the launcher's.
     */
    const char *init_method;
    int64_t timeout_ms;     /* for making the group and for each operation on it; > 0 */
    int world_size;         /* -1: as init_method says */
    int rank;               /* -1: as init_method says */
    muster_store *store;    /* instead of init_method; then rank and world_size must be given */
    const char *group_name; /* NULL is "world"; groups that live at the same time differ in it */
    union {
        const muster_options *backend_options;
        const muster_options *pg_options; /* what backend_options was called before */
    };
    const char *options; /* as for muster_options_parse, or NULL */
} muster_init_args;
#define MUSTER_INIT_ARGS_INIT                                                                      \
    {                                                                                              \
        sizeof(muster_init_args), NULL, NULL, MUSTER_TIMEOUT_DEFAULT, -1, -1, NULL, NULL, {NULL},  \
            NULL                                                                                   \
    }

/*
 * Makes a process group; collective over its ranks. May be called any number of times in one
 * process, with different names, sizes, backends and members, from several threads at once. args
 * NULL takes every default. The group is handed over on all ranks or on none: each rank has found
 * every other where it should be, over the backend, before any returns MUSTER_OK.
 */
MUSTER_API muster_status muster_init_process_group(muster_group **group,
                                                   const muster_init_args *args);

/* What groups made of groups have in common. NULL where one is asked for takes every default. */
typedef struct muster_group_args {
    size_t struct_size;
    const char *backend;    /* NULL: the parent's */
    int64_t timeout_ms;     /* MUSTER_TIMEOUT_DEFAULT: the parent's */
    const char *group_name; /* NULL: made from parent, members and a count that they share */
    union {
        const muster_options *backend_options; /* on top of the parent's */
        const muster_options *pg_options;
    };
    const char *options;
} muster_group_args;
#define MUSTER_GROUP_ARGS_INIT                                                                     \
    {                                                                                              \
        sizeof(muster_group_args), NULL, MUSTER_TIMEOUT_DEFAULT, NULL, {NULL}, NULL                \
    }

/*
 * Makes a group of the parent's ranks ranks[0..num_ranks), in that order: ranks[i] becomes rank i.
 * Only its members need to call; a caller that is not among them gets MUSTER_ERR_NOT_MEMBER and
 * *group NULL, which every function here answers with MUSTER_ERR_NOT_MEMBER and muster_group_free()
 * accepts.
 */
MUSTER_API muster_status muster_new_group(muster_group *parent, const int *ranks, size_t num_ranks,
                                          const muster_group_args *args, muster_group **group);

/*
 * Makes num_lists disjoint groups at once; collective over the parent, with the same lists
 * everywhere. lists[i] has sizes[i] ranks of the parent. *group is the one that the caller is in; a
 * caller in none gets MUSTER_OK with *group NULL.
 */
MUSTER_API muster_status muster_new_subgroups_by_enumeration(muster_group *parent,
                                                             const int *const *lists,
                                                             const size_t *sizes, size_t num_lists,
                                                             const muster_group_args *args,
                                                             muster_group **group);

#define MUSTER_NO_COLOR (-1)

/*
 * Splits the parent: ranks of one color (>= 0) form a group, ordered by key, then by rank in the
 * parent. Collective over the parent. A caller of MUSTER_NO_COLOR gets MUSTER_OK with *group NULL.
 */
MUSTER_API muster_status muster_group_split(muster_group *parent, int color, int key,
                                            const muster_group_args *args, muster_group **group);

/*
 * Makes the two families of sub-groups that tensor and data parallelism need: with size 4 in a
 * world of 8, regular are {0,1,2,3} and {4,5,6,7}, orthogonal are {0,4}, {1,5}, {2,6} and {3,7}.
 * Collective over world, which may be any group. backend NULL is that of world. size must be at
 * least 1 and divide the size of world. Both groups are tested before they are handed over; all
 * ranks succeed or none does.
 */
MUSTER_API muster_status muster_create_sub_group(muster_group *world, size_t size,
                                                 const char *backend, muster_group **regular,
                                                 muster_group **orthogonal);

/*
 * Makes a group of the ranks of the parent that are not among failed_ranks, in their order, over
 * the parent's store: what a job goes on with when ranks were lost. The parent may have failed, and
 * stays as it is; whoever hosts its store must be among the survivors. Collective over them, all
 * with the same set; ranks that name others are told so with MUSTER_ERR_MISMATCH, a survivor that
 * does not come is named after the time-out. num_failed may be 0. A caller that is among the failed
 * gets MUSTER_ERR_NOT_MEMBER and *group NULL.
 */
MUSTER_API muster_status muster_group_shrink(muster_group *parent, const int *failed_ranks,
                                             size_t num_failed, const muster_group_args *args,
                                             muster_group **group);

/*
 * Leaves the group and frees it; never waits for other ranks longer than a second. The others can
 * go on with their own sub-groups; an operation of theirs that needs this rank fails. A group and
 * those made of it do not need each other: they may be freed in any order.
 */
MUSTER_API void muster_group_free(muster_group *group);

/* The caller's rank in the group and the number of its ranks; -1 for NULL. */
MUSTER_API int muster_group_rank(const muster_group *group);
MUSTER_API int muster_group_size(const muster_group *group);

/*
 * Where the caller stands among the group's ranks of its own host, and its host among the group's:
 * local rank, number of local ranks, rank of the host (in the order of their lowest ranks) and
 * number of hosts. Found by what the ranks say of their hosts, not by the launcher's variables. -1
 * for NULL.
 */
MUSTER_API int muster_group_local_rank(const muster_group *group);
MUSTER_API int muster_group_local_size(const muster_group *group);
MUSTER_API int muster_group_node_rank(const muster_group *group);
MUSTER_API int muster_group_num_nodes(const muster_group *group);

/* The group's name, its backend ("gloo") and its time-out in ms; "", "" and -1 for NULL. The
 * strings live as long as the group. */
MUSTER_API const char *muster_group_name(const muster_group *group);
MUSTER_API const char *muster_group_backend(const muster_group *group);
MUSTER_API int64_t muster_group_timeout(const muster_group *group);

/* Changes the time-out (> 0) for later operations of this rank. */
MUSTER_API muster_status muster_group_set_timeout(muster_group *group, int64_t timeout_ms);

/*
 * Translate ranks. Roots and peers are ranks of the group in every call of this library. The parent
 * is the group that this one was made of, the world the one at the top; a group made by
 * muster_init_process_group is its own parent and world. MUSTER_ERR_NOT_FOUND: no such member.
 */
MUSTER_API muster_status muster_group_rank_to_parent(const muster_group *group, int rank,
                                                     int *parent_rank);
MUSTER_API muster_status muster_group_rank_from_parent(const muster_group *group, int parent_rank,
                                                       int *rank);
MUSTER_API muster_status muster_group_rank_to_world(const muster_group *group, int rank,
                                                    int *world_rank);
MUSTER_API muster_status muster_group_rank_from_world(const muster_group *group, int world_rank,
                                                      int *rank);

/* The host name of a rank; NULL for a rank that is none. Lives as long as the group. */
MUSTER_API const char *muster_group_host(const muster_group *group, int rank);

/* Payload and header bytes that this rank has sent to others, and received from them, through the
 * group. */
MUSTER_API muster_status muster_group_traffic(const muster_group *group, uint64_t *sent,
                                              uint64_t *received);

/* MUSTER_OK while the group works, else the status of its first failure with its sentence. */
MUSTER_API muster_status muster_group_check(muster_group *group);

/*
 * Breaks the group off, from any thread: calls on it that wait return at once with
 * MUSTER_ERR_FAILED, here and on the other ranks, whose sentence names this rank. The group has
 * failed from then on and is still to be freed. Takes up to a second where the store does not
 * answer; those that waited are let go before. A group that has failed already stays as it is.
 */
MUSTER_API muster_status muster_group_abort(muster_group *group);

/*
 * The same from a signal handler: muster_group_abort_from_signal() is async-signal-safe, and has
 * the group broken off by a thread that muster_group_allow_abort_from_signal() has started before.
 * Without that it does nothing, as in a fork's child and for NULL. A handler must not run any more
 * for a group that is being freed.
 */
MUSTER_API muster_status muster_group_allow_abort_from_signal(muster_group *group);
MUSTER_API void muster_group_abort_from_signal(muster_group *group);

/*
 * Says in words (json false) or in JSON what the group is: name, ranks, hosts, backend with version
 * and why it was chosen, why not the others, interface and address, options with where each came
 * from, and what making it took. *text ends with a newline and is freed with muster_free().
 */
MUSTER_API muster_status muster_group_describe(muster_group *group, bool json, char **text);

/* ---- Collectives --------------------------------------------------------------------------- */

/*
 * XX(name, size in bytes, C type). The 16-bit and 8-bit floating types go by their bits: FLOAT16 is
 * IEEE 754's binary16, BFLOAT16 the upper half of a float, FLOAT8_E4M3 and FLOAT8_E5M2 those of the
 * Open Compute Project (torch's float8_e4m3fn and float8_e5m2; the former has no infinities). Of
 * BOOL any bits but 0 are true.
 */
#define MUSTER_TYPE_MAP(XX)                                                                        \
    XX(INT8, 1, int8_t)                                                                            \
    XX(UINT8, 1, uint8_t)                                                                          \
    XX(INT32, 4, int32_t)                                                                          \
    XX(UINT32, 4, uint32_t)                                                                        \
    XX(INT64, 8, int64_t)                                                                          \
    XX(UINT64, 8, uint64_t)                                                                        \
    XX(FLOAT32, 4, float)                                                                          \
    XX(FLOAT64, 8, double)                                                                         \
    XX(FLOAT16, 2, uint16_t)                                                                       \
    XX(BFLOAT16, 2, uint16_t)                                                                      \
    XX(FLOAT8_E4M3, 1, uint8_t)                                                                    \
    XX(FLOAT8_E5M2, 1, uint8_t)                                                                    \
    XX(BOOL, 1, bool)

typedef enum muster_type {
#define MUSTER_TYPE_ENUM(name, size, ctype) MUSTER_##name,
    MUSTER_TYPE_MAP(MUSTER_TYPE_ENUM)
#undef MUSTER_TYPE_ENUM
        MUSTER_NUM_TYPES
} muster_type;

/*
 * What a reduction makes of the elements of all ranks, taken in the order of ranks.
 *
 *              integers            floating types                    BOOL
 *   SUM, PROD  wrap                as IEEE 754 says                  or, and
 *   MIN, MAX   yes                 NaN where any rank has NaN        and, or
 *   AVG        the exact sum by    the sum, divided by the ranks     refused
 *              the ranks, cut
 *              towards 0
 *   BAND, BOR, yes                 refused                           and, or, exclusive or
 *   BXOR
 *   a scaled   wraps               each product and sum rounded      refused
 *   sum                            in float or double
 *
 * FLOAT64 is taken in double, every other floating type in float, and the result is rounded to the
 * type once, to nearest, ties to even. What is too large becomes infinity, in FLOAT8_E4M3 the
 * largest number, as with NCCL and torch from 2.12 on. Of zeros MIN and MAX take the lowest rank's.
 * A NaN in a result is always the same, the type's positive quiet one. For integers NCCL divides
 * the sum after it has wrapped; torch on the CPU has no AVG, and no BAND, BOR and BXOR on NCCL.
 */
typedef enum muster_reduction {
    MUSTER_SUM,
    MUSTER_PROD,
    MUSTER_MIN,
    MUSTER_MAX,
    MUSTER_AVG,
    MUSTER_BAND,
    MUSTER_BOR,
    MUSTER_BXOR,
    MUSTER_PREMUL_SUM, /* the kind of those that muster_reduction_premul_sum() makes, and no
                          reduction by itself */
    MUSTER_NUM_REDUCTIONS,
    MUSTER_REDUCTION_LARGEST = 0x7fffffff
} muster_reduction;

/* The size of one element in bytes; 0 for what is no type. */
MUSTER_API size_t muster_type_size(muster_type type);
MUSTER_API const char *muster_type_name(muster_type type);            /* "int8", or "unknown" */
MUSTER_API const char *muster_reduction_name(muster_reduction redop); /* "sum", or "unknown" */

/*
 * Makes a reduction of this rank in this group: the sum of all ranks' elements, those of this rank
 * multiplied by scalar first. Ranks may give different scalars; for an integer type it must be a
 * whole number that the type holds. muster_reduction_free() frees it, or freeing the group does;
 * operations that were started with it go on. Not collective. For a reduction that is none of the
 * group's muster_reduction_free() does nothing.
 */
MUSTER_API muster_status muster_reduction_premul_sum(muster_group *group, double scalar,
                                                     muster_reduction *redop);
MUSTER_API void muster_reduction_free(muster_group *group, muster_reduction redop);

/*
 * A handle on an operation that was started with a work argument that is not NULL. With NULL the
 * call blocks until the operation is done. Freeing a handle that was not waited for leaves the
 * operation running.
 */
typedef struct muster_work muster_work;

/* *done tells whether the operation has ended; the status is that of the operation once it has. */
MUSTER_API muster_status muster_work_test(muster_work *work, bool *done);

/* Waits until the operation has ended and returns its status; MUSTER_ERR_TIMEOUT after timeout_ms
 * leaves it running (MUSTER_TIMEOUT_DEFAULT: as long as the operation itself may take). */
MUSTER_API muster_status muster_work_wait(muster_work *work, int64_t timeout_ms);

/*
 * Waits until any of the operations has ended: *index is its place in works, the first one if there
 * are several, and the status is that operation's. Places that are NULL are passed over, so an
 * operation that was dealt with is freed and set to NULL. MUSTER_ERR_TIMEOUT with *index num_works:
 * none has ended, and all go on. *index is not written for wrong arguments alone.
 */
MUSTER_API muster_status muster_work_wait_any(muster_work *const *works, size_t num_works,
                                              int64_t timeout_ms, size_t *index);

/* Is told that an operation has ended, and how; after anything but MUSTER_OK muster_last_error()
 * has its sentence. */
typedef void (*muster_work_fn)(void *user, muster_status status);

/*
 * Has fn called once when the operation has ended, also where the handle is freed before; at once
 * on this thread if it has ended already, else on a thread of the group, whose later operations
 * wait for it. Several are called in the order in which they were added, and all before a wait for
 * the operation returns. A callback may start operations with a handle. It must not free the group,
 * and calls in it that would wait are refused with MUSTER_ERR_ARGUMENT.
 */
MUSTER_API muster_status muster_work_add_callback(muster_work *work, muster_work_fn fn, void *user);

MUSTER_API void muster_work_free(muster_work *work);

/*
 * Every rank of the group makes the same call, with buffers aligned for their type. Counts are
 * numbers of elements; a buffer of which 0 are needed may be NULL. Blocks of ranks lie one behind
 * the other in the order of ranks, without gaps. Buffers belong to the caller, and must stay as
 * they are until the operation is done.
 *
 * In place. send and receive must not overlap, but where a call says so they may be at one place.
 *
 * Errors. A wrong argument is refused before anything moves, and the group goes on working. If
 * ranks disagree on the operation, its order, type, count, root or reduction, those that notice get
 * MUSTER_ERR_MISMATCH naming the other, and the group has failed.
 *
 * Checks. Where MUSTER_CHECK=1 is set for any rank of a world, all ranks of it, and of the groups
 * made of it, first compare each collective: operation, number, type, reduction, root and counts.
 * All of them then get MUSTER_ERR_MISMATCH before anything has moved, with the first ranks that
 * differ and what these call. It takes a message more between each two ranks, and is not for
 * messages between two ranks. Without it a disagreement is found as above: never in silence, but by
 * those alone who have to do with each other, and in the case of a root only after the time-out.
 *
 * Results. Reductions take the elements of ranks in the order of ranks in every call and for every
 * count: all ranks get the same bits, muster_reduce() those of muster_all_reduce(), and the same
 * call the same again.
 */

/* Returns when all ranks have called it. */
MUSTER_API muster_status muster_barrier(muster_group *group, muster_work **work);

/* Copies count elements of root's buffer to the buffer of every rank. */
MUSTER_API muster_status muster_broadcast(muster_group *group, void *buffer, size_t count,
                                          muster_type type, int root, muster_work **work);

/* receive[i] on root becomes the reduction of all ranks' send[i]; other ranks may give NULL for
 * receive. In place: send == receive on root. */
MUSTER_API muster_status muster_reduce(muster_group *group, const void *send, void *receive,
                                       size_t count, muster_type type, muster_reduction redop,
                                       int root, muster_work **work);

/* The same on every rank. In place: send == receive. */
MUSTER_API muster_status muster_all_reduce(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_reduction redop,
                                           muster_work **work);

/* receive on root, of size * count elements, becomes all ranks' send, of count elements each; other
 * ranks may give NULL for receive. In place: send == receive + root * count on root. */
MUSTER_API muster_status muster_gather(muster_group *group, const void *send, void *receive,
                                       size_t count, muster_type type, int root,
                                       muster_work **work);

/* The same with as many elements from each rank as its count says; root knows them all, counts[r]
 * from rank r. Other ranks may give NULL for receive and counts. In place: send is root's block of
 * receive on root. */
MUSTER_API muster_status muster_gather_v(muster_group *group, const void *send, size_t count,
                                         void *receive, const size_t *counts, muster_type type,
                                         int root, muster_work **work);

/* receive, of count elements, becomes the caller's block of root's send, of size * count; other
 * ranks may give NULL for send. In place: receive == send + root * count, or send, on root. */
MUSTER_API muster_status muster_scatter(muster_group *group, const void *send, void *receive,
                                        size_t count, muster_type type, int root,
                                        muster_work **work);

/* The same with counts[r] elements for rank r, which that rank gives as its count. Other ranks than
 * root may give NULL for send and counts. In place: receive is root's block of send, or begins
 * where send does, on root. */
MUSTER_API muster_status muster_scatter_v(muster_group *group, const void *send,
                                          const size_t *counts, void *receive, size_t count,
                                          muster_type type, int root, muster_work **work);

/* receive, of size * count elements, becomes all ranks' send, of count elements each. In place:
 * send == receive + rank * count. */
MUSTER_API muster_status muster_all_gather(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_work **work);

/* The same with counts[r] elements from rank r. counts must be the same on all ranks. In place:
 * send is the caller's block of receive. */
MUSTER_API muster_status muster_all_gather_v(muster_group *group, const void *send, void *receive,
                                             const size_t *counts, muster_type type,
                                             muster_work **work);

/* receive, of count elements, becomes the caller's block of the reduction of all ranks' send, of
 * size * count elements each. In place: receive == send + rank * count, or send. */
MUSTER_API muster_status muster_reduce_scatter(muster_group *group, const void *send, void *receive,
                                               size_t count, muster_type type,
                                               muster_reduction redop, muster_work **work);

/* The same with counts[r] elements for rank r. counts must be the same on all ranks. In place:
 * receive is the caller's block of send, or begins where send does. */
MUSTER_API muster_status muster_reduce_scatter_v(muster_group *group, const void *send,
                                                 void *receive, const size_t *counts,
                                                 muster_type type, muster_reduction redop,
                                                 muster_work **work);

/* Block r of receive becomes the caller's block of rank r's send; both have size * count elements.
 * In place, at the price of a copy of send: send == receive. */
MUSTER_API muster_status muster_all_to_all(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_work **work);

/* The same with send_counts[r] elements to rank r and receive_counts[r] from it, which is what it
 * sends to the caller. In place: send == receive, with room for the longer one. */
MUSTER_API muster_status muster_all_to_all_v(muster_group *group, const void *send,
                                             const size_t *send_counts, void *receive,
                                             const size_t *receive_counts, muster_type type,
                                             muster_work **work);

/* Sends to and receives from one other rank of the group. Messages between two ranks arrive in the
 * order sent; the receiver's count and type must be the sender's. They do not wait for collectives
 * of the group, nor for messages with other ranks. */
MUSTER_API muster_status muster_send(muster_group *group, const void *buffer, size_t count,
                                     muster_type type, int destination, muster_work **work);
MUSTER_API muster_status muster_recv(muster_group *group, void *buffer, size_t count,
                                     muster_type type, int source, muster_work **work);

typedef enum muster_direction { MUSTER_SENDS = 1, MUSTER_RECEIVES = 2 } muster_direction;

/* One message of a batch, as the arguments of muster_send or muster_recv. */
typedef struct muster_transfer {
    muster_direction direction;
    int peer;
    size_t count;
    union {
        const void *send;
        void *receive;
    };
    muster_type type;
} muster_transfer;

/*
 * Starts all of the messages at once and ends when all are done, so that no order of them is a
 * deadlock, here or among ranks. To each peer they count in their order here among all messages
 * with it. The caller itself may be a peer: what it sends to itself goes to its receives from
 * itself in this batch, in order. On a wrong argument none is started.
 */
MUSTER_API muster_status muster_batch_send_recv(muster_group *group,
                                                const muster_transfer *transfers,
                                                size_t num_transfers, muster_work **work);

/* ---- Gathers ------------------------------------------------------------------------------- */

/* Lists of token ids as a rank gives them: list i is the lengths[i] ids that follow those of list
 * i-1 in tokens. Any number of lists (0 too) of any length (0 too) with any values. */
typedef struct muster_token_lists {
    size_t num_lists;
    const size_t *lengths; /* num_lists of them; may be NULL where that is 0 */
    const int64_t *tokens; /* the sum of lengths; may be NULL where that is 0 */
} muster_token_lists;

/* Lists of token ids of all ranks: exactly their concatenation in rank order. Read only. */
typedef struct muster_tokens {
    size_t num_ranks;
    size_t num_lists;
    size_t num_tokens;
    /* num_ranks + 1: the lists of rank r are those from rank_offsets[r] to before
     * rank_offsets[r+1]. */
    const size_t *rank_offsets;
    /* num_lists + 1: the tokens of list i are those from list_offsets[i] to before
     * list_offsets[i+1]. */
    const size_t *list_offsets;
    const int64_t *tokens; /* num_tokens; never NULL */
} muster_tokens;

/*
 * Gathers the lists of all ranks on all ranks; collective. Only the ids and lengths themselves
 * cross the wire, in the narrowest integers that hold them, and three envelopes of 256 bytes
 * between each two ranks. A rank that can't contribute (wrong arguments, no memory) makes all ranks
 * return the same error naming it; the group goes on working.
 */
MUSTER_API muster_status muster_all_gather_tokens(muster_group *group,
                                                  const muster_token_lists *mine,
                                                  muster_tokens **all);

/* The same to one rank: *all is NULL on the others. Ranks that name different roots all get
 * MUSTER_ERR_MISMATCH, and the group goes on working. */
MUSTER_API muster_status muster_gather_tokens(muster_group *group, const muster_token_lists *mine,
                                              int root, muster_tokens **all);
MUSTER_API void muster_tokens_free(muster_tokens *tokens);

/* A matrix of num_lists rows and width columns, the longest list; the rest of each row is pad. */
typedef struct muster_padded_tokens {
    size_t num_lists;
    size_t width;
    const size_t *lengths; /* num_lists */
    const int64_t *matrix; /* num_lists * width, row after row */
} muster_padded_tokens;

MUSTER_API muster_status muster_tokens_padded(const muster_tokens *tokens, int64_t pad,
                                              muster_padded_tokens **padded);
MUSTER_API void muster_padded_tokens_free(muster_padded_tokens *padded);

/* Objects as a rank gives them: byte strings of any size, 0 included. */
typedef struct muster_object_list {
    size_t num_objects;
    const muster_blob *objects;
} muster_object_list;

/* Objects of all ranks in rank order, and in each rank's own order. Read only. */
typedef struct muster_objects {
    size_t num_ranks;
    size_t num_objects;
    size_t num_bytes;           /* of all objects together */
    const size_t *rank_offsets; /* num_ranks + 1, as in muster_tokens */
    const muster_blob *objects; /* num_objects; their bytes live as long as this struct */
} muster_objects;

/* Gather objects as muster_all_gather_tokens and muster_gather_tokens gather lists. */
MUSTER_API muster_status muster_all_gather_objects(muster_group *group,
                                                   const muster_object_list *mine,
                                                   muster_objects **all);
MUSTER_API muster_status muster_gather_objects(muster_group *group, const muster_object_list *mine,
                                               int root, muster_objects **all);
MUSTER_API void muster_objects_free(muster_objects *objects);

/* ---- What is there ------------------------------------------------------------------------- */

/* One backend as found on this machine. Strings live until the process ends. */
typedef struct muster_backend_report {
    const char *name;
    bool available;
    const char *version; /* of the library below it, "" where unknown */
    const char *file;    /* the plugin, or "built in" */
    const char *reason;  /* why it is not available; "" where it is */
} muster_backend_report;

/* *reports lists the backends found, best first; the one muster_free(*reports) frees it. Opens
 * plugins where that has not been done yet. */
MUSTER_API muster_status muster_list_backends(muster_backend_report **reports, size_t *num_reports);

/*
 * This machine as far as it matters here, a line a fact or in JSON: host name, the cores that this
 * process may run on, and packages, NUMA nodes, cores and hardware threads as hwloc sees them (0
 * where the library was built without it). *text is freed with muster_free().
 */
MUSTER_API muster_status muster_describe_host(bool json, char **text);

/*
 * Who started this process, as its environment says, and what env:// comes to. Nothing is asked and
 * no connection made: with some launchers rank 0's address is agreed on when the first group is.
 */
typedef struct muster_launcher_report {
    const char *name; /* "Open MPI", "muster-run", "torch's names"; "" where no launcher is found */
    int rank;         /* here and below -1: it does not say */
    int world_size;
    int local_rank; /* as the launcher has it; see muster_group_local_rank */
    int local_size;
    int node_rank;
    int num_nodes;
    const char *job;         /* what the launcher calls the job; "" for nothing */
    const char *master_addr; /* "" where it is not known yet, or nobody is to be met */
    int master_port;         /* 0 likewise */
    const char *how;         /* how rank 0 is found, in words; "" for a world of one */
    const char *problem;     /* why env:// can't be used; "" where it can */
} muster_launcher_report;

/* The one muster_free(*report) frees it. */
MUSTER_API muster_status muster_find_launcher(muster_launcher_report **report);

/* The same a line a fact or in JSON, with the variables and why other launchers and ways to find
 * rank 0 were passed over. *text is freed with muster_free(). */
MUSTER_API muster_status muster_describe_launcher(bool json, char **text);

/* One option that some backend, or muster itself, knows. Strings live until the process ends. */
typedef struct muster_option_report {
    const char *name;          /* "gloo.iface" */
    const char *type;          /* "string", "integer", "boolean" */
    const char *default_value; /* "" where there is none */
    const char *since;         /* first version of the backend that knows it; "" is any */
    const char *until;         /* last one; "" is any */
    const char *aliases;       /* older names, separated by spaces */
    const char *help;
    bool usable; /* with the backend as found here */
} muster_option_report;

MUSTER_API muster_status muster_list_options(muster_option_report **reports, size_t *num_reports);

#ifdef __cplusplus
}
#endif
#endif
