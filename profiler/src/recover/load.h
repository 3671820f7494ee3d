/* Reads a spool file into the context of the process that wrote it, as far as a log needs it. */
#ifndef IOLENS_LOAD_H
#define IOLENS_LOAD_H

#include <stdbool.h>

#include "../spool/spool.h"

/* Reads and checks the header of a spool. Returns the reason why it is invalid, or NULL; `header` receives
 * the part that could be read. */
const char *load_fault(const char *path, struct spool_header *header);

/* Does the same as load_fault, but prints the reason on standard error, and returns false if the header is
 * invalid. */
bool load_header(const char *path, struct spool_header *header);

/* Returns a text that the process kept in its header; "" if there is none. */
const char *load_text(const struct spool_header *header, const char *text);

/* Maps the spool privately at its own address and makes `iolens` the context of its process; changes stay
 * in the calling process. Damaged files and states are left out and counted in registry.partial. `running`
 * is true if the process continues on this node; its later changes are not visible. */
bool load_spool(const char *path, bool running);

/* Makes `iolens` the context of a rank that left no spool: it has no files, and its other values come from
 * the given header of another rank. */
void load_stand_in(const struct spool_header *header);

#endif
