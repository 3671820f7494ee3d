/* Calls of MPI and of the file system with their times and with what joins them to the calls of other ranks,
 * in the order of each process: from them the report finds who waited for whom, and why (IOLENS_WHY). */
#ifndef IOLENS_WHY_EVENTS_H
#define IOLENS_WHY_EVENTS_H

#include <stdbool.h>

/* Returns true if IOLENS_WHY asks for events. */
bool why_wanted(void);

#endif
