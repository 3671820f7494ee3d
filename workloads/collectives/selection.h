/* Finds out which implementations of the collective operations the MPI library chose, from its own
 * messages.
 *
 * With the parameter coll_base_verbose, Open MPI prints for each new communicator the components that can
 * serve it. These messages are captured from standard error; all other text is passed on. Other MPI libraries
 * print nothing. */
#ifndef COLLECTIVES_SELECTION_H
#define COLLECTIVES_SELECTION_H

#include <stdbool.h>

enum { COMPONENTS_MAX = 16, COMPONENT_NAME = 32 };

typedef struct Component {
    char name[COMPONENT_NAME];
    int priority;
} Component;

/* The components that are enabled for MPI_COMM_WORLD, highest priority first; the first one that has an
 * operation performs it. */
typedef struct Selection {
    int count;
    Component list[COMPONENTS_MAX];
} Selection;

/* Parses the selection from the library's messages. */
Selection selection_parse(const char *words);

/* Captures standard error until selection_end(), or the end of the process. Must be called before
 * MPI_Init. */
void selection_begin(void);
Selection selection_end(void);

#endif
