/* A library that is unloaded stays known by name. What was remembered of its code is no longer true, for
 * another one may be loaded in its place. */
#include <dlfcn.h>

#include "../callers/objects.h"
#include "../runtime/wrap.h"
#include "../unwind/objects.h"

static __typeof__(&dlclose) real_dlclose;

IOLENS_EXPORT int dlclose(void *handle)
{
    if (iolens_active())
        RECORDER(objects_look());
    int ret = REAL(dlclose)(handle);
    unwind_objects_unloaded();
    return ret;
}
