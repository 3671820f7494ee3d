#include "hdf5_api.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "../core/context.h"

/* Looks into one loaded object; the search ends at HDF5's own library or one that needs it, such as
 * libhdf5_hl. */
static int is_hdf5(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(base, "libhdf5", 7) != 0)
        return 0;
    *(const char **)found = info->dlpi_name;
    return 1;
}

void *hdf5_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    const char *path = NULL;
    if (symbol || !dl_iterate_phdr(is_hdf5, &path))
        return symbol;
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

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
        void *symbol = hdf5_symbol(#name);                                                                   \
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
