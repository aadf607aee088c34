/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Python interpreters of this machine that have torch. They are looked for in
 * MUSTER_TEST_TORCH_PYTHON, names or paths with ':' between them; where it is not set, they are
 * python3 and /usr/bin/python3.
 */
#ifndef MUSTER_T_TORCH_H
#define MUSTER_T_TORCH_H

typedef struct torch_python {
    char path[512];   /* as argv[0] of a command */
    char version[64]; /* "1.13.0a0", "2.8.0+cu128" */
    int major, minor;
} torch_python;

/* The i-th one, each version of torch once, in the order of the list; NULL when there are no more.
 * The first call asks all interpreters where torch is, which does not import it. */
const torch_python *torch_python_at(int i);

/* The whole file is skipped where no interpreter has torch. */
void needs_torch(void);

#endif
