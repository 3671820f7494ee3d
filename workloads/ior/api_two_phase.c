/* MPIIO with --mpiio-driver lustre-like: collective transfers by the toolkit's own two-phase method, with
 * whole stripes bound to aggregators. */
#include <stdlib.h>

#include "api.h"
#include "two_phase.h"

static void *two_phase_start(Target *target, Trouble *trouble)
{
    TwoPhase *file = allocate(1, sizeof *file);
    two_phase_open(file, target->path, target->writing, DOMAINS_BOUND, &target->settings->hints, target->comm,
                   trouble);
    two_phase_hints(file, &target->effective);
    return file;
}

static bool two_phase_move(void *opened, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                           Trouble *trouble)
{
    TwoPhase *file = opened;
    Piece piece = {offset, bytes};
    file->trouble = trouble;
    if (target->writing)
        two_phase_write(file, &piece, 1, buffer);
    else
        two_phase_read(file, &piece, 1, buffer);
    return !trouble->any;
}

static void two_phase_flush(void *opened, const Target *target, Trouble *trouble)
{
    TwoPhase *file = opened;
    (void)target;
    file->trouble = trouble;
    two_phase_sync(file);
}

static void two_phase_end(void *opened, const Target *target, Trouble *trouble)
{
    TwoPhase *file = opened;
    (void)target;
    file->trouble = trouble;
    two_phase_close(file, false);
    writes_free(&file->writes);
    free(file);
}

const Api API_TWO_PHASE = {"MPIIO",         true,          two_phase_start, two_phase_move,
                           two_phase_flush, two_phase_end, api_unlink};
