/* Detects ThreadSanitizer in the program. */
#ifndef IOLENS_SANITIZER_H
#define IOLENS_SANITIZER_H

#include <stdbool.h>

/* Returns true if ThreadSanitizer's library is loaded or part of the program. No thread may then be
 * interrupted: ThreadSanitizer replaces the C library's functions, and these end the process in a signal
 * handler or a new thread that it does not know. */
bool has_thread_sanitizer(void);

#endif
