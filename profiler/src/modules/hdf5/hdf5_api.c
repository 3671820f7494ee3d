#include <dlfcn.h>
#include <link.h>

#include "../../runtime/context.h"
#include "../../system/library.h"
#include "../../system/spin.h"
#include "hdf5.h"

enum { LIBRARIES = 4, NONE = -1 };

/* The HDF5 libraries of the process in the order of their first use, identified by the address of H5open. */
static struct library {
    void *place,
        *handle;      /* `place`: address of H5open in the library. `handle`: the object (such as an extension
                         module) that is linked with this library; NULL for the first library. */
    atomic_int known; /* State of the library: 0 not examined; 1 usable; -1 not usable. */
    struct hdf5_calls calls;
} libraries[LIBRARIES];
static struct spin change = {ATOMIC_FLAG_INIT};
static __thread int in_use;

struct loaded {
    unsigned long long changes;
    void *place;
    bool several;
};

static int note_changes(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    ((struct loaded *)context)->changes = info->dlpi_adds;
    return 1;
}

static int compare(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *loaded = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    void *handle, *place;
    (void)size;
    if (!slash || strncmp(slash + 1, "libhdf5", 7) != 0 || !(handle = library_loaded(info->dlpi_name)))
        return 0;
    place = dlsym(handle, "H5open");
    loaded->several |= loaded->place && place && place != loaded->place;
    loaded->place = place ? place : loaded->place;
    library_close(handle);
    return loaded->several;
}

/* Returns true if the process has loaded several HDF5 libraries. The search is repeated only if a library was
 * loaded since the last one. */
static bool several(void)
{
    static _Atomic unsigned long long seen;
    static atomic_bool found;
    struct loaded loaded = {0};
    dl_iterate_phdr(note_changes, &loaded);
    if (!found && loaded.changes != seen) {
        dl_iterate_phdr(compare, &loaded);
        found = loaded.several;
        seen = loaded.changes;
    }
    return found;
}

/* Returns the position of a library in the list, and adds it if it is new. The caller must hold the lock. The
 * first library in the list is the one that was in use before a second library was loaded. */
static int entered(void *place, const char *object)
{
    if (!libraries[0].place)
        libraries[0].place = library_symbol("libhdf5", "H5open");
    for (int i = 0; i < LIBRARIES; i++) {
        if (!libraries[i].place)
            libraries[i].handle = library_loaded(object), libraries[i].place = place;
        if (libraries[i].place == place)
            return i;
    }
    return NONE;
}

void *hdf5_of_caller(const char *name, const void *caller)
{
    Dl_info object;
    void *handle, *place, *found;
    in_use = 0;
    if (!several() || !dladdr(caller, &object) || !(handle = library_loaded(object.dli_fname)))
        return NULL;
    found = dlsym(handle, name);
    if (found && (place = dlsym(handle, "H5open"))) {
        spin_hold(&change);
        in_use = entered(place, object.dli_fname);
        spin_unlock(&change);
    }
    library_close(handle);
    return found;
}

static bool complete(const struct hdf5_calls *calls)
{
    return calls->H5Sget_regular_hyperslab && calls->H5Sis_regular_hyperslab && calls->H5Iget_name &&
           calls->H5Iis_valid && calls->H5Fget_name && calls->H5Dget_space;
}

static void look(struct library *library)
{
    struct hdf5_calls found = {0};
#define ASK(ret_t, name, params)                                                                             \
    {                                                                                                        \
        void *symbol = library->handle ? dlsym(library->handle, #name) : library_symbol("libhdf5", #name);   \
        memcpy(&found.name, &symbol, sizeof symbol);                                                         \
    }
#include "hdf5_calls.def"
#undef ASK
    unsigned major = 0, minor = 0, release = 0;
    bool recent = found.H5get_libversion && found.H5get_libversion(&major, &minor, &release) >= 0 &&
                  (major > 1 || minor >= 10);
    if (!recent || !complete(&found))
        iolens_say(
            "the program uses HDF5 %u.%u, whose calls are not recorded; HDF5 1.10 and later versions are",
            major, minor);
    library->calls = found;
    library->known = recent && complete(&found) ? 1 : -1;
}

const struct hdf5_calls *hdf5_calls(void)
{
    struct library *library = in_use == NONE ? NULL : &libraries[in_use];
    if (library && !library->known)
        look(library);
    return library && library->known > 0 ? &library->calls : NULL;
}

bool hdf5_under_way(hid_t events)
{
    const struct hdf5_calls *hdf5 = events == HDF5_DEFAULT ? NULL : hdf5_calls();
    size_t count = 0;
    /* The event set is checked first, because HDF5 prints errors about an invalid one. */
    return hdf5 && hdf5->H5ESget_count && hdf5->H5Iis_valid(events) > 0 &&
           hdf5->H5ESget_count(events, &count) >= 0 && count > 0;
}

int64_t hdf5_key(hid_t object) { return in_use == NONE ? INT64_MIN : object ^ (int64_t)in_use << 61; }
