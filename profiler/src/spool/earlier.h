/* The spool of the program that this process was before an exec. */
#ifndef IOLENS_EARLIER_H
#define IOLENS_EARLIER_H

#include <stdbool.h>

#include "../memory/area.h"
#include "spool.h"

/* When the process begins: where an earlier program of this process left its spool, mark it as ended now and
 * give it a name of its own when it is `worth` a log, else remove it. An exec that fails and a child of vfork
 * notice nothing, since nothing is done before the exec. `worth` reads the header at its own address, and in
 * `area` what lies behind it. */
void earlier_settle(bool (*worth)(const struct spool_header *header, const struct area *area));

#endif
