/* The transport of a process without MPI: a single rank. */
#ifndef IOLENS_SERIAL_H
#define IOLENS_SERIAL_H

#include "../adapter.h"

extern const struct iolens_transport serial_transport;

/* Keeps ranks from waiting for a rank that skips a step.
 *
 * A rank without memory leaves out steps that need it. If other ranks went on, they would wait for it in a
 * step that it never takes, or meet it in a different step, and the program would hang. */

/* Returns the same transport with a check before each collective step: all ranks tell each other which step
 * is next, and whether memory has sufficed since this call (one allreduce of three numbers). If one rank
 * lacks memory, or is at another step, no rank takes the step: it and all later steps return -1 on all
 * ranks. Messages between two ranks are not checked, because a receiver needs an answer in any case. Only
 * one such transport may be open. */
const struct iolens_transport *in_step_open(const struct iolens_transport *transport);

/* Collective. Ends the checks; the underlying transport is used from then on. Returns the errno of the
 * failure, 0 if all ranks took all steps. */
int in_step_close(void);

#endif
