/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which network interface is nearest to a GPU or to some CPUs, among those that will do.
 */
#ifndef MUSTER_LIB_NIC_NEAR_H
#define MUSTER_LIB_NIC_NEAR_H

#include "machine/machine.h"

/* Nearest first. */
typedef enum nic_nearness {
    NIC_SAME_SWITCH,      /* a PCI bridge below the host bridge is above both */
    NIC_SAME_HOST_BRIDGE, /* they meet at the host bridge */
    NIC_SAME_NUMA,
    NIC_SAME_PACKAGE,
    NIC_ELSEWHERE, /* on another package */
    NIC_UNKNOWN,   /* nothing is known of where one of them is */
} nic_nearness;

typedef struct nic_choice {
    int nic; /* its place in the machine's nics; -1: none of those named is in this machine */
    nic_nearness nearness;
} nic_choice;

/*
 * Names are of interfaces or HCAs, the one to be preferred first; those that the machine does not
 * have (bonds, bridges, the loopback) are passed over. names NULL: all NICs of the machine, those
 * with an interface first. Of equally near ones the first wins.
 */
nic_choice nic_near_gpu(const machine *m, int gpu, const char *const *names, int num_names);
nic_choice nic_near_cpus(const machine *m, const cpu_set *cpus, const char *const *names,
                         int num_names);

/* How near one NIC is. */
nic_nearness nic_nearness_to_gpu(const machine *m, int nic, int gpu);
nic_nearness nic_nearness_to_cpus(const machine *m, int nic, const cpu_set *cpus);

/* "behind the same switch", "at the same host bridge", ... */
const char *nic_nearness_text(nic_nearness nearness);

#endif
