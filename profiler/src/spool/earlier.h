/* The spool of the program that this process ran before an exec. */
#ifndef IOLENS_EARLIER_H
#define IOLENS_EARLIER_H

#include <stdbool.h>

#include "../memory/area.h"
#include "spool.h"

/* Called when a program begins. If an earlier program of this process left a spool, keeps the spool if it is
 * `worth` a log, marked as ended now and under another name; else removes it. A failed exec changes nothing,
 * because only the new program does this. `worth` reads the header at its own address, and in `area` the
 * memory behind it. */
void earlier_settle(bool (*worth)(const struct spool_header *header, const struct area *area));

#endif
