#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef HAVE_NETCDF
#include <netcdf.h>

static void write_netcdf(const char *path, const float *packet, size_t cells, Trouble *trouble)
{
    int file, dimension, variable;
    int code = nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file);
    bool created = code == NC_NOERR;
    if (created)
        code = nc_def_dim(file, "dim1", cells, &dimension);
    if (code == NC_NOERR)
        code = nc_def_var(file, "var1", NC_FLOAT, 1, &dimension, &variable);
    if (code == NC_NOERR)
        code = nc_enddef(file);
    if (code == NC_NOERR)
        code = nc_put_var_float(file, variable, packet);
    int closed = created ? nc_close(file) : NC_NOERR;
    if (code != NC_NOERR || closed != NC_NOERR)
        trouble_note(trouble, "cannot write %s: %s", path, nc_strerror(code != NC_NOERR ? code : closed));
}
#else
static void write_netcdf(const char *path, const float *packet, size_t cells, Trouble *trouble)
{
    (void)packet, (void)cells;
    trouble_note(trouble, "cannot write %s: this program was built without netCDF", path);
}
#endif

/* Writes all parts, in as many calls as the system needs. */
static bool write_parts(int file, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t moved = writev(file, parts, count);
        if (moved < 0 && errno != EINTR)
            return false;
        moved = moved < 0 ? 0 : moved;
        for (; count > 0 && moved >= (ssize_t)parts->iov_len; parts++, count--)
            moved -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + moved;
            parts->iov_len -= (size_t)moved;
        }
    }
    return true;
}

static void write_binary(const char *path, const float *packet, size_t cells, Trouble *trouble)
{
    int32_t mark = (int32_t)(cells * sizeof *packet);
    struct iovec parts[] = {
        {&mark, sizeof mark}, {(void *)packet, cells * sizeof *packet}, {&mark, sizeof mark}};
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    bool good = file >= 0 && write_parts(file, parts, 3);
    int reason = errno;
    if (file >= 0 && close(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (!good)
        trouble_note(trouble, "cannot write %s: %s", path, strerror(reason));
}

void scratch_write(const char *path, bool netcdf, const float *packet, size_t cells, Trouble *trouble)
{
    bool stale = !netcdf && access(path, F_OK) == 0;
    if (stale) {
        trouble_note(trouble, "the file %s exists, left by a run that was cut short; remove it and run again",
                     path);
        return;
    }
    if (netcdf)
        write_netcdf(path, packet, cells, trouble);
    else
        write_binary(path, packet, cells, trouble);
    if (unlink(path) != 0 && !trouble->any)
        trouble_note(trouble, "cannot remove %s: %s", path, strerror(errno));
}
