/* The wrapped functions of PnetCDF: the rows of pnetcdf.def, expanded. */
#include "pnetcdf.h"
#include "pnetcdf_rows.h"

#define WRAP_TABLE "../modules/pnetcdf.def"
#include "../core/wrap_expand.h"
