/* What the rows of pnetcdf.def are made of. A function that moves data is a verb, a form and a type:
 * ncmpi_put_vara_double_all. The macros below give each part's share of the parameters (PARAMS_, with a
 * leading comma) and arguments (ARGS_), and what it means (EXTENT_, COUNT_). */
#ifndef IOLENS_PNETCDF_ROWS_H
#define IOLENS_PNETCDF_ROWS_H

#define PARAMS_var
#define PARAMS_var1 , const mpi_offset *start
#define PARAMS_vara , const mpi_offset *start, const mpi_offset *count
#define PARAMS_vars , const mpi_offset *start, const mpi_offset *count, const mpi_offset *stride
#define PARAMS_varm                                                                                          \
    , const mpi_offset *start, const mpi_offset *count, const mpi_offset *stride, const mpi_offset *imap
#define PARAMS_varn , int pieces, mpi_offset *const *starts, mpi_offset *const *counts
#define ARGS_var
#define ARGS_var1   , start
#define ARGS_vara   , start, count
#define ARGS_vars   , start, count, stride
#define ARGS_varm   , start, count, stride, imap
#define ARGS_varn   , pieces, starts, counts
#define EXTENT_var  extent_all()
#define EXTENT_var1 extent_one()
#define EXTENT_vara extent_block(count)
#define EXTENT_vars extent_strided(count, stride)
#define EXTENT_varm extent_strided(count, stride)
#define EXTENT_varn extent_pieces(pieces, counts)

/* Writing takes constant data; a nonblocking call gives a request. */
#define CONST_put  const
#define CONST_iput const
#define CONST_bput const
#define CONST_get
#define CONST_iget
#define PARAMS_put
#define PARAMS_get
#define PARAMS_iput , int *request
#define PARAMS_iget , int *request
#define PARAMS_bput , int *request
#define ARGS_put
#define ARGS_get
#define ARGS_iput , request
#define ARGS_iget , request
#define ARGS_bput , request

#define COUNT_put     PNETCDF_VAR_INDEP_WRITES
#define COUNT_put_all PNETCDF_VAR_COLL_WRITES
#define COUNT_get     PNETCDF_VAR_INDEP_READS
#define COUNT_get_all PNETCDF_VAR_COLL_READS
#define COUNT_iput    PNETCDF_VAR_NB_WRITES
#define COUNT_bput    PNETCDF_VAR_NB_WRITES
#define COUNT_iget    PNETCDF_VAR_NB_READS

#define ACCESS(counter, mode, extent)                                                                        \
    if (ret == 0)                                                                                            \
    pnetcdf_on_access(&c, nc, var, counter, mode, extent)

#define TYPED(verb, VERB, all, form, FORM, type, c_type)                                                     \
    FN(int, ncmpi_##verb##_##form##type##all,                                                                \
       (int nc, int var PARAMS_##form, CONST_##verb c_type *data PARAMS_##verb),                             \
       (nc, var ARGS_##form, data ARGS_##verb),                                                              \
       ACCESS(PNETCDF_VAR_##VERB##_##FORM, COUNT_##verb##all, EXTENT_##form))

#define FLEXIBLE(verb, VERB, all, form, FORM)                                                                \
    FN(int, ncmpi_##verb##_##form##all,                                                                      \
       (int nc, int var PARAMS_##form, CONST_##verb void *data, mpi_offset items,                            \
        mpi_type type PARAMS_##verb),                                                                        \
       (nc, var ARGS_##form, data, items, type ARGS_##verb),                                                 \
       ACCESS(PNETCDF_VAR_##VERB##_##FORM, COUNT_##verb##all, EXTENT_##form))

#define EVERY_TYPE(verb, VERB, all, form, FORM)                                                              \
    FLEXIBLE(verb, VERB, all, form, FORM)                                                                    \
    TYPED(verb, VERB, all, form, FORM, _text, char)                                                          \
    TYPED(verb, VERB, all, form, FORM, _schar, signed char)                                                  \
    TYPED(verb, VERB, all, form, FORM, _uchar, unsigned char)                                                \
    TYPED(verb, VERB, all, form, FORM, _short, short)                                                        \
    TYPED(verb, VERB, all, form, FORM, _ushort, unsigned short)                                              \
    TYPED(verb, VERB, all, form, FORM, _int, int)                                                            \
    TYPED(verb, VERB, all, form, FORM, _uint, unsigned)                                                      \
    TYPED(verb, VERB, all, form, FORM, _long, long)                                                          \
    TYPED(verb, VERB, all, form, FORM, _float, float)                                                        \
    TYPED(verb, VERB, all, form, FORM, _double, double)                                                      \
    TYPED(verb, VERB, all, form, FORM, _longlong, long long)                                                 \
    TYPED(verb, VERB, all, form, FORM, _ulonglong, unsigned long long)

#define EVERY_FORM(verb, VERB, all)                                                                          \
    EVERY_TYPE(verb, VERB, all, var, VAR)                                                                    \
    EVERY_TYPE(verb, VERB, all, var1, VAR1)                                                                  \
    EVERY_TYPE(verb, VERB, all, vara, VARA)                                                                  \
    EVERY_TYPE(verb, VERB, all, vars, VARS)                                                                  \
    EVERY_TYPE(verb, VERB, all, varm, VARM)                                                                  \
    EVERY_TYPE(verb, VERB, all, varn, VARN)

#define BY_FILE_TYPE(verb, VERB, all)                                                                        \
    FN(int, ncmpi_##verb##_vard##all,                                                                        \
       (int nc, int var, mpi_type filetype, CONST_##verb void *data, mpi_offset items, mpi_type type),       \
       (nc, var, filetype, data, items, type),                                                               \
       ACCESS(PNETCDF_VAR_##VERB##_VARD, COUNT_##verb##all, extent_type(filetype)))

#endif
