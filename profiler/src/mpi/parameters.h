/* Reports the MPI library and its settings to the core, once. */
#ifndef IOLENS_PARAMETERS_H
#define IOLENS_PARAMETERS_H

/* After MPI_Init, reports to the core the library's version, its components, parameters and environment
 * variables. */
void parameters_tell(void);

/* Reports the facts that only the library itself knows; defined once for Open MPI and once for all other
 * libraries. */
void parameters_of_library(void);

#endif
