/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one table of CUDA's functions that a process has, and whether it has use for one.
 */
#include "config.h"

#include "cuda_api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/thread.h"
#include "cuda_load.h"
#include "loads.h"
#include "nccl_api.h"

static struct {
    pthread_once_t once;
    atomic_bool begun;
    atomic_bool opened; /* all that follows is settled */
    bool usable;
    _Atomic pid_t pid; /* that opened it */
    library_reason why;
    cuda_api api;
} cuda = {.once = PTHREAD_ONCE_INIT};

static void open_run(void *unused)
{
    (void)unused;
    atomic_store(&cuda.begun, true);
    cuda.usable = cuda_load(&cuda.api, &cuda.why);
    atomic_store_explicit(&cuda.opened, true, memory_order_release);
}

static void open_given_up(void *unused)
{
    (void)unused;
}

/* A driver may hang when it is started. */
static void cuda_api_open(void)
{
    cuda.pid = getpid();
    thread_run_aside(open_run, open_given_up, NULL, nccl_host->patience_ms());
}

/* The driver has been given up, and has not come back since. */
static muster_status cuda_api_hangs(const cuda_api **api, const char **why)
{
    *api = NULL;
    *why = atomic_load(&cuda.begun)
               ? "NVIDIA's driver does not come back from being started: it hangs; see whether "
                 "nvidia-smi shows the GPUs"
               : "no thread could be started on which to start NVIDIA's driver";
    return MUSTER_ERR_UNAVAILABLE;
}

muster_status cuda_api_try(const cuda_api **api, const char **why)
{
    static const char forked[] = "this process is a child, made by fork, of one that uses GPUs, "
                                 "and can't use them: make it before the parent does, or let it "
                                 "execute a program";
    pthread_once(&cuda.once, cuda_api_open);
    if (!atomic_load_explicit(&cuda.opened, memory_order_acquire))
        return cuda_api_hangs(api, why);
    bool here = cuda.pid == getpid();
    *api = cuda.usable && here ? &cuda.api : NULL;
    *why = cuda.usable && !here ? forked : cuda.why.words;
    if (*api != NULL)
        return MUSTER_OK;
    return cuda.usable ? MUSTER_ERR_FORKED : MUSTER_ERR_UNAVAILABLE;
}

muster_status cuda_api_load(const cuda_api **api)
{
    const char *why;
    muster_status status = cuda_api_try(api, &why);
    return status == MUSTER_OK ? status : nccl_host->error(status, "%s", why);
}

/* Asking the loader for a library that isn't there makes it look in many folders, so that is done
 * only where something was loaded since. */
bool cuda_api_in_use(void)
{
    static atomic_bool in_use;
    static loads looked_at;
    if (atomic_load_explicit(&in_use, memory_order_relaxed))
        return true;
    if (loads_none_since(&looked_at))
        return false;
    loads now = loads_now();
    bool loaded = library_loaded(&cuda_driver_place);
    if (loaded)
        atomic_store_explicit(&in_use, true, memory_order_relaxed);
    else
        loads_keep(&looked_at, &now);
    return loaded;
}

muster_status cuda_api_sentence(const cuda_api *api, cuda_error error, const char *what)
{
    muster_status status =
        error == CUDA_ERROR_OUT_OF_MEMORY ? MUSTER_ERR_NO_MEMORY : MUSTER_ERR_FAILED;
    return nccl_host->error(status, "%s: %s (%s, %d)", what, api->get_error_string(error),
                            api->get_error_name(error), (int)error);
}

muster_status cuda_api_error(const cuda_api *api, cuda_error error, const char *what)
{
    api->get_last_error();
    return cuda_api_sentence(api, error, what);
}
