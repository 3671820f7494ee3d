/* The wrapped functions of HDF5: the rows of hdf5.def, expanded. */
#include "hdf5.h"

#define WRAP_TABLE "../modules/hdf5.def"
#include "../core/wrap_expand.h"
