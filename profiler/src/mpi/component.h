/* Finds out which implementation of MPI-IO the library uses. */
#ifndef IOLENS_COMPONENT_H
#define IOLENS_COMPONENT_H

/* Returns the implementation's name; "" if unknown. Called after a file was opened. */
const char *component_in_use(void);

#endif
