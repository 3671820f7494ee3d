/* The LUSTRE module: the layout of a file, from its "lustre.lov" extended attribute. The emulated storage
 * answers that attribute too, so there is one way for both. */
#ifndef IOLENS_LUSTRE_H
#define IOLENS_LUSTRE_H

#include <stdint.h>

struct file;

/* Returns the stripe size of the file's first component in bytes, 0 when the file has no layout. */
int64_t lustre_on_open(struct file *file, int fd);

/* A composite layout gets components while the file grows: look again before the descriptor is closed. */
void lustre_on_close(struct file *file, int fd);

#endif
