/* Creates a file with its own stripe layout. */
#ifndef IOR_STRIPING_H
#define IOR_STRIPING_H

#include "api.h"

/* Creates the file on its first task with the stripe layout in the settings, by Lustre's ioctl; does nothing
 * if the settings have no layout. Collective over the file's tasks. */
void striping_create(const Target *target, Trouble *trouble);

#endif
