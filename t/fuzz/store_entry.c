/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: the greeting with which a client proves the job secret to the server. The first byte
 * says whether the store has one, the second how many bytes come at a time. The server's nonce is
 * always the same, so that a proof in the corpus stays one.
 */
#include <string.h>

#include "fuzz.h"
#include "tcp_store/tcp_entry.h"

void __wrap_job_secret_draw(unsigned char nonce[JOB_SECRET_NONCE]);
void __wrap_job_secret_draw(unsigned char nonce[JOB_SECRET_NONCE])
{
    memset(nonce, 'n', JOB_SECRET_NONCE);
}

static bool is_proved(const tcp_entry *entry, const job_secret *secret, fuzz_bytes sent)
{
    return sent.size >= 2 * TCP_ENTRY_MESSAGE &&
           job_secret_verify(secret, JOB_SECRET_CLIENT, &entry->nonces,
                             sent.data + TCP_ENTRY_MESSAGE + TCP_ENTRY_HEAD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    job_secret secret = {.set = fuzz_byte(&input) % 2 == 1, .key = "the key of the fuzz target"};
    size_t portion = (size_t)fuzz_byte(&input) + 1;
    const fuzz_bytes sent = input;
    tcp_entry entry = {0};
    buffer answer = {0};
    const char *reason = NULL;
    while (reason == NULL && !entry.inside && input.size > 0) {
        size_t taken = 0;
        fuzz_bytes now = fuzz_take(&input, portion);
        reason = tcp_entry_take(&entry, &secret, now.data, now.size, &taken, &answer);
        fuzz_hold(taken <= now.size, "no more is taken than was there");
        fuzz_hold(reason != NULL || entry.inside || taken == now.size, "all is taken at the door");
    }
    fuzz_hold(!entry.inside || !secret.set || is_proved(&entry, &secret, sent),
              "who is inside has proved the secret");
    fuzz_hold(!entry.inside || reason == NULL, "who is inside is not turned away");
    fuzz_hold(answer.size <= 2 * TCP_ENTRY_MESSAGE, "two answers are the most");
    buffer_free(&answer);
    return 0;
}
