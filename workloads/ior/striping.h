/* Making a file with a stripe layout of its own. */
#ifndef IOR_STRIPING_H
#define IOR_STRIPING_H

#include "api.h"

/* The first task of a file creates it with the layout that the settings ask for, through the lustre.lov
 * extended attribute; nothing when they ask for none. Collective over the file's tasks. */
void striping_create(const Target *target, Trouble *trouble);

#endif
