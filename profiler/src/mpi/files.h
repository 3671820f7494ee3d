/* A table of open MPI files: finds the record of the program's handle. */
#ifndef IOLENS_FILES_H
#define IOLENS_FILES_H

#include <mpi.h>

#include "core.h"

struct mpi_file {
    struct iolens_mpiio_file *record;
    bool root; /* True on rank 0 of the communicator that opened the file; it reports the hints. */
    enum iolens_mpiio_kind split; /* Split collective transfer that has begun, and its bytes. */
    int64_t split_asked;
    bool empty; /* True if the file's view contains no bytes. */
    /* Number of the communicator that opened the file, the same on all its ranks; 0 if unknown. */
    uint32_t communicator;
    int size; /* Number of ranks in the communicator that opened the file. */
};

/* Adds an open file. If the table is full, the file is not followed; a message says so once. */
void files_add(MPI_File handle, struct mpi_file file);

/* Returns the file of a handle; its record is NULL if the handle is not followed. Takes no lock. */
struct mpi_file files_find(MPI_File handle);

/* Records that the file got another view, and whether the view contains any bytes. */
void files_set_empty(MPI_File handle, bool empty);

/* Notes the kind of the split collective transfer that a file has begun, and the bytes asked for, -1: not
 * known. */
void files_set_split(MPI_File handle, enum iolens_mpiio_kind kind, int64_t asked);

void files_remove(MPI_File handle);

/* Decodes the file type and reports the view for a traced file. */
void views_report(const struct iolens_mpiio_file *file, MPI_Offset displacement, MPI_Datatype filetype,
                  double t0, double t1);

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
