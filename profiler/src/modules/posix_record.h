/* The record of the POSIX module. */
#ifndef IOLENS_POSIX_RECORD_H
#define IOLENS_POSIX_RECORD_H

#include "../records/shape.h"

enum posix_int {
#define INT(name, merge) POSIX_##name,
#define DOUBLE(name, merge)
#include "posix_counters.def"
#undef INT
#undef DOUBLE
    POSIX_INTS
};

enum posix_double {
#define INT(name, merge)
#define DOUBLE(name, merge) POSIX_F_##name,
#include "posix_counters.def"
#undef INT
#undef DOUBLE
    POSIX_DOUBLES
};

struct posix_record {
    struct record_base base;
    int64_t ints[POSIX_INTS];
    double doubles[POSIX_DOUBLES];
};

_Static_assert(sizeof(struct posix_record) == 704,
               "struct posix_record must have 704 bytes, as Darshan's version 4");

#endif
