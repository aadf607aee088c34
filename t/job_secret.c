/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job secret: what is taken for one, and the proofs that are made of it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tcp_store/job_secret.h"
#include "tap.h"

static muster_status read_as(job_secret *secret, const char *text)
{
    if (text == NULL)
        unsetenv("MUSTER_JOB_SECRET");
    else
        setenv("MUSTER_JOB_SECRET", text, 1);
    return job_secret_read(secret, NULL);
}

static void refused(void)
{
    job_secret secret = {.set = true};
    char longest[JOB_SECRET_MOST + 2];
    is_int(read_as(&secret, NULL), MUSTER_OK, "no variable");
    ok(!secret.set, "is no secret");
    secret.set = true;
    is_int(read_as(&secret, ""), MUSTER_ERR_ARGUMENT, "an empty one is refused");
    ok(!secret.set, "and sets nothing");
    has_str(muster_last_error(), "set but empty", "as what it is");
    is_int(read_as(&secret, "123456789012345"), MUSTER_ERR_ARGUMENT, "15 characters are few");
    has_str(muster_last_error(), "has 15 characters, where 16 to 1024", "which is said");
    ok(strstr(muster_last_error(), "1234567") == NULL, "without showing them");
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    is_int(read_as(&secret, longest), MUSTER_ERR_ARGUMENT, "1025 are many");
    has_str(muster_last_error(), "over 1024 characters", "which is said");
}

#ifdef HAVE_SODIUM

/* Found with another implementation of HMAC-SHA-256. */
static const unsigned char key[] =
    "\x42\x1c\xfa\x37\x71\x55\x00\x84\xfc\xde\xfe\x77\xc3\xd9\xa2\x7d"
    "\xfe\xf8\xeb\xc0\x0a\x11\x9b\x8b\xcb\x99\x38\xfd\xeb\x73\xa7\x26";
static const unsigned char proofs[2][33] = {
    "\x45\x4b\x13\x3e\xb7\xdb\x48\x46\x80\xe0\x11\x12\x2b\x17\xa5\x91"
    "\x58\x20\x98\x01\xf8\x2e\x14\x58\xf6\x09\xa6\xa6\xb6\x4e\x3d\x49",
    "\x10\xf0\xea\x66\x67\x84\x72\x97\x04\x69\x92\xe5\x52\xaa\xa7\x9b"
    "\x21\xfa\xb4\xd6\x5a\x49\x96\xe3\xc4\xd5\x14\xc1\x56\xdf\xbb\x0c"};

static void known_answers(void)
{
    job_secret secret;
    job_secret_nonces nonces;
    unsigned char proof[JOB_SECRET_PROOF];
    for (int i = 0; i < JOB_SECRET_NONCE; i++) {
        nonces.client[i] = (unsigned char)i;
        nonces.server[i] = (unsigned char)(100 + i);
    }
    is_int(read_as(&secret, "correct horse battery staple"), MUSTER_OK, "a good secret");
    ok(secret.set && memcmp(secret.key, key, JOB_SECRET_KEY) == 0, "gives the key that is right");
    for (int side = JOB_SECRET_CLIENT; side <= JOB_SECRET_SERVER; side++) {
        job_secret_prove(&secret, (job_secret_side)side, &nonces, proof);
        ok(memcmp(proof, proofs[side], sizeof(proof)) == 0, "side %d proves it", side);
        ok(job_secret_verify(&secret, (job_secret_side)side, &nonces, proof), "and is believed");
        ok(!job_secret_verify(&secret, (job_secret_side)!side, &nonces, proof),
           "not as the other side");
    }
}

/* Any bit of what was proved. */
static void changed(void)
{
    job_secret secret, other;
    job_secret_nonces nonces, more;
    unsigned char proof[JOB_SECRET_PROOF];
    int believed = 0;
    read_as(&secret, "correct horse battery staple");
    job_secret_draw(nonces.client);
    job_secret_draw(nonces.server);
    job_secret_prove(&secret, JOB_SECRET_CLIENT, &nonces, proof);
    for (size_t bit = 0; bit < 8 * sizeof(nonces); bit++) {
        more = nonces;
        ((unsigned char *)&more)[bit / 8] ^= (unsigned char)(1 << bit % 8);
        believed += job_secret_verify(&secret, JOB_SECRET_CLIENT, &more, proof);
    }
    for (size_t bit = 0; bit < 8 * sizeof(proof); bit++) {
        unsigned char wrong[JOB_SECRET_PROOF];
        memcpy(wrong, proof, sizeof(wrong));
        wrong[bit / 8] ^= (unsigned char)(1 << bit % 8);
        believed += job_secret_verify(&secret, JOB_SECRET_CLIENT, &nonces, wrong);
    }
    is_int(believed, 0, "no other nonce and no other proof is believed");
    read_as(&other, "correct horse battery staplf");
    ok(!job_secret_verify(&other, JOB_SECRET_CLIENT, &nonces, proof), "nor another secret");
    ok(!job_secret_equal(&secret, &other), "which is another");
    read_as(&other, "correct horse battery staple");
    ok(job_secret_equal(&secret, &other), "as the same is not");
    job_secret_forget(&other);
    ok(!other.set && !job_secret_equal(&secret, &other), "what is forgotten is no secret");
    ok(!job_secret_verify(&other, JOB_SECRET_CLIENT, &nonces, proof), "and proves nothing");
    ok(memcmp(nonces.client, nonces.server, JOB_SECRET_NONCE) != 0, "nonces differ");
}

int main(void)
{
    plan(25);
    refused();
    known_answers();
    changed();
    return done();
}

#else

static void unprotected(void)
{
    job_secret secret;
    is_int(read_as(&secret, "correct horse battery staple"), MUSTER_ERR_UNSUPPORTED,
           "without libsodium a secret is refused");
    has_str(muster_last_error(), "built without libsodium", "for that reason");
    ok(!secret.set, "and nothing takes itself for protected");
}

int main(void)
{
    plan(13);
    refused();
    unprotected();
    return done();
}

#endif
