/* Control variables of the MPI library that are in effect in this process, read by the MPI tools
 * interface. */
#ifndef COLLECTIVES_LIBRARY_H
#define COLLECTIVES_LIBRARY_H

enum { VARIABLE_TEXT = 128, VARIABLES_MAX = 128 };

typedef struct Variable {
    char name[VARIABLE_TEXT], value[VARIABLE_TEXT];
} Variable;

/* Reads the variables that decide between algorithms and protocols, at most `room`; returns their number.
 * Must be called between MPI_Init and MPI_Finalize. */
int library_variables(Variable *list, int room);

#endif
