/* The spool of the program that this process ran before an exec. */
#ifndef IOLENS_EARLIER_H
#define IOLENS_EARLIER_H

#include <stdbool.h>

#include "../memory/area.h"
#include "spool.h"

/* If an earlier program of this process left its spool, marks it, when the process begins, as ended now and
 * renames it if it is `worth` a log, else removes it. An exec that fails and a child of vfork are unaffected,
 * because the new program does this after the exec. `worth` reads the header at its own address, and in
 * `area` the memory behind it. */
void earlier_settle(bool (*worth)(const struct spool_header *header, const struct area *area));

#endif
