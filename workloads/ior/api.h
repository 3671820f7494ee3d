/* The interfaces through which ior reads and writes; each is one file api_*.c and one row of the table. */
#ifndef IOR_API_H
#define IOR_API_H

#include "settings.h"

/* One file as a task sees it. */
typedef struct Target {
    const Settings *settings;
    const char *path;
    MPI_Comm comm; /* of the tasks that share the file: all of the test, or this one alone */
    int place;     /* of the blocks that this task moves, among the tasks of the file */
    int sharers;   /* tasks of the file */
    bool writing;  /* also creates */
    Hints effective;
} Target;

typedef struct Api {
    const char *name;
    bool collective; /* has collective calls */
    /* Each function notes what went wrong. `open` returns what the others are given. */
    void *(*open)(Target *target, Trouble *trouble);
    /* `bytes` at `offset` of the file; true when all of them were moved. */
    bool (*transfer)(void *file, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                     Trouble *trouble);
    void (*sync)(void *file, const Target *target, Trouble *trouble);
    void (*close)(void *file, const Target *target, Trouble *trouble);
    void (*remove)(const char *path, Trouble *trouble);
} Api;

/* NULL when this ior was built without it. */
const Api *api_named(const char *name);

/* The named interface, with the driver that the settings ask for. */
const Api *api_of(const Settings *settings);

/* "POSIX, MPIIO, ..." */
const char *api_names(void);

void api_unlink(const char *path, Trouble *trouble);

#endif
