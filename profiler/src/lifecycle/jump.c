/* Handles longjmp out of a signal handler that interrupted the recorder. Without this the thread would count
 * as inside the recorder forever: its later calls would not be recorded, and no log would be written. */
#include "../runtime/wrap.h"

#define JUMP(name)                                                                                           \
    static void (*real_##name)(void *place, int value);                                                      \
    IOLENS_EXPORT void name(void *place, int value);                                                         \
    IOLENS_EXPORT void name(void *place, int value)                                                          \
    {                                                                                                        \
        iolens_busy = false;                                                                                 \
        REAL(name)(place, value);                                                                            \
    }

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
