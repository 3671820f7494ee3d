/* Open MPI files: from the program's handle to what is recorded about it. */
#ifndef IOLENS_FILES_H
#define IOLENS_FILES_H

#include <mpi.h>
#include <stdbool.h>

#include "core.h"

struct mpi_file {
    struct iolens_mpiio_file *record;
    bool root;             /* rank 0 of the communicator that opened the file: it reports the hints */
    bool empty;            /* its view lets nothing through */
    uint32_t communicator; /* number of the one that opened the file, on all its ranks; 0: not known */
    int size;              /* ranks in it */
};

/* Remember an open file. Beyond the table's size files are not followed; that is said once. */
void files_add(MPI_File handle, struct mpi_file file);

/* The file behind a handle; its record is NULL when the handle is not followed. Takes no lock. */
struct mpi_file files_find(MPI_File handle);

/* The view of an open file was set, to one that lets nothing through or to another one. */
void files_set_empty(MPI_File handle, bool empty);

void files_remove(MPI_File handle);

#endif
