#include "spin.h"

#include <dlfcn.h>

const char *spin_single_threaded = "";
atomic_int spin_patience;

/* Finds the C library's variable that is true while the process has one thread. It is looked up by name, so
 * that the library also loads with an older C library, which lacks it.
 */
__attribute__((constructor)) static void find_thread_flag(void)
{
    const char *flag = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
    if (flag)
        spin_single_threaded = flag;
}
