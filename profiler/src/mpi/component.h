/* Finds the implementation of MPI-IO that the library uses. */
#ifndef IOLENS_COMPONENT_H
#define IOLENS_COMPONENT_H

/* After a file was opened; "" when it cannot be told. */
const char *component_in_use(void);

#endif
