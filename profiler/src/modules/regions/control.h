/* Requests that the program may make of the recorder while it runs. */
#ifndef IOLENS_CONTROL_H
#define IOLENS_CONTROL_H

#include <stdbool.h>

/* Switches counting off or on. Open files and their positions are still followed while counting is off, so
 * that later calls are counted for the right file and offset. */
void control_record(bool on);

/* Updates the spool, so that the log of a killed process has all records so far. */
void control_flush(void);

#endif
