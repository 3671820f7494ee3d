/* The wrapped functions of HDF5: the rows of hdf5.def, expanded. */
#include "calls/row.h"
#include "hdf5.h"

#define TYPE_at_id(_)         hid_t
#define TYPE_object(_)        hid_t
#define TYPE_file(_)          hid_t
#define TYPE_dataset(_)       hid_t
#define TYPE_type(_)          hid_t
#define TYPE_space(_)         hid_t
#define TYPE_memory_space(_)  hid_t
#define TYPE_file_space(_)    hid_t
#define TYPE_creation(_)      hid_t
#define TYPE_access(_)        hid_t
#define TYPE_links(_)         hid_t
#define TYPE_transfer(_)      hid_t
#define TYPE_name(_)          const char *
#define TYPE_memory(_)        void *
#define TYPE_data(_)          const void *
#define TYPE_flags(_)         unsigned
#define TYPE_scope(_)         int
#define TYPE_index_type(_)    int
#define TYPE_order(_)         int
#define TYPE_index(_)         hsize_t
#define TYPE_address(_)       haddr_t
#define TYPE_token(_)         h5_token_t
#define TYPE_count(_)         size_t
#define TYPE_datasets(_)      hid_t *
#define TYPE_types(_)         hid_t *
#define TYPE_memory_spaces(_) hid_t *
#define TYPE_file_spaces(_)   hid_t *
#define TYPE_memories(_)      const void **
#define TYPE_source(_)        const char *
#define TYPE_function(_)      const char *
#define TYPE_line(_)          unsigned
#define TYPE_events(_)        hid_t

#define ENDED (ret >= 0 && !hdf5_under_way(events))

#define ON_FILE_OPEN(...)       FNB(__VA_ARGS__, GIVEN_ACCESS, OPENED(ret >= 0))
#define ON_FILE_OPEN_ASYNC(...) FNB(__VA_ARGS__, GIVEN_ACCESS, OPENED(ENDED))
#define GIVEN_ACCESS                                                                                         \
    access = iolens_hdf5_given ? (enter_library(&c), hdf5_given_access(&c, name, access)) : access
#define OPENED(ended)                                                                                        \
    bool known = ended;                                                                                      \
    if (known)                                                                                               \
        hdf5_on_open(&c, ret, access);                                                                       \
    if (c.mark)                                                                                              \
    hdf5_after_open(&c, known ? ret : -1)
#define ON_FILE_FLUSH(...)       FN(__VA_ARGS__, if (ret >= 0) hdf5_on_flush(&c, object))
#define ON_FILE_FLUSH_ASYNC(...) FN(__VA_ARGS__, if (ENDED) hdf5_on_flush(&c, object))
#define ON_FILE_CLOSE(...)                                                                                   \
    FNB(__VA_ARGS__, (enter_library(&c), hdf5_before_close(&c, file)), if (ret >= 0) hdf5_on_close(&c))
#define ON_FILE_CLOSE_ASYNC(...)                                                                             \
    FNB(__VA_ARGS__, (enter_library(&c), hdf5_under_way(events) ? (void)0 : hdf5_before_close(&c, file)),    \
        if (ENDED) hdf5_on_close(&c))
#define ON_DATASET(...)              FN(__VA_ARGS__, if (ret >= 0) hdf5_on_dataset(&c, ret, false))
#define ON_DATASET_OLD(...)          FN(__VA_ARGS__, if (ret >= 0) hdf5_on_dataset(&c, ret, true))
#define ON_DATASET_ASYNC(...)        FN(__VA_ARGS__, if (ENDED) hdf5_on_dataset(&c, ret, false))
#define ON_DATASET_READ(...)         FN(__VA_ARGS__, TRANSFERRED(ret >= 0, false))
#define ON_DATASET_READ_ASYNC(...)   FN(__VA_ARGS__, TRANSFERRED(ENDED, false))
#define ON_DATASET_WRITE(...)        FN(__VA_ARGS__, TRANSFERRED(ret >= 0, true))
#define ON_DATASET_WRITE_ASYNC(...)  FN(__VA_ARGS__, TRANSFERRED(ENDED, true))
#define ON_DATASETS_READ(...)        FN(__VA_ARGS__, ALL_TRANSFERRED(ret >= 0, false))
#define ON_DATASETS_READ_ASYNC(...)  FN(__VA_ARGS__, ALL_TRANSFERRED(ENDED, false))
#define ON_DATASETS_WRITE(...)       FN(__VA_ARGS__, ALL_TRANSFERRED(ret >= 0, true))
#define ON_DATASETS_WRITE_ASYNC(...) FN(__VA_ARGS__, ALL_TRANSFERRED(ENDED, true))
#define TRANSFERRED(ended, writing)                                                                          \
    if (ended)                                                                                               \
    hdf5_on_transfer(&c, dataset, file_space, transfer, writing)
#define ALL_TRANSFERRED(ended, writing)                                                                      \
    if (ended)                                                                                               \
    hdf5_on_transfers(&c, (struct datasets){count, datasets, file_spaces}, transfer, writing)
#define ON_DATASET_FLUSH(...) FN(__VA_ARGS__, if (ret >= 0) hdf5_on_dataset_flush(&c, dataset))
#define ON_NAMELESS(...)      FN(__VA_ARGS__, if (ret >= 0) hdf5_on_nameless(&c, ret))
#define ON_LINK(...)          FN(__VA_ARGS__, if (ret >= 0) hdf5_on_link(object))
#define ON_OBJECT(...)        FN(__VA_ARGS__, if (ret >= 0) hdf5_on_object(&c, ret))
#define ON_OBJECT_ASYNC(...)  FN(__VA_ARGS__, if (ENDED) hdf5_on_object(&c, ret))
#define ON_OBJECT_CLOSE(...)                                                                                 \
    FNB(__VA_ARGS__, (enter_library(&c), hdf5_before_dataset_close(&c, object)),                             \
        if (ret >= 0) hdf5_on_dataset_close(&c, object))

/* Address by which this thread's next call finds its HDF5 library, set if a library of src/trace makes the
 * call. */
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
