#include "spin.h"

#include <dlfcn.h>

const char *spin_single_threaded = "";
atomic_int spin_patience;

/* Finds the C library's variable that is true while the process has one thread. The variable is looked up by
 * name, so that this library also loads with older C libraries, which lack it. */
__attribute__((constructor)) static void find_thread_flag(void)
{
    const char *flag = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
    if (flag)
        spin_single_threaded = flag;
}
