#include "context.h"

#include <sys/mman.h>

#include "../system/system_call.h"

struct context iolens;
__thread bool iolens_busy;
__thread int *iolens_errno;
__thread double iolens_spent_time;

bool iolens_is_this_process(void) { return iolens.pid == (pid_t)system_call(SYS_getpid); }

void iolens_wipe_in_children(void)
{
    if (sysconf(_SC_PAGESIZE) == WIPED_BYTES)
        system_call(SYS_madvise, &iolens.wiped, sizeof iolens.wiped, MADV_WIPEONFORK);
}

__thread uint32_t iolens_region;
