/* The parts of the rows in pnetcdf.def, and the data recorded for each kind of row. */
#ifndef IOLENS_PNETCDF_KINDS_H
#define IOLENS_PNETCDF_KINDS_H

#include "calls/row.h"
#include "pnetcdf_forms.def"

#define TYPE_comm(_)          mpi_comm
#define TYPE_info(_)          mpi_info
#define TYPE_type(_)          mpi_type
#define TYPE_filetype(_)      mpi_type
#define TYPE_items(_)         mpi_offset
#define TYPE_start(_)         const mpi_offset *
#define TYPE_count(_)         const mpi_offset *
#define TYPE_stride(_)        const mpi_offset *
#define TYPE_imap(_)          const mpi_offset *
#define TYPE_starts(_)        mpi_offset *const *
#define TYPE_counts(_)        mpi_offset *const *
#define TYPE_pieces(_)        int
#define TYPE_data(element)    element *
#define TYPE_path(_)          const char *
#define TYPE_name(_)          const char *
#define TYPE_mode(_)          int
#define TYPE_nc(_)            int
#define TYPE_new_nc(_)        int *
#define TYPE_var(_)           int
#define TYPE_new_var(_)       int *
#define TYPE_external_type(_) int
#define TYPE_rank(_)          int
#define TYPE_dimensions(_)    const int *
#define TYPE_many(_)          int
#define TYPE_request(_)       int *
#define TYPE_requests(_)      int *
#define TYPE_statuses(_)      int *
#define TYPE_vars(_)          int *
#define TYPE_strides(_)       mpi_offset *const *
#define TYPE_imaps(_)         mpi_offset *const *
#define TYPE_buffers(buffer)  buffer *
#define TYPE_item_counts(_)   const mpi_offset *
#define TYPE_types(_)         const mpi_type *

#define ON_CREATE(...)   FN(__VA_ARGS__, if (ret == 0) pnetcdf_on_open(&c, *new_nc, PNETCDF_FILE_CREATES))
#define ON_OPEN(...)     FN(__VA_ARGS__, if (ret == 0) pnetcdf_on_open(&c, *new_nc, PNETCDF_FILE_OPENS))
#define ON_CLOSE(...)    FNB(__VA_ARGS__, pnetcdf_before_close(&c, nc), if (ret == 0) pnetcdf_on_close(&c, nc))
#define ON_ENDDEF(...)   FN(__VA_ARGS__, if (ret == 0) pnetcdf_on_meta(&c, nc, PNETCDF_FILE_INTS))
#define ON_REDEF(...)    FN(__VA_ARGS__, if (ret == 0) pnetcdf_on_meta(&c, nc, PNETCDF_FILE_REDEFS))
#define ON_SYNC(...)     FN(__VA_ARGS__, if (ret == 0) pnetcdf_on_meta(&c, nc, PNETCDF_FILE_SYNCS))
#define ON_WAIT(...)     FN(__VA_ARGS__, WAITED(PNETCDF_FILE_INDEP_WAITS))
#define ON_WAIT_ALL(...) FN(__VA_ARGS__, WAITED(PNETCDF_FILE_COLL_WAITS))
#define ON_VARIABLE(...) FN(__VA_ARGS__, if (ret == 0) pnetcdf_on_variable(&c, nc, *new_var))

#define WAITED(counter) pnetcdf_on_wait(&c, nc, ret == 0 ? counter : PNETCDF_FILE_WAIT_FAILURES)

/* The name of a function that moves data consists of a verb, a form and a type, as in
 * ncmpi_put_vara_double_all. The macros below give, for each part, the arguments that it adds (ARGUMENTS_,
 * with a leading comma) and its meaning (EXTENT_, COUNT_). */
#define ARGUMENTS_var
#define ARGUMENTS_var1 , start
#define ARGUMENTS_vara , start, count
#define ARGUMENTS_vars , start, count, stride
#define ARGUMENTS_varm , start, count, stride, imap
#define ARGUMENTS_varn , pieces, starts, counts

