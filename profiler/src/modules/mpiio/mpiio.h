/* The MPI-IO module's record; its events are declared in ../adapter.h, because the adapters call them. */
#ifndef IOLENS_MPIIO_H
#define IOLENS_MPIIO_H

#include <stdint.h>

#include "collective.h"
#include "../../records/frequent_values.h"
#include "../../system/spin.h"
#include "../timelines/dxt.h"
#include "../timelines/heatmap.h"
#include "../../records/shape.h"

enum mpiio_int {
#define INT(name, merge) MPIIO_##name,
#define DOUBLE(name, merge)
#include "mpiio_counters.def"
#undef INT
#undef DOUBLE
    MPIIO_INTS
};

enum mpiio_double {
#define INT(name, merge)
#define DOUBLE(name, merge) MPIIO_F_##name,
#include "mpiio_counters.def"
#undef INT
#undef DOUBLE
    MPIIO_DOUBLES
};

struct mpiio_record {
    struct record_base base;
    int64_t ints[MPIIO_INTS];
    double doubles[MPIIO_DOUBLES];
};

_Static_assert(sizeof(struct mpiio_record) == 560,
               "struct mpiio_record must have 560 bytes, as Darshan's version 3");

/* One MPI-IO hint; a value is NULL if the hint was not given. */
struct mpiio_hint {
    const char *key, *requested, *given, *effective;
    struct mpiio_hint *next;
};

/* The state of an MPI file; adapters hold it as their handle. */
struct iolens_mpiio_file {
    struct mpiio_record record;
    struct spin lock;
    int latest;         /* Direction of the latest transfer: 0 none, 1 read, 2 write. */
    double last_end[3]; /* End of the latest read, write and metadata operation. */
    struct heat heat;
    struct dxt *dxt; /* Trace of single transfers; NULL if the file is not traced. */
    struct frequent_values access;
    struct mpiio_hint *hints;
    struct collective_calls collectives;
};

#endif
