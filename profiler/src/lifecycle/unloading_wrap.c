/* Handles dlclose. The names of an unloaded library are kept, but caches about its code are dropped, because
 * another library may be loaded at the same addresses. */
#include <dlfcn.h>

#include "../callers/chain_table.h"
#include "../runtime/wrap.h"
#include "../unwind/mapped_objects.h"

static __typeof__(&dlclose) real_dlclose;

IOLENS_EXPORT int dlclose(void *handle)
{
    if (iolens_active())
        RECORDER(objects_look());
    int ret = REAL(dlclose)(handle);
    if (iolens_active())
        RECORDER(objects_unloaded());
    unwind_objects_unloaded();
    return ret;
}
