/* The wrapped functions of PnetCDF: the rows of pnetcdf.def, expanded. */
#include "pnetcdf.h"
#include "pnetcdf_kinds.h"

#define WRAP_TABLE "profiler/src/modules/pnetcdf/pnetcdf.def"
#include "../../runtime/wrap_expand.h"
