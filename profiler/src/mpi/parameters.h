/* The MPI library and how it is set, told to the core once. */
#ifndef IOLENS_PARAMETERS_H
#define IOLENS_PARAMETERS_H

/* When MPI has begun: the library's version, what it is made of, its parameters, and the environment. */
void parameters_tell(void);

/* The part that only the library itself can tell: one definition for Open MPI, one for all others. */
void parameters_of_library(void);

#endif
