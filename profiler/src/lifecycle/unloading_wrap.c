/* Where a library was, another one may be loaded: what was remembered of its code is no longer true. */
#include <dlfcn.h>

#include "../runtime/wrap.h"
#include "../unwind/objects.h"

static __typeof__(&dlclose) real_dlclose;

IOLENS_EXPORT int dlclose(void *handle)
{
    int ret = REAL(dlclose)(handle);
    unwind_objects_unloaded();
    return ret;
}
