/* The output of the kernels: a table in the form of MAPL's original programs, and the result JSON. As in the
 * originals, GB is 10^9 bytes. */
#ifndef CHECKPOINT_KERNEL_REPORT_H
#define CHECKPOINT_KERNEL_REPORT_H

#include "config.h"

#include <limits.h>

typedef struct KernelMode {
    const char *name;
    bool gathers, writes;
} KernelMode;

typedef struct Kernel {
    const Config *config;
    const KernelMode *mode;
    /* Communicators: all ranks, this rank's group, and the writers (MPI_COMM_NULL on other ranks). */
    MPI_Comm world, group, writers;
    int rank, ranks, members; /* Rank, number of ranks, and number of ranks in this rank's group. */
    bool writes;
    /* Number of cells in a writer's packet, and number of cells that each rank contributes. */
    long long packet_cells, own_cells;
    float *packet, *own;
    /* For each member of the group, the number of cells that it contributes, and the index in the packet at
     * which they begin. */
    int *counts, *starts;
    char path[PATH_MAX + 16];
    long long wrong_values;
} Kernel;

/* Seconds of one try on this rank; `write` is 0 on a rank that does not write. */
typedef struct KernelTimes {
    double gather, write;
} KernelTimes;

void kernel_report_header(const Kernel *kernel);
void kernel_report_row(const Kernel *kernel, const KernelTimes *times);

/* Collective. Prints the rows and writes the JSON. */
void kernel_report_json(const Kernel *kernel, const Program *program, const KernelTimes *times,
                        Trouble *trouble);

#endif
