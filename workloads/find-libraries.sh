#!/bin/sh
# Finds the parallel I/O libraries that programs of this MPI compiler can use. Prints make variables:
#   HAVE_X = 1 and CFLAGS_X, LIBS_X for each of PNETCDF, HDF5, NETCDF that was found.
# A library that was built with another MPI than the compiler's is not taken: the program would load two.
# Usage: find-libraries.sh MPICC SCRATCH_DIR
set -u
mpicc=$1
scratch=$2
mkdir -p "$scratch" || exit 1

# builds SOURCE_LINES CFLAGS LIBS: compile and link a probe.
builds() {
    printf '#include <mpi.h>\n%s\nint main(void) { return probe() == 0; }\n' "$1" >"$scratch/probe.c"
    # shellcheck disable=SC2086 # flags are several words
    $mpicc $2 "$scratch/probe.c" $3 -o "$scratch/probe" >/dev/null 2>&1
}

# The MPI libraries that the probe would load.
loaded() { ldd "$scratch/probe" | grep -oE '^[[:space:]]*libmpi(ch)?\.so[^(]*'; }

# usable NAME SOURCE_LINES CFLAGS LIBS: the probe can be built, and loads the MPI of the compiler and no other.
usable() {
    builds "$2" "$3" "$4" && [ "$(loaded)" = "$own" ] || return 1
    printf 'HAVE_%s = 1\nCFLAGS_%s = %s\nLIBS_%s = %s\n' "$1" "$1" "$3" "$1" "$4"
}

# first NAME SOURCE_LINES PACKAGE... : the first of these packages, or the bare library, that is usable.
first() {
    name=$1 source=$2 bare=$3
    shift 3
    for package in "$@"; do
        flags=$(pkg-config --cflags-only-I "$package" 2>/dev/null) || continue
        libs=$(pkg-config --libs "$package" 2>/dev/null)
        usable "$name" "$source" "$flags" "$libs" && return
    done
    usable "$name" "$source" "" "$bare"
}

# Debian keeps its parallel HDF5 beside the serial one; without pkg-config it is found there.
debian_hdf5() {
    for kind in openmpi mpich; do
        where=/usr/lib/$(uname -m)-linux-gnu/hdf5/$kind
        [ -d "$where" ] && usable HDF5 "$1" "-I/usr/include/hdf5/$kind" "-L$where -lhdf5" && return
    done
}
debian_netcdf() {
    where=/usr/lib/$(uname -m)-linux-gnu/netcdf/mpi
    [ -d "$where" ] && usable NETCDF "$1" "-I$where/include" "-lnetcdf_mpi"
}

builds 'static int probe(void) { return MPI_Wtime() > 0; }' '' '' || exit 0
own=$(loaded)

pnetcdf='#include <pnetcdf.h>
static int probe(void) { return ncmpi_strerror(0) != 0; }'
hdf5='#include <hdf5.h>
static int probe(void) { return H5Pset_fapl_mpio(H5Pcreate(H5P_FILE_ACCESS), MPI_COMM_WORLD, MPI_INFO_NULL) >= 0; }'
netcdf='#include <netcdf.h>
#include <netcdf_par.h>
static int probe(void) { int id; return nc_create_par("", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &id); }'

first PNETCDF "$pnetcdf" -lpnetcdf pnetcdf
first HDF5 "$hdf5" -lhdf5 hdf5-openmpi hdf5-mpich hdf5 || debian_hdf5 "$hdf5"
first NETCDF "$netcdf" -lnetcdf netcdf-mpi netcdf || debian_netcdf "$netcdf"
exit 0
