/* The records of PnetCDF files and variables, and the events of their wrapped functions. */
#ifndef IOLENS_PNETCDF_H
#define IOLENS_PNETCDF_H

#include "../../records/shape.h"
#include "../../runtime/wrap.h"
#include "../../system/path.h"
#include "../dataset.h"

/* The part of PnetCDF's interface that is needed here, and access to the program's own PnetCDF library. The
 * profiler does not link PnetCDF, so programs without it are unaffected. MPI handles are pointers or ints,
 * depending on the MPI library; this code only passes them on. */

#ifndef IOLENS_MPI_TYPES
typedef intptr_t mpi_comm, mpi_info, mpi_type;
typedef long long mpi_offset;
#endif

enum { PNETCDF_RANK_MOST = 1024, PNETCDF_NAME_MOST = 4096 };

struct pnetcdf_calls {
    int (*inq_path)(int nc, int *length, char *path);
    int (*inq_put_size)(int nc, mpi_offset *bytes);
    int (*inq_get_size)(int nc, mpi_offset *bytes);
    int (*inq_var)(int nc, int var, char *name, int *type, int *rank, int *dimensions, int *attributes);
    int (*inq_varndims)(int nc, int var, int *rank);
    int (*inq_unlimdim)(int nc, int *dimension);
    int (*inq_dimlen)(int nc, int dimension, mpi_offset *length);
    int (*type_size)(mpi_type type, int *bytes); /* MPI_Type_size. */
    mpi_type type_null;                          /* The library's MPI_DATATYPE_NULL. */
};

/* Returns the library's functions; NULL, after one message, if some are missing. */
const struct pnetcdf_calls *pnetcdf_calls(void);

/* Writes the absolute path of an open file; returns false if there is none. */
bool pnetcdf_path(char path[PATH_BYTES], int nc);

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
