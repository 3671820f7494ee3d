/* From the end of recording to the finished log. */
#ifndef IOLENS_FINISH_H
#define IOLENS_FINISH_H

#include "../adapter.h"
#include "../system/path.h"

/* Collective. Recording has stopped. Returns true when the log is there under the name in `log`; failures are
 * said once, and the program goes on either way. */
bool finish_log(const struct iolens_transport *transport, char log[PATH_BYTES]);

#endif
