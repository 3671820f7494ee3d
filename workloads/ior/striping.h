/* Creates a file with its own stripe layout. */
#ifndef IOR_STRIPING_H
#define IOR_STRIPING_H

#include "api.h"

/* Creates the file, on its first task, with the layout in the settings, by the lustre.lov extended attribute;
 * does nothing without such settings. Collective over the file's tasks. */
void striping_create(const Target *target, Trouble *trouble);

#endif
