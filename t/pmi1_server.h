/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stand-in for the PMI-1 server of Hydra, Slurm or Flux: it speaks the same text protocol on the
 * sockets that it is given, and can misbehave.
 */
#ifndef MUSTER_T_PMI1_SERVER_H
#define MUSTER_T_PMI1_SERVER_H

typedef enum pmi1_manner {
    PMI1_WELL,
    PMI1_BYTES,      /* an answer comes byte by byte */
    PMI1_SILENT,     /* no answers at all */
    PMI1_NO_BARRIER, /* the barrier never ends */
    PMI1_CUT,        /* it closes the connection in the middle of an answer */
    PMI1_GONE,       /* it closes at once */
    PMI1_NONSENSE,   /* bytes that are no line of the protocol */
    PMI1_OVERLONG,   /* a line that does not end */
    PMI1_TWO_LINES,  /* more than was asked for */
    PMI1_ZERO,       /* a line with a zero byte */
    PMI1_REFUSES,    /* "rc=-1" */
    PMI1_NO_NAME,    /* no kvsname */
    PMI1_BAD_MAX,    /* vallen_max is no number */
    PMI1_SMALL,      /* vallen_max is 4 */
    PMI1_LOSES       /* what was put is not there */
} pmi1_manner;

/* Serves count clients until all have ended; returns 0 where each has sent "finalize". */
int pmi1_serve(const int *sockets, int count, pmi1_manner manner);

#endif
