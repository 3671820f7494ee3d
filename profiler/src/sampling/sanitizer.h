/* ThreadSanitizer in the program that is watched. */
#ifndef IOLENS_SANITIZER_H
#define IOLENS_SANITIZER_H

#include <stdbool.h>

/* Whether its library is loaded or a part of the program. Under it no thread may be interrupted: the C
 * library's functions are its own, and end the process in a signal handler that it was not told of, or in a
 * new thread before it has seen that. */
bool has_thread_sanitizer(void);

#endif
