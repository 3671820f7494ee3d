#include "phases.h"

#include "iolens.h"

static const char *const LABEL[] = {
    [PHASE_EXCHANGE] = "exchange", [PHASE_RHS] = "rhs",         [PHASE_SOLVE_X] = "x solve",
    [PHASE_SOLVE_Y] = "y solve",   [PHASE_SOLVE_Z] = "z solve", [PHASE_ADD] = "add",
    [PHASE_WRITE] = "write",       [PHASE_READ] = "read",       [PHASE_VERIFY] = "verify",
};

void phase_begin(enum phase phase) { iolens_region_begin((int)phase, LABEL[phase]); }

void phase_end(enum phase phase) { iolens_region_end((int)phase); }
