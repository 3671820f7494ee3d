/* The program's own functions that are timed: those in IOLENS_TRACE_FUNCTIONS, else all. */
#ifndef IOLENS_TRACED_CHOICE_H
#define IOLENS_TRACED_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* `setting`: OBJECT:ADDRESS,... with the name of a loaded file (none: the program) and an address in it, in
 * hexadecimal, as `nm` prints it. Files that are loaded later are not looked at. */
void traced_choice_read(const char *setting);

bool traced_choice_holds(uintptr_t function);

#endif
