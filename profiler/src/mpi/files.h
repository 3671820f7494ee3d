/* A table of open MPI files: finds the record of the program's handle. */
#ifndef IOLENS_FILES_H
#define IOLENS_FILES_H

#include <mpi.h>
#include <stdbool.h>

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

#endif
