#include <dlfcn.h>

#include "../../files/names.h"
#include "../../runtime/context.h"
#include "../../system/library.h"
#include "pnetcdf.h"

enum { MPICH_DATATYPE_NULL = 0x0c000000 };

static bool find(const char *name, void *pointer)
{
    void *symbol = library_symbol(strncmp(name, "PMPI", 4) == 0 ? "libmpi" : "libpnetcdf", name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Returns the program's MPI_DATATYPE_NULL. Open MPI's is the address of an object, MPICH's a number. A
 * program may hold a copy of the object, and then all libraries in its process use that copy. */
static mpi_type null_type(void)
{
    static const char name[] = "ompi_mpi_datatype_null";
    void *object = dlsym(RTLD_DEFAULT, name);
    if (!object)
        object = library_symbol("libmpi", name);
    return object ? (mpi_type)object : (mpi_type)MPICH_DATATYPE_NULL;
}

const struct pnetcdf_calls *pnetcdf_calls(void)
{
    static struct pnetcdf_calls calls;
    static atomic_int known; /* State of the program's PnetCDF: 0 not examined yet; 1 usable; -1 too old to be
                              * recorded. */
    if (known)
        return known > 0 ? &calls : NULL;
    struct pnetcdf_calls found = {.type_null = null_type()};
    bool whole = find("ncmpi_inq_path", &found.inq_path) && find("ncmpi_inq_put_size", &found.inq_put_size) &&
                 find("ncmpi_inq_get_size", &found.inq_get_size) && find("ncmpi_inq_var", &found.inq_var) &&
                 find("ncmpi_inq_varndims", &found.inq_varndims) &&
                 find("ncmpi_inq_unlimdim", &found.inq_unlimdim) &&
                 find("ncmpi_inq_dimlen", &found.inq_dimlen) && find("PMPI_Type_size", &found.type_size);
    if (!whole)
        iolens_say("the program's PnetCDF lacks functions of version 1.4, so its calls are not recorded; "
                   "PnetCDF 1.4 and later versions are");
    calls = found;
    known = whole ? 1 : -1;
    return whole ? &calls : NULL;
}

bool pnetcdf_path(char path[PATH_BYTES], int nc)
{
    const struct pnetcdf_calls *pnetcdf = pnetcdf_calls();
    char name[PNETCDF_NAME_MOST];
    int length = 0;
    if (!pnetcdf || pnetcdf->inq_path(nc, &length, NULL) != 0 || length >= PNETCDF_NAME_MOST)
        return false;
    if (pnetcdf->inq_path(nc, NULL, name) != 0 || !path_absolute(path, AT_FDCWD, name))
        return false;
    names_resolve(path);
    return true;
}
