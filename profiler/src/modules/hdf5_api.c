#include "hdf5_api.h"

#include <string.h>

#include "../core/context.h"
#include "../core/library.h"

static bool complete(const struct hdf5_calls *calls)
{
    return calls->H5Sget_regular_hyperslab && calls->H5Sis_regular_hyperslab && calls->H5Iget_name &&
           calls->H5Fget_name && calls->H5Dget_space;
}

const struct hdf5_calls *hdf5_calls(void)
{
    static struct hdf5_calls calls;
    static atomic_int known; /* 0 not looked, 1 usable, -1 not */
    if (known)
        return known > 0 ? &calls : NULL;
    struct hdf5_calls found = {0};
#define CALL(ret_t, name, params)                                                                            \
    {                                                                                                        \
        void *symbol = library_symbol("libhdf5", #name);                                                     \
        memcpy(&found.name, &symbol, sizeof symbol);                                                         \
    }
#include "hdf5_calls.def"
#undef CALL
    unsigned major = 0, minor = 0, release = 0;
    bool recent = found.H5get_libversion && found.H5get_libversion(&major, &minor, &release) >= 0 &&
                  (major > 1 || minor >= 10);
    if (!recent || !complete(&found))
        iolens_say("HDF5 %u.%u is not followed; from 1.10 on it is", major, minor);
    calls = found;
    known = recent && complete(&found) ? 1 : -1;
    return known > 0 ? &calls : NULL;
}
