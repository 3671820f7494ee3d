/* The record of the STDIO module, and further values that are kept for a file while the process runs. */
#ifndef IOLENS_STDIO_RECORD_H
#define IOLENS_STDIO_RECORD_H

#include <stdint.h>

#include "../../records/shape.h"
#include "../../system/spin.h"
#include "../timelines/heatmap.h"

struct lustre_state;

enum stdio_int {
#define INT(name, merge) STDIO_##name,
#define DOUBLE(name, merge)
#include "stdio_counters.def"
#undef INT
#undef DOUBLE
    STDIO_INTS
};

enum stdio_double {
#define INT(name, merge)
#define DOUBLE(name, merge) STDIO_F_##name,
#include "stdio_counters.def"
#undef INT
#undef DOUBLE
    STDIO_DOUBLES
};

struct stdio_record {
    struct record_base base;
    int64_t ints[STDIO_INTS];
    double doubles[STDIO_DOUBLES];
};

_Static_assert(sizeof(struct stdio_record) == 248,
               "struct stdio_record must have 248 bytes, as Darshan's version 2");

struct stdio_state {
    struct stdio_record record;
    struct spin lock;
    struct lustre_state *stripes; /* Stripes of the file; NULL if it has no layout. */
    double last_end[3];           /* End of the latest read, write and metadata operation. */
    struct heat heat;
};

#endif
