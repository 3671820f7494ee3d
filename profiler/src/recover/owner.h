/* The user whose rights are used to write a log. */
#ifndef IOLENS_OWNER_H
#define IOLENS_OWNER_H

#include <stdbool.h>

/* If root recovers a spool, continues with the rights of the spool's owner. That user then owns the log, and
 * the spool cannot name a place that only root may write to. Returns false, after a message on standard
 * error, if that fails. */
bool owner_become(const char *spool);

#endif
