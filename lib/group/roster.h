/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each rank of a group tells the others about itself, as text, and the list of all of them.
 */
#ifndef MUSTER_LIB_ROSTER_H
#define MUSTER_LIB_ROSTER_H

#include <stdio.h>

#include "muster.h"

/* One backend as a rank has it. */
typedef struct rank_backend {
    const char *name;
    const char *version;
    const char *reason;       /* why it is not available; "" where it is */
    const char *address;      /* numeric, that this rank would use with it across hosts; "" none */
    const char *interface;    /* the address's */
    const char *address_from; /* what chose it: an option's name, or words */
    const char *second;       /* an address of the other family that would do as well; "" none */
    const char *second_interface;
    int device;              /* ordinal of the rank's own one; -1: none, or not settled yet */
    const char *device_from; /* what settled it, or why there is none; "" not settled, or none known
                              */
} rank_backend;

/* One device that a rank could take. */
typedef struct rank_device {
    const char *backend;
    int ordinal; /* as the rank's process counts */
    int slice;   /* 1: a part of a device */
    const char *uuid;
    const char *bus_id;
    const char *name;
} rank_device;

/* A network interface that reaches what the rank's address reaches, and is nearer to one of the
 * places that the rank may be given. */
typedef struct rank_way {
    bool of_device; /* number is a device's ordinal, else a NUMA node's number */
    int number;
    const char *interface; /* "": that of the rank's address */
    const char *address;
    const char *hca;      /* the nearest adapter; "" none */
    const char *nearness; /* in words */
} rank_way;

/* What a rank was given when the ranks of its host were placed: see placement/placement.h. */
typedef struct rank_seat {
    bool placed; /* false: nothing below is known */
    int local_rank;
    int device;
    int package;
    int node;
    int kept;
    int shared;
    const char *uuid;
    const char *bus_id;
    const char *distance;
    const char *cpus;
    const char *node_cpus;
    const char *near_cpus;
    const char *thread_cpus; /* where threads of muster's own are best */
    const char *nic;
    const char *hca;
    const char *nic_why;
    const char *why;
    const char *shortage; /* of the host, where the rank has no device; else "" */
} rank_seat;

/* One rank. The strings point into text. */
typedef struct rank_record {
    char *text;
    const char *library; /* version of muster */
    const char *host;
    const char *host_id;
    const char *asked;    /* the backend that was asked for */
    const char *loopback; /* the address for ranks of the same host; "" is 127.0.0.1 */
    const char *policy;   /* how it wants the ranks of its host to be placed */
    const char *place_list;
    const char *standing; /* where it stands before that, see placement/standing.h; "" unknown */
    const char *memory;   /* why it can't share memory with ranks of its host; "" where it can */
    const char *access;   /* as whom it shares it, see net/memory_access.h; "" not known */
    long long pid;
    unsigned long long pid_space;
    unsigned long long start;
    unsigned long long nonce; /* rank 0's tells this group from any other */
    int world_size;
    int rank;
    int cores;
    int checks;          /* 1: it wants all calls to be compared */
    int told_local_rank; /* 1 and the local rank that its launcher gave it; 0: it gave none */
    int in_use;          /* 1: the process makes use of devices */
    int elsewhere;       /* 1: where it stands is the machine of a file */
    size_t num_backends;
    rank_backend *backends;
    size_t num_devices;
    rank_device *devices;
    size_t num_ways;
    rank_way *ways;
    rank_seat seat;
    char *seat_text; /* the strings of seat where they are not in text */
} rank_record;

typedef struct roster {
    int count;
    int hosts; /* how many the ranks are on */
    rank_record *ranks;
} roster;

/* Writes a record as text that muster_free() frees. */
muster_status rank_record_write(const rank_record *record, char **text);

/* Reads one; text from the store is checked and never trusted. rank_record_clear() frees it. */
muster_status rank_record_read(rank_record *record, muster_blob text);
void rank_record_clear(rank_record *record);

/* "rank 3 (host b, pid 77)". Returns text. */
const char *rank_record_name(const rank_record *record, char *text, size_t size);

/* The backend of that name as the rank has it, or NULL. */
const rank_backend *rank_record_backend(const rank_record *record, const char *name);

/* The rank's own device with that backend, or NULL. */
const rank_device *rank_record_device(const rank_record *record, const char *backend);

/* Reads count records, checks that each is of the rank at whose place it stands. */
muster_status roster_read(roster *list, const muster_blob *texts, int count);

/* The records of ranks[0..count) of another roster, in that order. */
muster_status roster_subset(roster *list, const roster *from, const int *ranks, int count);
void roster_clear(roster *list);

/* Inside the room: a line of fields, which tabs and newlines in them don't end; the lines of ways
 * and seats without the word in front. */
void roster_write_fields(FILE *out, const char *word, const char *const *fields, size_t count);
void roster_write_place(FILE *out, const rank_record *record);
bool roster_read_way(rank_record *record, char *fields);
bool roster_read_seat(rank_seat *seat, char *fields);
bool roster_read_number(const char *text, int least, int *number);

/* How many ranks share the host of rank, it included. */
int roster_ranks_on_host(const roster *list, int rank);
int roster_num_hosts(const roster *list);

/* Whether the two are on one host. */
bool roster_on_one_host(const roster *list, int a, int b);

#endif
