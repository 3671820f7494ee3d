#!/usr/bin/env bash
# What recording BT-IO costs: a bound from its log (goal: 0.5 % of the run time), and beside it, as a sanity check, whole
# runs with and without the profiler in turns: median of the ratio of their times and its 95 % interval.
# CLASS=A RANKS=4 PAIRS=10 (0: the bound alone) DIR=/dev/shm   (class A on two cores: about a minute a run, 20 minutes in all)
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_io="${OMPI_MCA_io:-romio321}"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
where=$(mktemp -d "${DIR:-/dev/shm}/overhead.XXXXXX")
trap 'rm -rf "$where"' EXIT
preload=$PWD/build/lib/libiolens-openmpi.so:$PWD/build/lib/libiolens.so
program=(build/bin/btio --class "${CLASS:-A}" --method full --directory "$where")
settings=(env "LD_PRELOAD=$preload" "IOLENS_LOGPATH=$where" "IOLENS_INCLUDE=$where")

row() { # who pair command...: a line `who pair key seconds`
    local begin end
    begin=$(date +%s.%N)
    mpirun -np "${RANKS:-4}" "${@:3}" >"$where/out" || { cat "$where/out" >&2; exit 1; }
    end=$(date +%s.%N)
    echo "$1" "$2" run "$(echo "$end - $begin" | bc)"
}

row ours 0 "${settings[@]}" "${program[@]}"
.venv/bin/iolens selfbench --log "$(ls "$where"/*.darshan)"
[ "${PAIRS:-10}" -gt 0 ] || exit 0
for pair in $(seq "${PAIRS:-10}"); do
    if ((pair % 2)); then
        row ours "$pair" "${settings[@]}" "${program[@]}"
        row theirs "$pair" "${program[@]}"
    else
        row theirs "$pair" "${program[@]}"
        row ours "$pair" "${settings[@]}" "${program[@]}"
    fi
done >"$where/rows"
echo "time without the profiler over time with it (1: no difference)"
.venv/bin/python tests/bench/paired.py "BT-IO" <"$where/rows"
