/* The changes to a record when a wrapped MPI-IO call has succeeded. */
#ifndef IOLENS_EVENTS_H
#define IOLENS_EVENTS_H

#include <mpi.h>
#include <stdbool.h>

#include "files.h"

struct call {
    const char *name;     /* of the function */
    double t0, t1;        /* around the real call */
    struct mpi_file file; /* taken before a call that ends the handle */
    MPI_Info info, made;  /* of an open: what the program gave, and what is to be freed after the call */
    bool has_made;
    double access;     /* of a collective transfer: POSIX time in the file before it */
    MPI_Offset offset; /* where a transfer begins, in bytes; -1: not known */
};

/* Places of a transfer that has no explicit offset. */
enum { OWN_POINTER = -1, SHARED_POINTER = -2 };

/* The MPI_Info to open the file with: the program's, or one with the user's hints added. */
MPI_Info before_open(struct call *c, const char *path, MPI_Info info);
void on_open(const struct call *c, MPI_Comm comm, const char *path, int amode, MPI_File handle);

/* After every call: free what was made for it. */
void release(struct call *c);

void before_close(struct call *c, MPI_File handle);
void on_close(const struct call *c);
void on_view(const struct call *c, MPI_File handle, MPI_Offset displacement, MPI_Datatype filetype,
             MPI_Info info);
void on_info(const struct call *c, MPI_File handle, MPI_Info info);
void on_other(const struct call *c, MPI_File handle, enum iolens_mpiio_extra which);
void on_delete(const struct call *c, const char *path);
void on_sync(const struct call *c, MPI_File handle);

/* `place`: an offset in the file's view, OWN_POINTER or SHARED_POINTER. */
void before_transfer(struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, MPI_Offset place);
void on_transfer(const struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, MPI_Count count,
                 MPI_Datatype type);

#endif