#define EXTENT_var  extent_all()
#define EXTENT_var1 extent_one()
#define EXTENT_vara extent_block(count)
#define EXTENT_vars extent_strided(count, stride)
#define EXTENT_varm extent_strided(count, stride)
#define EXTENT_varn extent_pieces(pieces, counts)
#define EXTENT_vard extent_type(filetype)

/* Functions that write take constant data, and nonblocking functions return a request. */
#define ELEMENT_put(type)  const type
#define ELEMENT_iput(type) const type
#define ELEMENT_bput(type) const type
#define ELEMENT_get(type)  type
#define ELEMENT_iget(type) type

#define ARGUMENTS_put
#define ARGUMENTS_get
#define ARGUMENTS_iput , request
#define ARGUMENTS_iget , request
#define ARGUMENTS_bput , request

#define COUNT_put     PNETCDF_VAR_INDEP_WRITES
#define COUNT_put_all PNETCDF_VAR_COLL_WRITES
#define COUNT_get     PNETCDF_VAR_INDEP_READS
#define COUNT_get_all PNETCDF_VAR_COLL_READS
#define COUNT_iput    PNETCDF_VAR_NB_WRITES
#define COUNT_bput    PNETCDF_VAR_NB_WRITES
#define COUNT_iget    PNETCDF_VAR_NB_READS

#define ACCESS(verb, VERB, all, form, FORM, suffix, type, ...)                                               \
    FN(int, ncmpi_##verb##_##form##suffix##all, (PARAMETERS(ELEMENT_##verb(type), __VA_ARGS__)),             \
       (__VA_ARGS__),                                                                                        \
       if (ret == 0)                                                                                         \
           pnetcdf_on_access(&c, nc, var, PNETCDF_VAR_##VERB##_##FORM, COUNT_##verb##all, EXTENT_##form))

#define TYPED(verb, VERB, all, form, FORM, suffix, type)                                                     \
    ACCESS(verb, VERB, all, form, FORM, suffix, type, nc, var ARGUMENTS_##form, data ARGUMENTS_##verb)

#define FLEXIBLE(verb, VERB, all, form, FORM)                                                                \
    ACCESS(verb, VERB, all, form, FORM, , void, nc, var ARGUMENTS_##form, data, items, type ARGUMENTS_##verb)

#define BY_FILE_TYPE(verb, VERB, all)                                                                        \
    ACCESS(verb, VERB, all, vard, VARD, , void, nc, var, filetype, data, items, type)

/* ncmpi_mput_… and ncmpi_mget_… move several variables at once: what each form adds to the arguments, which
 * part of each variable that is, and whose buffers are constant. */
#define SEVERAL_var
#define SEVERAL_var1 , starts
#define SEVERAL_vara , starts, counts
#define SEVERAL_vars , starts, counts, strides
#define SEVERAL_varm , starts, counts, strides, imaps

#define PARTS_var  parts_all()
#define PARTS_var1 parts_one()
#define PARTS_vara parts_blocks(counts)
#define PARTS_vars parts_strided(counts, strides)
#define PARTS_varm parts_strided(counts, strides)

#define BUFFER_put(type) type *const
#define BUFFER_get(type) type *

#define ACCESSES(verb, VERB, all, form, FORM, suffix, type, ...)                                             \
    FN(int, ncmpi_m##verb##_##form##suffix##all, (PARAMETERS(BUFFER_##verb(type), __VA_ARGS__)),             \
       (__VA_ARGS__),                                                                                        \
       if (ret == 0) pnetcdf_on_accesses(&c, nc, (struct several){many, vars, PARTS_##form},                 \
                                         PNETCDF_VAR_##VERB##_##FORM, COUNT_##verb##all))

#define TYPED_ACCESSES(verb, VERB, all, form, FORM, suffix, type)                                            \
    ACCESSES(verb, VERB, all, form, FORM, suffix, type, nc, many, vars SEVERAL_##form, buffers)

#define FLEXIBLE_ACCESSES(verb, VERB, all, form, FORM)                                                       \
    ACCESSES(verb, VERB, all, form, FORM, , void, nc, many, vars SEVERAL_##form, buffers, item_counts, types)

#endif
