/* The name of this node. */
#ifndef IOLENS_HOST_NAME_H
#define IOLENS_HOST_NAME_H

#include <stddef.h>

/* Writes what gethostname(2) gives, NUL-terminated and cut to `bytes`. gethostname itself is a traced
 * function. */
void host_name(char *name, size_t bytes);

#endif
