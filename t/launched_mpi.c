/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank that uses MPI and muster in one process: muster first, or MPI first. It is compiled by the
 * test that runs it, where there is an MPI to compile it with.
 */
#include <mpi.h>
#include <muster.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int with_mpi(int *argc, char ***argv)
{
    int rank = -1, sum = -1;
    if (MPI_Init(argc, argv) != MPI_SUCCESS)
        return -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static int with_muster(void)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    muster_group *world;
    args.timeout_ms = 30000;
    if (muster_init_process_group(&world, &args) != MUSTER_OK) {
        fprintf(stderr, "%s\n", muster_last_error());
        return -1;
    }
    int32_t rank = muster_group_rank(world), sum = -1;
    if (muster_all_reduce(world, &rank, &sum, 1, MUSTER_INT32, MUSTER_SUM, NULL) != MUSTER_OK)
        sum = -1;
    muster_group_free(world);
    return sum;
}

int main(int argc, char **argv)
{
    int mpi_first = argc > 1 && strcmp(argv[1], "mpi-first") == 0;
    int mpi = mpi_first ? with_mpi(&argc, &argv) : -1;
    int muster = with_muster();
    if (!mpi_first)
        mpi = with_mpi(&argc, &argv);
    char line[80];
    int length = snprintf(line, sizeof(line), "muster %d, MPI %d\n", muster, mpi);
    int written = (int)write(1, line, (size_t)length);
    MPI_Finalize();
    return muster < 0 || mpi < 0 || written != length;
}
