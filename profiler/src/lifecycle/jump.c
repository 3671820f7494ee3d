/* A signal handler may jump out of the recorder that it interrupted. Its thread would be taken to be in there
 * for good: nothing more of it recorded, and no log at the end. */
#include "../runtime/context.h"
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
