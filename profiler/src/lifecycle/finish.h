/* Writes the log after recording has stopped. */
#ifndef IOLENS_FINISH_H
#define IOLENS_FINISH_H

#include "../adapter.h"
#include "../system/path.h"

/* Writes the job's log after recording has stopped; collective. Returns true if the log exists under the name
 * in `log`. Prints one message if writing fails; the program continues either way. */
bool finish_log(const struct iolens_transport *transport, char log[PATH_BYTES]);

#endif
