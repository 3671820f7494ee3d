/* Updates the records after a wrapped MPI-IO call has succeeded. */
#ifndef IOLENS_EVENTS_H
#define IOLENS_EVENTS_H

#include <mpi.h>
#include <stdbool.h>

#include "files.h"

struct call {
    const char *name;     /* Name of the called function. */
    double t0, t1;        /* Times before and after the real call. */
    struct mpi_file file; /* Copy of the file's entry, made before a call that frees the handle. */
    /* Object with the hints. `info`: given by the program when it opens a file. `made`: made by the adapter,
       to be freed after the call. */
    MPI_Info info, made;
    bool has_made;
    double access;           /* POSIX time in the file before a collective transfer. */
    MPI_Offset offset;       /* Byte offset at which a transfer begins; -1 if unknown. */
    MPI_Status *status, own; /* Status of a blocking transfer: the program's, or `own` if it wants none. */
};

/* Values of a transfer's place that stand for the file's own pointer and for the shared pointer. */
enum { OWN_POINTER = -1, SHARED_POINTER = -2 };

/* Returns the MPI_Info to open the file with: that of the program, or a new one with the user's hints
 * added. */
MPI_Info before_open(struct call *c, const char *path, MPI_Info info);
void on_open(const struct call *c, MPI_Comm comm, const char *path, int amode, MPI_File handle);

/* Frees the objects that were made for a call. Called after every call. */
void release(struct call *c);

void before_close(struct call *c, MPI_File handle);
void on_close(const struct call *c);
void on_view(const struct call *c, MPI_File handle, MPI_Offset displacement, MPI_Datatype filetype,
             MPI_Info info);
void on_info(const struct call *c, MPI_File handle, MPI_Info info);
void on_other(const struct call *c, MPI_File handle, enum iolens_mpiio_extra which);
void on_delete(const struct call *c, const char *path);
void on_sync(const struct call *c, MPI_File handle);

/* Notes, before a transfer, where in the file it will be. `place` is an offset in the file's view,
 * OWN_POINTER or SHARED_POINTER. */
void before_transfer(struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, MPI_Offset place);
void on_transfer(const struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, MPI_Count count,
                 MPI_Datatype type);

/* Follows the request of a transfer of `asked` bytes that was posted, until it completes. */
void on_posted(const struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, int64_t asked,
               MPI_Request request);

/* Returns the status to give to a blocking transfer, which tells the bytes that were moved. */
MPI_Status *before_status(struct call *c, MPI_Status *status);

/* For the end of a split collective transfer, whose begin was counted with the bytes that were asked for. */
void on_split_end(const struct call *c, MPI_File handle);

#endif
