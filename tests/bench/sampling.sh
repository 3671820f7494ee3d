#!/usr/bin/env bash
# What sampling costs BT-IO: whole runs under the profiler with and without samples in turns, the median of the ratio of their
# times and its 95 % interval (goal: 1 % at 100 Hz); beside it what the profiler itself says: time in the handler over the time
# of the threads, and per sample.
# CLASS=A RANKS=4 PAIRS=10 (0: the handler's time alone) HZ="100 1000" DIR=/dev/shm
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/bench/whole_runs.bash
theirs=(env "LD_PRELOAD=$preload" "IOLENS_LOGFILE=$where/log.darshan" "IOLENS_INCLUDE=$where")

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
