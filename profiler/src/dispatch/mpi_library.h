/* The MPI library of this process, whichever way it was loaded. */
#ifndef IOLENS_MPI_LIBRARY_H
#define IOLENS_MPI_LIBRARY_H

/* `handle`: the library's handle of dlopen; NULL if there is no MPI library yet. `path`: the library's file.
 * `adapter`: the name that stands in the file name of the adapter for the library's ABI; NULL for an ABI that
 * has no adapter. */
struct mpi_library {
    void *handle;
    const char *path, *adapter;
};

/* Finds the MPI library that was loaded when the process started. Costs nothing if there is none. */
struct mpi_library mpi_library_at_start(void);

/* Finds the MPI library that the object with the address `caller` uses, or else any that was loaded, also one
 * whose symbols are visible only to the objects that need them. */
struct mpi_library mpi_library_for(const void *caller);

#endif
