/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of PMIx, opened at run time.
 */
#include "config.h"

#include "launch/pmix_client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/launcher.h"
#include "launch/pmix_abi.h"
#include "base/thread.h"

/* One visit to PMIx: from PMIx_Init to PMIx_Finalize. */
typedef struct visit {
    pmix_abi abi;
    char key[64];
    char mine[PMIX_CLIENT_MAX_VALUE]; /* "": this is not rank 0 */
    bool size_too;
    muster_status status;
    char sentence[ERROR_SIZE];
    char value[PMIX_CLIENT_MAX_VALUE];
    int size;
} visit;

/* ---- The library --------------------------------------------------------------------------- */

/* Never closed again: it has threads of its own, and MPI may use it. */
static bool client_load(pmix_abi *abi, char *words, size_t size)
{
    void *library = dlopen(PMIX_ABI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        snprintf(words, size, "%s", why == NULL ? PMIX_ABI_LIBRARY " can't be opened" : why);
        return false;
    }
    const struct {
        const char *name;
        void *slot;
    } functions[] = {{"PMIx_Init", &abi->init},
                     {"PMIx_Put", &abi->put},
                     {"PMIx_Commit", &abi->commit},
                     {"PMIx_Fence", &abi->fence},
                     {"PMIx_Get", &abi->get},
                     {"PMIx_Finalize", &abi->finalize},
                     {"PMIx_Error_string", &abi->error_string}};
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        void *found = dlsym(library, functions[i].name);
        if (found == NULL) {
            snprintf(words, size, PMIX_ABI_LIBRARY " has no %s", functions[i].name);
            return false;
        }
        memcpy(functions[i].slot, &found, sizeof(found));
    }
    snprintf(words, size, "%s", PMIX_ABI_LIBRARY);
    return true;
}

bool pmix_client_is_there(char *words, size_t size)
{
    pmix_abi abi;
    return client_load(&abi, words, size);
}

/* ---- The visit ----------------------------------------------------------------------------- */

static bool visit_failed(visit *v, int result, const char *call)
{
    if (result == PMIX_ABI_SUCCESS)
        return false;
    v->status = error_set(MUSTER_ERR_SYSTEM,
                          "PMIx, by which the launcher lets the ranks meet: %s: %s (%d); set "
                          "MUSTER_PMI=off to do without",
                          call, v->abi.error_string(result), result);
    return true;
}

/* *value is the caller's, for visit_free. */
static bool visit_get(visit *v, const pmix_abi_process *self, uint32_t rank, const char *key,
                      uint16_t type, pmix_abi_value **value)
{
    pmix_abi_process whose = *self;
    whose.rank = rank;
    *value = NULL;
    if (visit_failed(v, v->abi.get(&whose, key, NULL, 0, value), key))
        return false;
    if (*value != NULL && (*value)->type == type)
        return true;
    v->status = error_set(MUSTER_ERR_PROTOCOL, "PMIx: %s has a value of a type other than %d", key,
                          (int)type);
    return false;
}

/* As PMIx's own macro does it. */
static void visit_free(pmix_abi_value *value)
{
    if (value != NULL && value->type == PMIX_ABI_STRING)
        free(value->data.string);
    free(value);
}

static void visit_size(visit *v, const pmix_abi_process *self)
{
    pmix_abi_value *value;
    if (visit_get(v, self, PMIX_ABI_ALL_RANKS, PMIX_ABI_KEY_JOB_SIZE, PMIX_ABI_UINT32, &value))
        v->size = (int)value->data.uint32;
    if (v->status == MUSTER_OK && v->size < 1)
        v->status = error_set(MUSTER_ERR_PROTOCOL, "PMIx says that the job has %d ranks", v->size);
    visit_free(value);
}

/* The fence brings what was put to all, and nobody leaves before it. */
static void visit_exchange(visit *v, const pmix_abi_process *self)
{
    pmix_abi_value put = {.type = PMIX_ABI_STRING, .data.string = v->mine}, *got = NULL;
    pmix_abi_info collect = {.key = PMIX_ABI_KEY_COLLECT,
                             .value = {.type = PMIX_ABI_BOOL, .data.flag = true}};
    pmix_abi_process all = *self;
    all.rank = PMIX_ABI_ALL_RANKS;
    if (v->mine[0] != '\0' &&
        (visit_failed(v, v->abi.put(PMIX_ABI_GLOBAL, v->key, &put), "PMIx_Put") ||
         visit_failed(v, v->abi.commit(), "PMIx_Commit")))
        return;
    if (visit_failed(v, v->abi.fence(&all, 1, &collect, 1), "PMIx_Fence"))
        return;
    if (visit_get(v, self, 0, v->key, PMIX_ABI_STRING, &got) && got->data.string != NULL)
        snprintf(v->value, sizeof(v->value), "%s", got->data.string);
    visit_free(got);
}

static void visit_make(void *what)
{
    visit *v = what;
    pmix_abi_process self = {.rank = 0};
    if (!visit_failed(v, v->abi.init(&self, NULL, 0), "PMIx_Init")) {
        visit_exchange(v, &self);
        if (v->status == MUSTER_OK && v->size_too)
            visit_size(v, &self);
        int result = v->abi.finalize(NULL, 0);
        if (v->status == MUSTER_OK)
            visit_failed(v, result, "PMIx_Finalize");
    }
    if (v->status != MUSTER_OK)
        snprintf(v->sentence, sizeof(v->sentence), "%s", muster_last_error());
}

/* Makes the visit; *v is NULL where it was given up. */
static muster_status client_visit(visit **v, int64_t timeout_ms)
{
    char words[256];
    if (!client_load(&(*v)->abi, words, sizeof(words))) {
        free(*v);
        *v = NULL;
        return error_set(MUSTER_ERR_UNAVAILABLE, "%s", words);
    }
    if (!thread_run_aside(visit_make, free, *v, timeout_ms)) {
        *v = NULL;
        return error_set(MUSTER_ERR_TIMEOUT,
                         "PMIx, by which the launcher lets the ranks meet, did not answer within "
                         "%lld ms; some rank of the job has not come to the same call",
                         (long long)timeout_ms);
    }
    return (*v)->status == MUSTER_OK ? MUSTER_OK : error_set((*v)->status, "%s", (*v)->sentence);
}

muster_status pmix_client_exchange(const char *key, const char *mine, int64_t timeout_ms,
                                   char value[PMIX_CLIENT_MAX_VALUE], int *size)
{
    visit *v = calloc(1, sizeof(*v));
    if (v == NULL)
        return error_no_memory(sizeof(*v), "a visit to PMIx");
    v->size_too = size != NULL;
    snprintf(v->key, sizeof(v->key), "%s", key);
    snprintf(v->mine, sizeof(v->mine), "%s", mine == NULL ? "" : mine);
    muster_status status = client_visit(&v, timeout_ms);
    if (status == MUSTER_OK)
        memcpy(value, v->value, sizeof(v->value));
    if (status == MUSTER_OK && size != NULL)
        *size = v->size;
    free(v);
    return status;
}
