/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of the ranks whose connections were closed are lost.
 *
 * A rank that fails because of another closes its connections too, and may have ended before a word
 * of that has come through them. So each one that fails says so in the store, under
 * <prefix>/failed/<rank>, before its call returns. Who has ended and has not said so is lost; who
 * has said so is not, whatever has become of it. Once a rank knows the cause it says that too,
 * under <prefix>/heard/<rank>, for a rank that the store would end with.
 */
#ifndef MUSTER_LIB_LOSS_H
#define MUSTER_LIB_LOSS_H

#include "group/roster.h"

/* A rank whose connection was closed without a word. */
typedef struct suspect {
    int rank;
    bool visible; /* its process can be looked at from here; the next three say which that is */
    uint64_t pid_space;
    int64_t pid;
    uint64_t start;
    bool ended; /* its process has */
    bool said;  /* it has said that it has failed */
    bool blames_us;
} suspect;

typedef struct loss {
    muster_store *store; /* the caller's, as the next is */
    const char *prefix;
    int rank; /* the caller */
    int size;
    int count;
    suspect *suspects;
    bool unheard; /* the store does not answer */
} loss;

/* Adds a rank whose record this is; there is room for all ranks but the caller. */
void loss_add(loss *all, const rank_record *record);

/* Says in the store that this rank has failed, and whom it suspects. */
void loss_say_failed(loss *all);

/* Says in the store that this rank knows the cause. */
void loss_say_heard(const loss *all);

/* Waits, so long at most, until all other ranks say so that have not ended, as far as can be seen.
 */
void loss_wait_heard(muster_store *store, const char *prefix, const roster *ranks, int rank,
                     int64_t timeout_ms);

/* Looks at all suspects; true once it is known of each whether it has ended or failed. Where the
 * store does not answer only the first can be found out. */
bool loss_review(loss *all);

/* Whether a suspect of another host is the only kind that is left to be waited for: of those there
 * is no better sign than that they say nothing for a while. */
bool loss_is_far(const loss *all);

/* Whether one of them has ended without a word, which is cause enough. */
bool loss_has_cause(const loss *all);

/* Whether every suspect has failed because of others. */
bool loss_all_said(const loss *all);

/* Whether all of their processes have ended, as far as can be seen. */
bool loss_all_ended(const loss *all);

/* Whether one of them has failed because it suspects this rank. */
bool loss_is_mutual(const loss *all);

/* What is known, as a sentence; said is the backend's. Returns the status that goes with it. */
muster_status loss_words(const loss *all, const char *said, char *words, size_t size);

#endif
