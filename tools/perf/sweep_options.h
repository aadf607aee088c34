/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of muster-perf for collectives; their letters are those of nccl-tests.
 */
#ifndef MUSTER_PERF_SWEEP_OPTIONS_H
#define MUSTER_PERF_SWEEP_OPTIONS_H

#include "command_line.h"
#include "job_options.h"
#include "muster.h"

/* "all" in their place is one more than the last. */
typedef struct sweep_options {
    long long least, most; /* bytes */
    long long factor;      /* from one size to the next, or 0 */
    long long step;        /* bytes from one size to the next */
    long long iterations, warmups;
    long long check;
    int type;  /* MUSTER_NUM_TYPES: all */
    int redop; /* MUSTER_NUM_REDUCTIONS: all */
    int root;  /* -1: all */
    bool mpi, torch;
    bool given; /* any of the others */
} sweep_options;

#define SWEEP_OPTIONS_INIT                                                                         \
    {                                                                                              \
        .least = 8, .most = 64 << 20, .factor = 8, .iterations = 20, .warmups = 5, .check = 1,     \
        .type = MUSTER_FLOAT32, .redop = MUSTER_SUM                                                \
    }

#define SWEEP_OPTIONS_LETTERS "b:e:f:i:w:c:o:d:r:"

enum { SWEEP_OPTIONS_ITERS = JOB_OPTIONS_JSON + 1, SWEEP_OPTIONS_PEER, SWEEP_OPTIONS_LAST };

/* Their rows in a table of long options. */
#define SWEEP_OPTIONS_ROWS                                                                         \
    {"minbytes", required_argument, NULL, 'b'}, {"maxbytes", required_argument, NULL, 'e'},        \
        {"stepfactor", required_argument, NULL, 'f'}, {"stepbytes", required_argument, NULL, 'i'}, \
        {"iters", required_argument, NULL, SWEEP_OPTIONS_ITERS},                                   \
        {"warmup_iters", required_argument, NULL, 'w'},                                            \
        {"warmup-iters", required_argument, NULL, 'w'}, {"check", required_argument, NULL, 'c'},   \
        {"op", required_argument, NULL, 'o'}, {"datatype", required_argument, NULL, 'd'},          \
        {"root", required_argument, NULL, 'r'},                                                    \
    {                                                                                              \
        "peer", required_argument, NULL, SWEEP_OPTIONS_PEER                                        \
    }

bool sweep_options_know(int option);

/* Takes one of them, whose argument is optarg; false after a complaint. */
bool sweep_options_take(sweep_options *options, int option);

/* What only all of them together can be wrong about. */
bool sweep_options_check(const sweep_options *options);

/* Their part of the help. */
#define SWEEP_OPTIONS_HELP                                                                         \
    "OPERATION is barrier, broadcast, reduce, all_reduce, gather, gather_v, scatter,\n"            \
    "scatter_v, all_gather, all_gather_v, reduce_scatter, reduce_scatter_v,\n"                     \
    "all_to_all, all_to_all_v or send_recv (to the next rank, from the one before).\n"             \
    "The table is that of nccl-tests: out of place, then in place; the time of a call\n"           \
    "on the slowest rank, in microseconds; algbw, size by time; busbw, which allows\n"             \
    "for the ranks; and the elements that are wrong, for which it ends with status 1.\n"           \
    "Where ranks have blocks of their own, size is that of all blocks together; those\n"           \
    "of the operations with _v are half as long again and half as long in turn.\n"                 \
    "  -b, --minbytes SIZE    the first size (8); K, M and G are 2^10, 2^20 and 2^30\n"            \
    "  -e, --maxbytes SIZE    the last (64M)\n"                                                    \
    "  -f, --stepfactor N     from size to size (8), or\n"                                         \
    "  -i, --stepbytes SIZE   the difference of sizes\n"                                           \
    "  -n, --iters N          calls that are measured in a row (20); for all but an\n"             \
    "                         OPERATION -n is --rounds\n"                                          \
    "  -w, --warmup_iters N   calls before them (5)\n"                                             \
    "  -c, --check N          0: results are not checked (1)\n"                                    \
    "  -d, --datatype TYPE    float32 (the default), or another of muster's names or\n"            \
    "                         those of nccl-tests (float, half), or all\n"                         \
    "  -o, --op REDUCTION     sum (the default), or another of muster's names, or all\n"           \
    "  -r, --root RANK        0 (the default), or all\n"                                           \
    "      --peer mpi         the same sizes, in the same rounds, with Open MPI, for\n"            \
    "                         which a program is compiled; or with the MPI of the\n"               \
    "                         commands in $MPICC and $MPIRUN; all on one host\n"                   \
    "      --peer torch       and with torch's Gloo in the Python of --torch, on the\n"            \
    "                         hosts and CPUs of muster's ranks. A second table has\n"              \
    "                         what each took, in place where torch has no other way\n"             \
    "                         (reduce, all_reduce)\n"

#endif
