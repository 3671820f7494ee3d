/* Chooses which of the program's own functions are timed: those in IOLENS_TRACE_FUNCTIONS, or all. */
#ifndef IOLENS_TRACED_CHOICE_H
#define IOLENS_TRACED_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads `setting`: OBJECT:ADDRESS,... where OBJECT is the name of a loaded file (empty: the program) and
 * ADDRESS a hexadecimal address in that file, as `nm` prints it. Files that are loaded later are ignored. */
void traced_choice_read(const char *setting);

bool traced_choice_holds(uintptr_t function);

#endif
