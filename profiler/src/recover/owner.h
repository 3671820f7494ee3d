/* Whose rights a log is written with. */
#ifndef IOLENS_OWNER_H
#define IOLENS_OWNER_H

#include <stdbool.h>

/* When root recovers another user's spool: go on as that user, who then owns the log, and whose spool cannot
 * name a place that only root may write. False, with a sentence on standard error, when that fails. */
bool owner_become(const char *spool);

#endif
