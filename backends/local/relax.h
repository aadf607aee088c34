/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between two looks at a word that another core is to write.
 */
#ifndef MUSTER_LOCAL_RELAX_H
#define MUSTER_LOCAL_RELAX_H

/* Leaves the core to its other hardware thread for a moment, on processors that have a way to say
 * so. */
static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
