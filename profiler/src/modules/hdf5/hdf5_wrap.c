/* The wrapped functions of HDF5: the rows of hdf5.def, expanded. */
#include "calls/row.h"
#include "hdf5.h"
#include "hdf5_settings.h"

#define TYPE_at_id(_)        hid_t
#define TYPE_object(_)       hid_t
#define TYPE_file(_)         hid_t
#define TYPE_dataset(_)      hid_t
#define TYPE_type(_)         hid_t
#define TYPE_space(_)        hid_t
#define TYPE_memory_space(_) hid_t
#define TYPE_file_space(_)   hid_t
#define TYPE_creation(_)     hid_t
#define TYPE_access(_)       hid_t
#define TYPE_links(_)        hid_t
#define TYPE_transfer(_)     hid_t
#define TYPE_name(_)         const char *
#define TYPE_memory(_)       void *
#define TYPE_data(_)         const void *
#define TYPE_flags(_)        unsigned
#define TYPE_scope(_)        int
#define TYPE_index_type(_)   int
#define TYPE_order(_)        int
#define TYPE_index(_)        hsize_t
#define TYPE_address(_)      haddr_t
#define TYPE_token(_)        h5_token_t

#define ON_FILE_OPEN(...) FNB(__VA_ARGS__, GIVEN_ACCESS, OPENED)
#define GIVEN_ACCESS                                                                                         \
    access = iolens_hdf5_given ? (enter_library(&c), hdf5_given_access(&c, name, access)) : access
#define OPENED                                                                                               \
    if (ret >= 0)                                                                                            \
        hdf5_on_open(&c, ret, access);                                                                       \
    if (c.mark)                                                                                              \
    hdf5_after_open(&c, ret)
#define ON_FILE_FLUSH(...) FN(__VA_ARGS__, if (ret >= 0) hdf5_on_flush(&c, object))
#define ON_FILE_CLOSE(...)                                                                                   \
    FNB(__VA_ARGS__, (enter_library(&c), hdf5_before_close(&c, file)), if (ret >= 0) hdf5_on_close(&c))
#define ON_DATASET(...)       FN(__VA_ARGS__, if (ret >= 0) hdf5_on_dataset(&c, ret, false))
#define ON_DATASET_OLD(...)   FN(__VA_ARGS__, if (ret >= 0) hdf5_on_dataset(&c, ret, true))
#define ON_DATASET_READ(...)  FN(__VA_ARGS__, TRANSFERRED(false))
#define ON_DATASET_WRITE(...) FN(__VA_ARGS__, TRANSFERRED(true))
#define TRANSFERRED(writing)                                                                                 \
    if (ret >= 0)                                                                                            \
    hdf5_on_transfer(&c, dataset, file_space, transfer, writing)
#define ON_DATASET_FLUSH(...) FN(__VA_ARGS__, if (ret >= 0) hdf5_on_dataset_flush(&c, dataset))
#define ON_NAMELESS(...)      FN(__VA_ARGS__, if (ret >= 0) hdf5_on_nameless(&c, ret))
#define ON_LINK(...)          FN(__VA_ARGS__, if (ret >= 0) hdf5_on_link(object))
#define ON_OBJECT(...)        FN(__VA_ARGS__, if (ret >= 0) hdf5_on_object(&c, ret))
#define ON_OBJECT_CLOSE(...)                                                                                 \
    FNB(__VA_ARGS__, (enter_library(&c), hdf5_before_dataset_close(&c, object)),                             \
        if (ret >= 0) hdf5_on_dataset_close(&c, object))

/* Address in the HDF5 library for which this thread's next call is meant, set if a library of src/trace makes
 * the call. */
static __thread const void *iolens_called_for __attribute__((tls_model("initial-exec")));

IOLENS_EXPORT void iolens_calls_for(const void *caller) { iolens_called_for = caller; }

static inline void *real(const char *name, void **only, const void *caller)
{
    const void *behind = iolens_called_for;
    iolens_called_for = NULL;
    void *found = hdf5_of_caller(name, behind ? behind : caller);
    if (found)
        return found;
    if (!*only)
        wrap_resolve(name, only);
    return *only;
}

/* Selects the library of the caller, because the code before the real call asks that library about its
 * objects. */
WRAP_INSIDE void enter_library(const struct call *c)
{
    hdf5_of_caller("H5open", iolens_called_for ? iolens_called_for : c->caller);
}

#undef REAL
#define REAL(name) (*(__typeof__(&name))real(#name, (void **)&real_##name, __builtin_return_address(0)))

#define WRAP_TABLE "profiler/src/modules/hdf5/hdf5.def"
#include "../../runtime/wrap_expand.h"
