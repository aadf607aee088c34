/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that are not connected yet meet through the store, in rounds that end alike for all of
 * them.
 *
 * In a round every participant publishes some bytes and arrives; the last one to arrive opens the
 * round's gate, on which all of them wait. Whoever can't go on shuts the gate with a sentence
 * instead; all that wait, and all that come later, then get that sentence. The number of store
 * operations a rank makes in a round does not depend on how many ranks there are.
 */
#ifndef MUSTER_LIB_EXCHANGE_H
#define MUSTER_LIB_EXCHANGE_H

#include "base/deadline.h"
#include "muster.h"

enum { EXCHANGE_MAX_ROUNDS = 4 };

/* Looks whether the others are still there; anything but MUSTER_OK, with a sentence, is why there
 * is no point in waiting for them. */
typedef muster_status (*exchange_lookout)(void *user);

typedef struct exchange {
    muster_store *store;
    char *prefix;
    int index; /* this participant's number */
    int count; /* of participants */
    int most;  /* that one of them says there are, where they disagree about it */
    deadline end;
    int64_t timeout_ms; /* what end was made from, for messages */
    int round;          /* the one to come */
    int keep_rounds;    /* what was published in rounds before this stays after exchange_clean */
    bool retry;         /* the gate said that this meeting is void: start anew */
    bool unheard;       /* the store did not take our word for a gate, or gave none */
    muster_blob *blobs; /* of the latest round, one block of memory */
    exchange_lookout lookout; /* asked every half second while it waits, where set */
    void *lookout_user;
    const int *members; /* ranks of a group that the participants are, ascending; NULL: all */
    const char *group;  /* its name, where members is not NULL */
} exchange;

/* prefix is copied, the store is retained. */
muster_status exchange_init(exchange *meeting, muster_store *store, const char *prefix, int index,
                            int count, int64_t timeout_ms, deadline end);
void exchange_destroy(exchange *meeting);

/*
 * One round: publishes mine and gets the bytes of the participants wanted[0..num_wanted), all of
 * them where wanted is NULL, none where num_wanted is 0 and wanted is not NULL. *all has a blob for
 * each of them in that order, until the next round. phase says what the round is for, in words that
 * suit one rank as well as several ("to come"). Where published is true mine has been
 * published already, under exchange_key.
 */
muster_status exchange_round(exchange *meeting, muster_blob mine, bool published, const int *wanted,
                             size_t num_wanted, const char *phase, const muster_blob **all);

/* The key under which participant index publishes in a round; freed by the caller. */
char *exchange_key(const exchange *meeting, int round, int index);

/* The key of a round that all participants share. */
char *exchange_shared_key(const exchange *meeting, int round, const char *name);

/*
 * Shuts the gate of the round to come with status and sentence, unless it is open or shut already.
 * Returns what the gate holds then: MUSTER_OK where it was open, else the status, with the sentence
 * set, of whoever shut it first.
 */
muster_status exchange_shut(exchange *meeting, muster_status status, const char *sentence);

/*
 * For who is busy between two rounds, to be called now and then: MUSTER_OK while nobody has shut
 * the gate of the round to come and the lookout sees nothing, else why this will come to nothing.
 */
muster_status exchange_look(exchange *meeting);

/* The same without the lookout; a store that does not answer is an error too, and then
 * meeting->unheard is set. */
muster_status exchange_hear(exchange *meeting);

/* For what was seen while the store does not answer, which may be why: puts what the store's error
 * in the thread's last error says in front of sentence. Returns status. */
muster_status exchange_blame_store(muster_status status, const char *sentence);

/*
 * A participant can't go on for the reason that is the thread's last error: the others learn it at
 * the gate that they wait at. Returns what all of them are told, which is the reason of whoever was
 * first. Where the reason is that another rank was lost or has failed (MUSTER_ERR_PEER_LOST,
 * MUSTER_ERR_FAILED), that one is given a moment to be first. status MUSTER_OK does nothing.
 */
muster_status exchange_settle(exchange *meeting, muster_status status);

/*
 * All participants must say the same, before the first round: text up to its first newline is
 * compared with what the first to come said, and behind the newline stands who says it. On a
 * disagreement the gate is shut with a sentence that quotes both.
 */
muster_status exchange_agree(exchange *meeting, const char *text);

/* Shuts the gates of all rounds: whoever waits there must start anew. */
void exchange_void(exchange *meeting);

/*
 * After the last round, or after a failure: the last participant to call it removes all that they
 * share. One whose process serves the store stays a while for the others to learn how it ended, no
 * longer than the time-out leaves and not for ranks of which the lookout says that they have ended.
 * What each has published it removes by itself after the last round; after a failure somebody may
 * still be reading it, so that too is left to the last one.
 */
void exchange_clean(exchange *meeting, muster_status status);

/* The two halves of exchange_clean after a failure. exchange_leave: true for the last participant
 * to leave, which exchange_finish is to be told. */
bool exchange_leave(exchange *meeting);
void exchange_finish(exchange *meeting, bool last, muster_status status);

#endif
