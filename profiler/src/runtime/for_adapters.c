/* Functions of the C library for adapters and libraries of traced groups. The C library's own functions may
 * be wrapped or traced, so that a call from the recorder's libraries would be counted as a call of the
 * program. */
#include <linux/futex.h>
#include <signal.h>

#include "../job/identity.h"
#include "../system/library.h"
#include "../system/system_call.h"
#include "wrap.h"

enum { FREE, TAKEN, WAITED_FOR };

IOLENS_EXPORT void iolens_tell(const char *sentence) { iolens_say("%s", sentence); }

IOLENS_EXPORT bool iolens_neighbours_are_recorded(void) { return neighbours_are_recorded(); }

IOLENS_EXPORT void iolens_lock(int *lock)
{
    int state = FREE;
    if (__atomic_compare_exchange_n(lock, &state, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(lock, WAITED_FOR, __ATOMIC_ACQUIRE) != FREE)
        system_call(SYS_futex, lock, FUTEX_WAIT_PRIVATE, WAITED_FOR, NULL, NULL, 0L);
}

IOLENS_EXPORT void iolens_unlock(int *lock)
{
    if (__atomic_exchange_n(lock, FREE, __ATOMIC_RELEASE) == WAITED_FOR)
        system_call(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1L, NULL, NULL, 0L);
}

IOLENS_EXPORT bool iolens_on_signal_stack(void)
{
    stack_t now;
    return system_call(SYS_sigaltstack, NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK);
}

IOLENS_EXPORT void iolens_library_close(void *handle) { library_close(handle); }
