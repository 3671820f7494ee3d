/* Runs single parts of a checkpoint: raw_bw (each writer writes, closes and removes a file of its own),
 * gatherv (an equal share of every rank to its writer), combo (both, one after the other). Writer groups are
 * as equal as `rank * writers / ranks` makes them. */
#ifndef CHECKPOINT_KERNEL_H
#define CHECKPOINT_KERNEL_H

#include "config.h"

void kernel_check(const Config *config, int ranks, Trouble *trouble);

/* Runs a kernel and returns the exit status. Collective. */
int kernel_run(const Program *program, const Config *config, MPI_Comm world);

#endif
