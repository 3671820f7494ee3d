#!/usr/bin/env bash
# What sampling costs BT-IO: whole runs under the profiler with and without samples in turns, the median of the ratio of their
# times and its 95 % interval (goal: 1 % at 100 Hz); beside it what the profiler itself says: time in the handler over the time
# of the threads, and per sample.
# CLASS=A RANKS=4 PAIRS=10 (0: the handler's time alone) HZ="100 1000" DIR=/dev/shm
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_io="${OMPI_MCA_io:-romio321}"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
where=$(mktemp -d "${DIR:-/dev/shm}/sampling.XXXXXX")
trap 'rm -rf "$where"' EXIT
preload=$PWD/build/lib/libiolens-openmpi.so:$PWD/build/lib/libiolens.so
program=(build/bin/btio --class "${CLASS:-A}" --method full --directory "$where")
settings=(env "LD_PRELOAD=$preload" "IOLENS_LOGFILE=$where/log.darshan" "IOLENS_INCLUDE=$where")

row() { # who pair command...: a line `who pair key seconds`
    local begin end
    begin=$(date +%s.%N)
    mpirun -np "${RANKS:-4}" "${@:3}" >"$where/out" || { cat "$where/out" >&2; exit 1; }
    end=$(date +%s.%N)
    echo "$1" "$2" run "$(echo "$end - $begin" | bc)"
}

for hz in ${HZ:-100 1000}; do
    sampled=("${settings[@]}" "IOLENS_SAMPLE=$hz")
    row ours 0 "${sampled[@]}" "${program[@]}" >/dev/null
    .venv/bin/python - "$where/log.darshan" "$hz" <<'PYTHON'
import sys
from iolens.log import read_log

threads = read_log(sys.argv[1]).private["sampling"]
spent, stacks = threads["handler_time"].sum(), threads["stacks"].sum()
print(f"{sys.argv[2]} Hz: {100 * spent / threads['duration'].sum():.3f} % of the threads' time in the handler, "
      f"{1e6 * spent / stacks:.2f} us a sample, {int(stacks)} samples, {int(threads['lost'].sum())} periods lost")
PYTHON
    [ "${PAIRS:-10}" -gt 0 ] || continue
    for pair in $(seq "${PAIRS:-10}"); do
        if ((pair % 2)); then
            row ours "$pair" "${sampled[@]}" "${program[@]}"
            row theirs "$pair" "${settings[@]}" "${program[@]}"
        else
            row theirs "$pair" "${settings[@]}" "${program[@]}"
            row ours "$pair" "${sampled[@]}" "${program[@]}"
        fi
    done >"$where/rows"
    echo "time without samples over time with $hz a second (1: no difference)"
    .venv/bin/python tests/bench/paired.py "BT-IO" <"$where/rows"
done
