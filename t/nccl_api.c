/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of NCCL's and CUDA's functions, which have to be whole, and how versions and errors
 * are put in words.
 */
#include "tap.h"

#include <stdint.h>
#include <string.h>

#include "backend/host.h"
#include "base/error.h"
#include "cuda_api.h"
#include "nccl_api.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- tables ---- */

/* Every pointer of the struct, from the first on, has one row, and no two rows have a name. */
static void check_nccl_table(void)
{
    enum { FIRST = offsetof(nccl_api, get_version) };
    size_t pointers = (sizeof(nccl_api) - FIRST) / sizeof(void *), rows = 0;
    bool taken[64] = {false}, good = true;
    for (const nccl_function *row = nccl_functions; row->name != NULL; row++, rows++) {
        size_t at = (row->offset - FIRST) / sizeof(void *);
        good = good && strncmp(row->name, "nccl", 4) == 0 && at < COUNT(taken) && !taken[at] &&
               (row->since == 0 || row->since > NCCL_OLDEST);
        if (at < COUNT(taken))
            taken[at] = true;
        for (const nccl_function *other = nccl_functions; other != row; other++)
            good = good && strcmp(other->name, row->name) != 0;
    }
    ok(good, "NCCL's functions have a place each");
    is_int((long long)rows, (long long)pointers, "and each place has one");
}

static void check_cuda_table(void)
{
    enum { FIRST = offsetof(cuda_api, runtime_get_version) };
    size_t pointers = (sizeof(cuda_api) - FIRST) / sizeof(void *), rows = 0;
    bool taken[64] = {false}, good = true;
    for (const cuda_function *row = cuda_functions; row->name != NULL; row++, rows++) {
        size_t at = (row->offset - FIRST) / sizeof(void *);
        good = good && at < COUNT(taken) && !taken[at] &&
               row->driver == (strncmp(row->name, "cuda", 4) != 0);
        if (at < COUNT(taken))
            taken[at] = true;
    }
    ok(good, "CUDA's functions have a place each, the driver's and the runtime's told apart");
    is_int((long long)rows, (long long)pointers, "and each place has one");
}

/* ---- words ---- */

static void check_versions(void)
{
    static const struct {
        int version;
        const char *text;
    } rows[] = {
        {2304, "2.3.4"},   {2804, "2.8.4"},    {20906, "2.9.6"},  {21003, "2.10.3"},
        {21403, "2.14.3"}, {22809, "2.28.9"},  {23203, "2.32.3"}, {29999, "2.99.99"},
        {30000, "3.0.0"},  {120304, "12.3.4"}, {0, "0.0.0"},
    };
    char text[NCCL_VERSION_TEXT];
    for (size_t i = 0; i < COUNT(rows); i++)
        is_str(nccl_version_text(rows[i].version, text), rows[i].text, "%d", rows[i].version);
    ok(strlen(nccl_version_text(INT32_MAX, text)) < sizeof(text), "any number has a text");
}

static const char *cuda_name_of_test(cuda_error error)
{
    (void)error;
    return "cudaErrorOfTest";
}

static const char *cuda_words_of_test(cuda_error error)
{
    (void)error;
    return "it went wrong";
}

static int forgotten;

static cuda_error cuda_last_of_test(void)
{
    forgotten++;
    return CUDA_OK;
}

static void check_cuda_errors(void)
{
    cuda_api api = {.get_error_name = cuda_name_of_test,
                    .get_error_string = cuda_words_of_test,
                    .get_last_error = cuda_last_of_test};
    is_int(cuda_api_error(&api, CUDA_ERROR_OUT_OF_MEMORY, "x"), MUSTER_ERR_NO_MEMORY, "no memory");
    is_int(cuda_api_error(&api, CUDA_ERROR_UNKNOWN, "can't do it"), MUSTER_ERR_FAILED, "all else");
    is_str(muster_last_error(), "can't do it: it went wrong (cudaErrorOfTest, 999)", "in words");
    is_int(forgotten, 2, "and CUDA need not tell it to the program again");
}

int main(void)
{
    nccl_host = &host_functions;
    plan(4 + 12 + 4);
    check_nccl_table();
    check_cuda_table();
    check_versions();
    check_cuda_errors();
    return done();
}
