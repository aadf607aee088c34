/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job secret: what the ranks of one job know and strangers do not. It comes from an argument,
 * or from MUSTER_JOB_SECRET; only a key made of it is kept, and that never leaves the process.
 */
#ifndef MUSTER_LIB_JOB_SECRET_H
#define MUSTER_LIB_JOB_SECRET_H

#include "muster.h"

enum {
    JOB_SECRET_KEY = 32,
    JOB_SECRET_NONCE = 32,
    JOB_SECRET_PROOF = 32,
    JOB_SECRET_LEAST = 16, /* characters: fewer can be guessed from a proof that was overheard */
    JOB_SECRET_MOST = 1024
};

/* All zeros is a job without a secret. */
typedef struct job_secret {
    bool set;
    unsigned char key[JOB_SECRET_KEY];
} job_secret;

/* What both sides drew for one connection. */
typedef struct job_secret_nonces {
    unsigned char client[JOB_SECRET_NONCE];
    unsigned char server[JOB_SECRET_NONCE];
} job_secret_nonces;

typedef enum job_secret_side { JOB_SECRET_CLIENT, JOB_SECRET_SERVER } job_secret_side;

/* Reads the secret that was given, or where that is NULL MUSTER_JOB_SECRET. One that is set but
 * empty, too short or too long is an error, and so is any where muster was built without the
 * library that can prove it: nothing that was to be protected goes without. */
muster_status job_secret_read(job_secret *secret, const char *given);

bool job_secret_equal(const job_secret *a, const job_secret *b);

void job_secret_draw(unsigned char nonce[JOB_SECRET_NONCE]);

/* That side knows the secret, said for this one pair of nonces. */
void job_secret_prove(const job_secret *secret, job_secret_side side,
                      const job_secret_nonces *nonces, unsigned char proof[JOB_SECRET_PROOF]);

/* In the same time whatever the proof is. */
bool job_secret_verify(const job_secret *secret, job_secret_side side,
                       const job_secret_nonces *nonces,
                       const unsigned char proof[JOB_SECRET_PROOF]);

/* Overwrites the key. */
void job_secret_forget(job_secret *secret);

#endif
