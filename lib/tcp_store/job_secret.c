/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job secret: HMAC-SHA-256 of libsodium, and what is left of it where that is not there.
 */
#include "config.h"
#include "tcp_store/job_secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static muster_status check_length(const char *name, const char *text)
{
    size_t length = strnlen(text, JOB_SECRET_MOST + 1);
    if (length == 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s is set but empty: give it the job's secret, or leave it unset for a "
                         "store that lets everybody in",
                         name);
    if (length < JOB_SECRET_LEAST || length > JOB_SECRET_MOST)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s has %s%zu characters, where %d to %d are right: take random ones, as "
                         "of 'openssl rand -hex 32'",
                         name, length > JOB_SECRET_MOST ? "over " : "",
                         length > JOB_SECRET_MOST ? (size_t)JOB_SECRET_MOST : length,
                         JOB_SECRET_LEAST, JOB_SECRET_MOST);
    return MUSTER_OK;
}

#ifdef HAVE_SODIUM

#include <pthread.h>
#include <sodium.h>

static bool sodium_works;

static void start_sodium(void)
{
    sodium_works = sodium_init() >= 0;
}

/* For a key, and for the proof of each side: what is said for one can't stand for another. */
static const char key_label[16] = "muster/1 key";
static const char *const side_labels[] = {"muster/1 client.", "muster/1 server."};
enum { LABEL = 16 };

static muster_status make_key(job_secret *secret, const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_sodium);
    if (!sodium_works)
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "a job secret is set, but libsodium can't be started: this process "
                         "has no source of random numbers");
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, (const unsigned char *)text, strlen(text));
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)key_label, LABEL);
    crypto_auth_hmacsha256_final(&state, secret->key);
    sodium_memzero(&state, sizeof(state));
    secret->set = true;
    return MUSTER_OK;
}

bool job_secret_equal(const job_secret *a, const job_secret *b)
{
    return a->set == b->set && sodium_memcmp(a->key, b->key, JOB_SECRET_KEY) == 0;
}

void job_secret_draw(unsigned char nonce[JOB_SECRET_NONCE])
{
    randombytes_buf(nonce, JOB_SECRET_NONCE);
}

void job_secret_prove(const job_secret *secret, job_secret_side side,
                      const job_secret_nonces *nonces, unsigned char proof[JOB_SECRET_PROOF])
{
    unsigned char words[LABEL + sizeof(*nonces)];
    memcpy(words, side_labels[side], LABEL);
    memcpy(words + LABEL, nonces, sizeof(*nonces));
    crypto_auth_hmacsha256(proof, words, sizeof(words), secret->key);
}

bool job_secret_verify(const job_secret *secret, job_secret_side side,
                       const job_secret_nonces *nonces, const unsigned char proof[JOB_SECRET_PROOF])
{
    unsigned char right[JOB_SECRET_PROOF];
    job_secret_prove(secret, side, nonces, right);
    return secret->set && sodium_memcmp(right, proof, sizeof(right)) == 0;
}

void job_secret_forget(job_secret *secret)
{
    sodium_memzero(secret, sizeof(*secret));
}

#else

/* No secret is ever set here, since that is an error; so nothing is proved and nothing believed. */

static muster_status make_key(job_secret *secret, const char *text)
{
    (void)secret;
    (void)text;
    return error_set(MUSTER_ERR_UNSUPPORTED,
                     "MUSTER_JOB_SECRET, or a store's argument secret, is set, but this muster was "
                     "built without libsodium and can't protect the store by it: build it with "
                     "libsodium-dev installed, or leave both unset for a store that lets "
                     "everybody in");
}

bool job_secret_equal(const job_secret *a, const job_secret *b)
{
    return a->set == b->set;
}

void job_secret_draw(unsigned char nonce[JOB_SECRET_NONCE])
{
    memset(nonce, 0, JOB_SECRET_NONCE);
}

void job_secret_prove(const job_secret *secret, job_secret_side side,
                      const job_secret_nonces *nonces, unsigned char proof[JOB_SECRET_PROOF])
{
    (void)secret;
    (void)side;
    (void)nonces;
    memset(proof, 0, JOB_SECRET_PROOF);
}

bool job_secret_verify(const job_secret *secret, job_secret_side side,
                       const job_secret_nonces *nonces, const unsigned char proof[JOB_SECRET_PROOF])
{
    (void)secret;
    (void)side;
    (void)nonces;
    (void)proof;
    return false;
}

void job_secret_forget(job_secret *secret)
{
    *secret = (job_secret){0};
}

#endif

muster_status job_secret_read(job_secret *secret, const char *given)
{
    const char *text = given != NULL ? given : getenv("MUSTER_JOB_SECRET");
    *secret = (job_secret){0};
    if (text == NULL)
        return MUSTER_OK;
    muster_status status =
        check_length(given != NULL ? "the argument secret" : "MUSTER_JOB_SECRET", text);
    return status == MUSTER_OK ? make_key(secret, text) : status;
}
