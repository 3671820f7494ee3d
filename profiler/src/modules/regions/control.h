/* Requests that the program may make to the recorder while it runs. */
#ifndef IOLENS_CONTROL_H
#define IOLENS_CONTROL_H

#include <stdbool.h>

/* Count nothing from now on, or go on counting. Files that are opened, closed and moved in meanwhile are
 * followed, so that what comes later is counted where it belongs. */
void control_record(bool on);

/* Bring up to date what a killed process leaves. */
void control_flush(void);

#endif
