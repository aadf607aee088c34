/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER leave of a machine's GPUs, without asking CUDA:
 * for plans, and to say why a GPU is hidden. Where CUDA itself can be asked, it is right.
 */
#ifndef MUSTER_LIB_VISIBLE_DEVICES_H
#define MUSTER_LIB_VISIBLE_DEVICES_H

#include <stdbool.h>

/* A GPU that CUDA would see without the variables. */
typedef struct visible_candidate {
    const char *uuid;  /* "GPU-..."; "" where not known */
    const char *model; /* "" where not known */
} visible_candidate;

/* What one ordinal of CUDA stands for. */
typedef struct visible_device {
    int gpu;      /* the candidate; -1: a slice of a GPU that the name does not tell */
    char mig[96]; /* "MIG-..." where it is a slice of the GPU; "" the whole GPU */
} visible_device;

/* More than CUDA lets a machine have. */
enum { VISIBLE_DEVICES_LIMIT = 64 };

typedef struct visible_devices {
    int count;                                     /* as CUDA would say */
    visible_device devices[VISIBLE_DEVICES_LIMIT]; /* by ordinal */
    bool certain;  /* false: CUDA's own order is not known, so ordinals may stand for others */
    char why[512]; /* which GPUs are hidden and why, in a sentence; "" where none is */
} visible_devices;

/*
 * devices and order are the variables' texts, NULL where they are not set. Candidates are in the
 * order of their bus ids; of more than VISIBLE_DEVICES_LIMIT the rest is hidden. As CUDA does: an
 * empty text hides all; the first entry says whether they are numbers, GPU-... or MIG-...; the list
 * ends at the first entry that is wrong; one that comes twice hides all; a process has one slice.
 */
void visible_devices_read(const char *devices, const char *order,
                          const visible_candidate *candidates, int num_candidates,
                          visible_devices *seen);

#endif
