/* Calls code of other libraries that might crash, loop for ever or print something: it runs in a copy of the
 * process, where this does no harm. */
#ifndef IOLENS_ISOLATED_CALL_H
#define IOLENS_ISOLATED_CALL_H

#include <stddef.h>

enum isolated_end { ISOLATED_ANSWERED, ISOLATED_CRASHED, ISOLATED_SILENT, ISOLATED_REFUSED };

/* Calls `work` in a copy of the process with zeroed room for an answer of `bytes`, waits for at most two
 * seconds, and copies the answer. Returns ISOLATED_CRASHED if the copy ended before `work` returned,
 * ISOLATED_SILENT if it did not end in time, and ISOLATED_REFUSED if the kernel made no copy; then `answer`
 * is unchanged. */
enum isolated_end isolated_call(void (*work)(void *context, void *answer), void *context, void *answer,
                                size_t bytes);

#endif
