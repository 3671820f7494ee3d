#!/usr/bin/env bash
# Seconds of MPI_Finalize on rank 0 when all ranks share many files: without a library, with ours, with Darshan if
# DARSHAN_LIB is set, in one run; and how many collective calls ours made (the two of MPI_Init included).
# RANKS="64 128 256" FILES=1000 REPEAT=3 DIR=/dev/shm   (on two idle cores some minutes; loads the whole machine)
set -euo pipefail
cd "$(dirname "$0")/../.."
eval "$(.venv/bin/python tests/mpi_environment.py)"
where=$(mktemp -d "${DIR:-/dev/shm}/finalize.XXXXXX")
trap 'rm -rf "$where"' EXIT
files=${FILES:-1000}
mpicc -std=gnu11 -D_GNU_SOURCE -O2 -o "$where/program" tests/c/mpi_shared_files.c
mpicc -std=gnu11 -D_GNU_SOURCE -shared -fPIC -o "$where/counter.so" tests/c/collective_counter.c -ldl
printf 'NAME_INCLUDE %s.* *\nMAX_RECORDS %d *\nMODMEM 64\nNAMEMEM 8\n' "$where" $((2 * files + 1024)) >"$where/darshan.conf"
ours=(env "LD_PRELOAD=$PWD/build/lib/libiolens.so:$where/counter.so"
    "IOLENS_LOGPATH=$where" "IOLENS_INCLUDE=$where")
theirs=(env "LD_PRELOAD=${DARSHAN_LIB:-}" "DARSHAN_CONFIG_PATH=$where/darshan.conf" "DARSHAN_LOGFILE=$where/x.darshan")

run() { # ranks label words...
    mkdir "$where/data"
    timeout 300 mpirun -np "$1" "${@:3}" "$where/program" "$where/data" "$files" 0 |
        sed -n "s/^MPI_Finalize: *\(.*\) s/$1\t$2\t\1/p; s/^collective/$1\t$2\tcollective/p" || true
    rm -rf "$where/data" "$where"/*.darshan*
}

printf 'ranks\tlibrary\tseconds\n'
for ranks in ${RANKS:-64 128 256}; do
    for _ in $(seq "${REPEAT:-3}"); do
        run "$ranks" none env
        run "$ranks" iolens "${ours[@]}"
        [ -z "${DARSHAN_LIB:-}" ] || run "$ranks" Darshan "${theirs[@]}"
    done
done
