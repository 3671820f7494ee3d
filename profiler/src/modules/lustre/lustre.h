/* The LUSTRE module: the layout of a file, from its "lustre.lov" extended attribute, and the bytes that
 * each of its stripes has moved. The emulated storage provides this attribute too, so that the same code
 * serves both. */
#ifndef IOLENS_LUSTRE_H
#define IOLENS_LUSTRE_H

#include <stdbool.h>
#include <stdint.h>

struct file;
struct lustre_state;

/* Returns the stripe size of the file's first component in bytes, 0 when the file has no layout. */
int64_t lustre_on_open(struct file *file, int fd);

/* Reads the layout again before the descriptor is closed, because a composite layout gains components while
 * the file grows. */
void lustre_on_close(struct file *file, int fd);

/* Counts a transfer through `fd` (-1 if unknown) in the file that has this state. */
void lustre_on_transfer(struct lustre_state *state, int fd, bool writing, int64_t offset, int64_t bytes);

#endif
