/* From the end of recording to the finished log. */
#ifndef IOLENS_FINISH_H
#define IOLENS_FINISH_H

#include "../adapter.h"

/* Collective. Recording has stopped. Failures are said once; the program goes on either way. */
void finish_log(const struct iolens_transport *transport);

#endif
