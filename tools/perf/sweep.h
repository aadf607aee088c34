/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf's measurement of the collectives, size after size: its parts.
 */
#ifndef MUSTER_PERF_SWEEP_H
#define MUSTER_PERF_SWEEP_H

#include <jansson.h>

#include "perf.h"

/* What is shared of the bandwidth's formula: of n ranks, how often each byte must cross a link. */
typedef enum sweep_bus { SWEEP_NONE, SWEEP_ONCE, SWEEP_OTHERS, SWEEP_TWICE } sweep_bus;

typedef struct sweep_call sweep_call;

/* An operation. Its buffers hold one block, or one for each rank. */
typedef struct sweep_operation {
    const char *name;
    muster_status (*call)(const sweep_call *one, muster_work **work);
    bool sends_blocks, receives_blocks;
    bool varies;  /* blocks are of different lengths */
    bool crossed; /* a block's length depends on both its ranks */
    bool reduces, rooted;
    bool outside, inside; /* out of place, in place */
    sweep_bus bus;
} sweep_operation;

extern const sweep_operation sweep_operations[];
extern const size_t sweep_num_operations;

/* NULL for none of that name. */
const sweep_operation *sweep_find(const char *name);

/* One line of the table, and what is needed to run it on this rank. */
struct sweep_call {
    const sweep_operation *operation;
    muster_group *world;
    int rank, size;
    size_t base;    /* elements of a block, where all have the same length */
    size_t *counts; /* of each block */
    size_t total;   /* elements of all blocks */
    muster_type type;
    muster_reduction kind; /* MUSTER_PREMUL_SUM where redop is one of those */
    muster_reduction redop;
    int root;
    unsigned char *send, *receive;
};

/* Sets base, counts and total for about so many bytes; what operation, type, rank and size say is
 * set. */
void sweep_call_size(sweep_call *one, long long bytes);

/* Where block number is in a buffer of blocks, in elements. */
size_t sweep_offset(const sweep_call *one, int number);

/* Points send and receive into two buffers, or one of them. */
void sweep_call_place(sweep_call *one, bool inside, unsigned char *first, unsigned char *second);

/* Bytes that the table gives the bandwidth of, and the factor from algbw to busbw. */
double sweep_bytes(const sweep_call *one);
double sweep_bus_factor(const sweep_call *one);

/* ---- Data ---------------------------------------------------------------------------------- */

/* What ranks send, and what is to come of it: pieces of a pattern for each rank. */
typedef struct sweep_data sweep_data;

sweep_data *sweep_data_new(const sweep_call *one); /* NULL without memory */
void sweep_data_free(sweep_data *data);

/* Writes what this rank sends. */
void sweep_data_fill(const sweep_data *data, const sweep_call *one);

/* The number of elements that this rank received wrong. */
long long sweep_data_wrong(const sweep_data *data, const sweep_call *one);

/* ---- Output -------------------------------------------------------------------------------- */

/* Of muster, and of the others that were asked for. */
enum { SWEEP_MUSTER, SWEEP_MPI, SWEEP_TORCH, SWEEP_NUM_SIDES };
extern const char *const sweep_side_names[SWEEP_NUM_SIDES];

/* What a peer says that it lacks, in so many bytes. */
enum { SWEEP_LACK = 256 };

/* What was found for a line. Seconds are below 0 for what was not measured. */
typedef struct sweep_line {
    double seconds[2]; /* out of place, in place */
    double wrong[2];   /* elements, on all ranks; below 0 where not checked */
    double against[SWEEP_NUM_SIDES];
    char lacks[SWEEP_NUM_SIDES][SWEEP_LACK]; /* why against is below 0, or "" */
} sweep_line;

void sweep_print_head(const perf_options *options, muster_group *world, const sweep_call *one);
void sweep_print_line(const perf_options *options, const sweep_call *one, const sweep_line *line);
void sweep_print_end(const perf_options *options, long long wrong, double bus, const json_t *lines);

/* The line as JSON, with every number that is in the table. */
json_t *sweep_json_line(const sweep_call *one, const sweep_line *line);
void sweep_print_json(const perf_options *options, muster_group *world, const char *measured,
                      long long wrong, double bus, json_t *lines);

double sweep_bandwidth(const sweep_call *one, double seconds); /* algbw in GB/s */

#endif
