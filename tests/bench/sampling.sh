#!/usr/bin/env bash
# What sampling costs BT-IO, under the profiler (goal: 1 % at 100 Hz): blocks of time steps with and without samples in turns in
# one run (sampling_blocks.c), with a control that has no samples in either; whole runs with and without in turns, which a
# machine with neighbours moves by several per cent; and what the profiler itself says: time in the handler.
# CLASS=A RANKS=4 BLOCK_RUNS=10 PAIRS=10 (0: none of these) HZ="100 1000" DIR=/dev/shm
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/bench/whole_runs.bash
theirs=(env "LD_PRELOAD=$preload" "IOLENS_LOGFILE=$where/log.darshan" "IOLENS_INCLUDE=$where")

gcc -O2 -Wall -shared -fPIC -o "$where/blocks.so" tests/bench/sampling_blocks.c -ldl

blocks() { # hz runs
    local run first
    for run in $(seq "$2"); do
        first=$([ $((run % 2)) = 1 ] && echo FIRST_ON=1 || true)
        mpirun -np "${RANKS:-4}" "${theirs[@]}" "IOLENS_SAMPLE=$1" "LD_PRELOAD=$where/blocks.so:$preload" $first \
            "${program[@]}" 2>&1 >/dev/null | grep '^BLOCK'
    done
}

if [ "${BLOCK_RUNS:-10}" -gt 0 ]; then
    echo "time of blocks without over those with samples (1: no difference); 0: the control"
    for hz in 0 ${HZ:-100 1000}; do
        blocks "$hz" "${BLOCK_RUNS:-10}" | .venv/bin/python tests/bench/blocks.py "$hz Hz"
    done
fi
for hz in ${HZ:-100 1000}; do
    ours=("${theirs[@]}" "IOLENS_SAMPLE=$hz")
    row ours 0 "${ours[@]}" "${program[@]}" >/dev/null
    .venv/bin/python - "$where/log.darshan" "$hz" <<'PYTHON'
import sys
from iolens.log import read_log

threads = read_log(sys.argv[1]).private["sampling"]
spent, stacks = threads["handler_time"].sum(), threads["stacks"].sum()
print(f"{sys.argv[2]} Hz: {100 * spent / threads['duration'].sum():.3f} % of the threads' time in the handler, "
      f"{1e6 * spent / stacks:.2f} us a sample, {int(stacks)} samples, {int(threads['lost'].sum())} periods lost")
PYTHON
    [ "${PAIRS:-10}" -gt 0 ] || continue
    echo "time without samples over time with $hz a second (1: no difference)"
    compare "${PAIRS:-10}"
done
