/* The interfaces through which ior reads and writes (POSIX, MPI-IO, HDF5 ...). Each is one file api_*.c and
 * one row of a table in api.c. */
#ifndef IOR_API_H
#define IOR_API_H

#include "settings.h"

/* A file, and the place of one task in it. */
typedef struct Target {
    const Settings *settings;
    const char *path;
    MPI_Comm comm; /* Communicator of the tasks that share the file: all tasks of the test, or this one
                    * alone. */
    int place;     /* This task's number among the tasks that share the file; it determines the task's
                    * blocks. */
    int sharers;   /* Number of tasks that share the file. */
    bool writing;  /* True if the file is open for writing, and created if missing. */
    Hints effective;
} Target;

typedef struct Api {
    const char *name;
    bool collective; /* True if the interface has collective calls. */
    /* Each function notes its errors in `trouble`. `open` returns the handle for the other functions. */
    void *(*open)(Target *target, Trouble *trouble);
    /* Moves `bytes` at `offset` of the file; returns true if all were moved. */
    bool (*transfer)(void *file, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                     Trouble *trouble);
    void (*sync)(void *file, const Target *target, Trouble *trouble);
    void (*close)(void *file, const Target *target, Trouble *trouble);
    void (*remove)(const char *path, Trouble *trouble);
} Api;

/* Returns the interface of this name; NULL if there is none, or if ior was built without it. */
const Api *api_named(const char *name);

/* Returns the interface that the settings name. MPIIO with the driver lustre-like is a separate interface. */
const Api *api_of(const Settings *settings);

/* Returns the names of all interfaces, as "POSIX, MPIIO, ...". */
const char *api_names(void);

void api_unlink(const char *path, Trouble *trouble);

#endif
