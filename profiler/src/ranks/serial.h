/* The transport of a process without MPI: a single rank. */
#ifndef IOLENS_SERIAL_H
#define IOLENS_SERIAL_H

#include "../adapter.h"

extern const struct iolens_transport serial_transport;

#endif
