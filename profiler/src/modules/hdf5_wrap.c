/* The wrapped functions of HDF5: the rows of hdf5.def, expanded. */
#include "hdf5.h"

static inline void *real(const char *name, void **only, const void *caller)
{
    void *found = hdf5_of_caller(name, caller);
    if (found)
        return found;
    if (!*only)
        wrap_resolve(name, only);
    return *only;
}

#undef REAL
#define REAL(name) (*(__typeof__(&name))real(#name, (void **)&real_##name, __builtin_return_address(0)))

#define WRAP_TABLE "../modules/hdf5.def"
#include "../core/wrap_expand.h"
