/* The data recorded for each kind of row in mpiio_calls.def:
 *   FN(name, parameters, arguments, before, event)
 * `before` runs ahead of the real call, `event` after it when it returned MPI_SUCCESS; both see the
 * parameters and the `struct call c`. Handles arrive as whole registers (type `handle` of wrap.h). */
#ifndef IOLENS_MPIIO_KINDS_H
#define IOLENS_MPIIO_KINDS_H

#include "calls/row.h"

#define TYPE_fh(_)             handle
#define TYPE_comm(_)           handle
#define TYPE_info(_)           handle
#define TYPE_datatype(_)       handle
#define TYPE_etype(_)          handle
#define TYPE_filetype(_)       handle
#define TYPE_opened(_)         MPI_File *
#define TYPE_closed(_)         MPI_File *
#define TYPE_path(_)           const char *
#define TYPE_representation(_) const char *
#define TYPE_amode(_)          int
#define TYPE_whence(_)         int
#define TYPE_flag(_)           int
#define TYPE_offset(_)         MPI_Offset
#define TYPE_displacement(_)   MPI_Offset
#define TYPE_bytes(_)          MPI_Offset
#define TYPE_found_bytes(_)    MPI_Offset *
#define TYPE_memory(_)         void *
#define TYPE_data(_)           const void *
#define TYPE_status(_)         MPI_Status *
#define TYPE_request(_)        MPI_Request *
#define TYPE_count(variant)    COUNT##variant

#define COUNT   int
#define COUNT_c MPI_Count

#define NOTHING (void)0

#define ON_OPEN(ret_t, ...)                                                                                  \
    FN(__VA_ARGS__, info = (handle)before_open(&c, path, (MPI_Info)info),                                    \
       on_open(&c, (MPI_Comm)comm, path, amode, *opened))
#define ON_CLOSE(ret_t, ...) FN(__VA_ARGS__, before_close(&c, *closed), on_close(&c))
#define ON_SET_VIEW(ret_t, ...)                                                                              \
    FN(__VA_ARGS__, NOTHING, on_view(&c, (MPI_File)fh, displacement, (MPI_Datatype)filetype, (MPI_Info)info))
#define ON_SET_INFO(ret_t, ...) FN(__VA_ARGS__, NOTHING, on_info(&c, (MPI_File)fh, (MPI_Info)info))
#define ON_SYNC(ret_t, ...)     FN(__VA_ARGS__, NOTHING, on_sync(&c, (MPI_File)fh))
#define ON_DELETE(ret_t, ...)   FN(__VA_ARGS__, NOTHING, on_delete(&c, path))

#define OTHER(which, name, ...)                                                                              \
    FN(name, (PARAMETERS(, __VA_ARGS__)), (__VA_ARGS__), NOTHING,                                            \
       on_other(&c, (MPI_File)fh, IOLENS_MPIIO_##which))

#define TRANSFER_AS(variant, kind, place, name, ...)                                                         \
    FN(name##variant, (PARAMETERS(variant, __VA_ARGS__)), (__VA_ARGS__),                                     \
       (before_transfer(&c, (MPI_File)fh, IOLENS_##kind, place), STATUS_##kind),                             \
       (on_transfer(&c, (MPI_File)fh, IOLENS_##kind, count, (MPI_Datatype)datatype), POSTED_##kind))

#define SPLIT_END(name, ...)                                                                                 \
    FN(name, (PARAMETERS(, __VA_ARGS__)), (__VA_ARGS__), TAKE_STATUS, on_split_end(&c, (MPI_File)fh))

/* For blocking kinds: asks for a status, also if the program ignores it. */
#define TAKE_STATUS        status = before_status(&c, status)
#define STATUS_INDEP_READ  TAKE_STATUS
#define STATUS_INDEP_WRITE TAKE_STATUS
#define STATUS_COLL_READ   TAKE_STATUS
#define STATUS_COLL_WRITE  TAKE_STATUS
#define STATUS_SPLIT_READ  NOTHING
#define STATUS_SPLIT_WRITE NOTHING
#define STATUS_NB_READ     NOTHING
#define STATUS_NB_WRITE    NOTHING

/* For non-blocking kinds: stores the request until its transfer has completed. */
#define POSTED_INDEP_READ  NOTHING
#define POSTED_INDEP_WRITE NOTHING
#define POSTED_COLL_READ   NOTHING
#define POSTED_COLL_WRITE  NOTHING
#define POSTED_SPLIT_READ  NOTHING
#define POSTED_SPLIT_WRITE NOTHING
#define POSTED_NB_READ     POSTED(NB_READ)
#define POSTED_NB_WRITE    POSTED(NB_WRITE)
#define POSTED(kind)                                                                                         \
    on_posted(&c, (MPI_File)fh, IOLENS_##kind, asked_bytes(count, (MPI_Datatype)datatype), *request)

#if MPI_VERSION >= 4
#define TRANSFER(...) TRANSFER_AS(, __VA_ARGS__) TRANSFER_AS(_c, __VA_ARGS__)
#else
#define TRANSFER(...) TRANSFER_AS(, __VA_ARGS__)
#endif

#endif
