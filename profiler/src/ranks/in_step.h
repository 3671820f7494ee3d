/* Ranks that wait for one another wait for none that has lost its way.
 *
 * A rank without memory leaves out what it has no room for. If others went on, they would wait for it in a
 * step that it never takes, or meet it in a different one, and the program with them. */
#ifndef IOLENS_IN_STEP_H
#define IOLENS_IN_STEP_H

#include "../adapter.h"

/* The same transport, where all ranks first tell each other which collective step comes next and whether
 * memory has lasted since this call: one allreduce of three numbers each. Where one rank has none, or is at
 * another step, no rank takes the step: it returns -1 on all of them, and so do all that follow. Messages
 * from rank to rank are not looked at: who receives one must get an answer in any case. One such transport at
 * a time. */
const struct iolens_transport *in_step_open(const struct iolens_transport *transport);

/* Collective; from here on only the transport below is used. The errno of what went wrong, 0 when all ranks
 * took all steps. */
int in_step_close(void);

#endif
