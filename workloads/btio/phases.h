/* Marks the phases of a run for the profiler, if it is present (iolens.h). */
#ifndef BTIO_PHASES_H
#define BTIO_PHASES_H

enum phase {
    PHASE_EXCHANGE = 1,
    PHASE_RHS,
    PHASE_SOLVE_X,
    PHASE_SOLVE_Y,
    PHASE_SOLVE_Z,
    PHASE_ADD,
    PHASE_WRITE,
    PHASE_READ,
    PHASE_VERIFY
};

void phase_begin(enum phase phase);
void phase_end(enum phase phase);

#endif
