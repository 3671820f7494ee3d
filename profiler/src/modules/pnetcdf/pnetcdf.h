/* The records of PnetCDF files and variables, and the events of their wrapped functions. */
#ifndef IOLENS_PNETCDF_H
#define IOLENS_PNETCDF_H

#include "../../records/shape.h"
#include "../../runtime/wrap.h"
#include "../dataset.h"
#include "pnetcdf_api.h"

enum pnetcdf_file_int {
#define INT(name, merge) PNETCDF_FILE_##name,
#define DOUBLE(name, merge)
#include "pnetcdf_file_counters.def"
#undef INT
#undef DOUBLE
    PNETCDF_FILE_INTS
};

enum pnetcdf_file_double {
#define INT(name, merge)
#define DOUBLE(name, merge) PNETCDF_FILE_F_##name,
#include "pnetcdf_file_counters.def"
#undef INT
#undef DOUBLE
    PNETCDF_FILE_DOUBLES
};

struct pnetcdf_file {
    struct record_base base;
    int64_t ints[PNETCDF_FILE_INTS];
    double doubles[PNETCDF_FILE_DOUBLES];
    struct spin lock;
    double meta_end, wait_end;
};

enum pnetcdf_var_int {
#define INT(name, merge) PNETCDF_VAR_##name,
#define DOUBLE(name, merge)
#include "pnetcdf_var_counters.def"
#undef INT
#undef DOUBLE
    PNETCDF_VAR_INTS
};

enum pnetcdf_var_double {
#define INT(name, merge)
#define DOUBLE(name, merge) PNETCDF_VAR_F_##name,
#include "pnetcdf_var_counters.def"
#undef INT
#undef DOUBLE
    PNETCDF_VAR_DOUBLES
};

struct pnetcdf_var {
    struct record_base base;
    int64_t ints[PNETCDF_VAR_INTS];
    double doubles[PNETCDF_VAR_DOUBLES];
    struct dataset dataset;
    int record_dimension; /* Number of the record dimension; -1 if the variable has none. */
};

_Static_assert(offsetof(struct pnetcdf_var, dataset) <= SHAPE_MOST_BYTES,
               "SHAPE_MOST_BYTES must have room for the record of a PnetCDF variable");

/* The part of a variable that a call moves. */
enum extent_kind { EXTENT_ALL, EXTENT_ONE, EXTENT_BLOCK, EXTENT_STRIDED, EXTENT_PIECES, EXTENT_TYPE };

struct extent {
    enum extent_kind kind;
    const mpi_offset *count, *stride; /* Counts and strides by dimension; `stride` NULL means stride 1. */
    int pieces;
    mpi_offset *const *counts; /* Counts of each part; NULL: each part is one element. */
    mpi_type type;             /* External type of the data, as it is stored in the file. */
};

struct extent extent_all(void);
struct extent extent_one(void);
struct extent extent_block(const mpi_offset *count);
struct extent extent_strided(const mpi_offset *count, const mpi_offset *stride);
struct extent extent_pieces(int pieces, mpi_offset *const *counts);
struct extent extent_type(mpi_type type);

/* The parts of several variables that one call moves; `count` and `stride` of each part point into these
 * arrays. */
struct parts {
    enum extent_kind kind;
    /* Counts and strides of each part; `strides` NULL means stride 1. */
    mpi_offset *const *counts, *const *strides;
};

struct parts parts_all(void);
struct parts parts_one(void);
struct parts parts_blocks(mpi_offset *const *counts);
struct parts parts_strided(mpi_offset *const *counts, mpi_offset *const *strides);

struct several {
    int many;
    const int *var;
    struct parts parts;
};

struct extent extent_of(const struct several *several, int at);

void pnetcdf_on_open(const struct call *c, int nc, enum pnetcdf_file_int counter);
void pnetcdf_before_close(struct call *c, int nc);
void pnetcdf_on_close(const struct call *c, int nc);
/* Counts a metadata call in `counter`; PNETCDF_FILE_INTS means that it has no counter. */
void pnetcdf_on_meta(const struct call *c, int nc, enum pnetcdf_file_int counter);
void pnetcdf_on_wait(const struct call *c, int nc, enum pnetcdf_file_int counter);

void pnetcdf_on_variable(const struct call *c, int nc, int var);
void pnetcdf_on_access(const struct call *c, int nc, int var, enum pnetcdf_var_int form,
                       enum pnetcdf_var_int mode, struct extent extent);

/* Counts an access for each variable; the call's time is divided among them by bytes. */
void pnetcdf_on_accesses(const struct call *c, int nc, struct several several, enum pnetcdf_var_int form,
                         enum pnetcdf_var_int mode);

/* Closes the variables of a file that was closed. */
void pnetcdf_close_variables(const struct call *c, int nc);

#endif
