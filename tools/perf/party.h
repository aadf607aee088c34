/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes of a measurement's own: it gives them orders by the line, and each answers with a line.
 */
#ifndef MUSTER_PERF_PARTY_H
#define MUSTER_PERF_PARTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct perf_party perf_party;

struct perf_party {
    pid_t pid; /* 0: it does not run */
    int orders, answers;
    perf_party *next;
};

/* Starts a process that runs body with orders on stdin and answers on stdout. */
bool perf_party_start(perf_party *party, int (*body)(const void *context), const void *context);

/* Gives an order, where there is one, and waits for the line that answers it, which begins with two
 * numbers, or with ! and a sentence. False: the sentence is in why. */
bool perf_party_ask(perf_party *party, const char *order, double numbers[2], char *rest,
                    size_t rest_size, int64_t timeout_ms, char why[512]);

/* This process ends when the one that started it does: a crew in the middle of a task would not
 * hear of it. */
void perf_party_tie(void);

/* A party that has no more orders ends; one that does not is killed. */
void perf_party_end(perf_party *party);

#endif
