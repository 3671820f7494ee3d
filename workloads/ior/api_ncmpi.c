/* NCMPI: the file has one byte variable data_var[segments x tasks][transfers of a block][bytes of a transfer]
 * of PnetCDF. */
#ifdef HAVE_PNETCDF
#include <pnetcdf.h>
#include <stdlib.h>

#include "api.h"

typedef struct Opened {
    int file, variable;
    bool is_open;
} Opened;

static bool good(int code, const char *what, const Target *target, Trouble *trouble)
{
    if (code != NC_NOERR)
        trouble_note(trouble, "PnetCDF cannot %s %s: %s", what, target->path, ncmpi_strerror(code));
    return code == NC_NOERR;
}

static void define(Opened *opened, const Target *target, Trouble *trouble)
{
    const Settings *s = target->settings;
    int dimensions[3];
    int code =
        ncmpi_def_dim(opened->file, "segments_times_np", s->segments * target->sharers, &dimensions[0]);
    code = code == NC_NOERR
               ? ncmpi_def_dim(opened->file, "number_of_transfers", s->block / s->transfer, &dimensions[1])
               : code;
    code =
        code == NC_NOERR ? ncmpi_def_dim(opened->file, "transfer_size", s->transfer, &dimensions[2]) : code;
    code = code == NC_NOERR
               ? ncmpi_def_var(opened->file, "data_var", NC_BYTE, 3, dimensions, &opened->variable)
               : code;
    code = code == NC_NOERR ? ncmpi_enddef(opened->file) : code;
    good(code, "define the variable of", target, trouble);
}

static void *ncmpi_open_file(Target *target, Trouble *trouble)
{
    Opened *opened = allocate(1, sizeof *opened);
    MPI_Info info = hints_info(&target->settings->hints), used;
    int code = target->writing
                   ? ncmpi_create(target->comm, target->path, NC_CLOBBER | NC_64BIT_DATA, info, &opened->file)
                   : ncmpi_open(target->comm, target->path, NC_NOWRITE, info, &opened->file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    opened->is_open = good(code, "open", target, trouble);
    if (!opened->is_open)
        return opened;
    if (target->writing)
        define(opened, target, trouble);
    else
        good(ncmpi_inq_varid(opened->file, "data_var", &opened->variable), "find data_var in", target,
             trouble);
    if (ncmpi_inq_file_info(opened->file, &used) == NC_NOERR) {
        hints_of_info(&target->effective, used);
        MPI_Info_free(&used);
    }
    if (!target->settings->collective && !trouble->any)
        good(ncmpi_begin_indep_data(opened->file), "enter independent mode of", target, trouble);
    return opened;
}

static bool ncmpi_transfer(void *file, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                           Trouble *trouble)
{
    Opened *opened = file;
    const Settings *s = target->settings;
    signed char *data = (signed char *)buffer;
    MPI_Offset start[3] = {offset / s->block, offset % s->block / s->transfer, 0}, count[3] = {1, 1, bytes};
    int code;
    if (s->collective)
        code = target->writing ? ncmpi_put_vara_schar_all(opened->file, opened->variable, start, count, data)
                               : ncmpi_get_vara_schar_all(opened->file, opened->variable, start, count, data);
    else
        code = target->writing ? ncmpi_put_vara_schar(opened->file, opened->variable, start, count, data)
                               : ncmpi_get_vara_schar(opened->file, opened->variable, start, count, data);
    return good(code, target->writing ? "write to" : "read from", target, trouble);
}

static void ncmpi_sync_file(void *file, const Target *target, Trouble *trouble)
{
    good(ncmpi_sync(((Opened *)file)->file), "flush", target, trouble);
}

static void ncmpi_close_file(void *file, const Target *target, Trouble *trouble)
{
    Opened *opened = file;
    if (opened->is_open)
        good(ncmpi_close(opened->file), "close", target, trouble);
    free(opened);
}

const Api API_NCMPI = {"NCMPI",          true,      ncmpi_open_file, ncmpi_transfer, ncmpi_sync_file,
                       ncmpi_close_file, api_unlink};
#endif
