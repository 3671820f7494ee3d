#!/bin/bash
# Counts the instructions that the events of --why add to traced MPI (by valgrind, so that other work on the machine does
# not matter): of the solver of tests/bench/mpi_cg.c on one rank, traced, and traced with events, and their quotient.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 IOLENS_LOGPATH=$work IOLENS_TRACE=mpi
mpicc -O2 -o "$work/mpi_cg" "$root/tests/bench/mpi_cg.c" -lm
cd "$work"

instructions() { # MiB of memory for events
    mpirun -np 1 env IOLENS_WHY="$1" LD_PRELOAD="$root/build/lib/libiolens.so" \
        valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect=solve "$work/mpi_cg" \
        >/dev/null 2>"$work/said"
    sed -n 's/^.*Collected : \([0-9]*\).*$/\1/p' "$work/said"
}

traced=$(instructions 0)
events=$(instructions 64)
echo "CG: $traced instructions traced, $events with events: $(awk "BEGIN {printf \"%.5f\", $events / $traced}")"
