/* From a spool file to the context of the process that wrote it, as far as a log needs it. */
#ifndef IOLENS_LOAD_H
#define IOLENS_LOAD_H

#include <stdbool.h>

#include "../spool/spool.h"

/* Read and check the header of a spool. Why it is none, or NULL; what could be read is in `header`. */
const char *load_fault(const char *path, struct spool_header *header);

/* The same with that sentence on standard error: false. */
bool load_header(const char *path, struct spool_header *header);

/* A text that the process kept in its header; "" when there is none. */
const char *load_text(const struct spool_header *header, const char *text);

/* Map the spool privately at its own address and make `iolens` the context of its process: what is done to it
 * stays in this process. Files and states that are not whole are left out and counted in registry.partial.
 * `running`: its process goes on, on this node, and what it does meanwhile is not seen. */
bool load_spool(const char *path, bool running);

/* The same for a rank that left no spool: no files, the rest as in this one. */
void load_stand_in(const struct spool_header *header);

#endif
