/* Control variables of the MPI library in effect in this process, through the MPI tools interface. */
#ifndef COLLECTIVES_LIBRARY_H
#define COLLECTIVES_LIBRARY_H

enum { VARIABLE_TEXT = 128, VARIABLES_MAX = 128 };

typedef struct Variable {
    char name[VARIABLE_TEXT], value[VARIABLE_TEXT];
} Variable;

/* Those that decide between algorithms and protocols, at most `room`; returns their number. Between MPI_Init
 * and MPI_Finalize. */
int library_variables(Variable *list, int room);

#endif
