#!/usr/bin/env bash
# What recording BT-IO costs: a bound from its log (goal: 0.5 % of the run time), and beside it, as a sanity check, whole
# runs with and without the profiler in turns: median of the ratio of their times and its 95 % interval.
# CLASS=A RANKS=4 PAIRS=10 (0: the bound alone) DIR=/dev/shm   (class A on two cores: about a minute a run, 20 minutes in all)
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/bench/whole_runs.bash
ours=(env "LD_PRELOAD=$preload" "IOLENS_LOGPATH=$where" "IOLENS_INCLUDE=$where")
theirs=()

row ours 0 "${ours[@]}" "${program[@]}"
.venv/bin/iolens selfbench --log "$(ls "$where"/*.darshan)"
[ "${PAIRS:-10}" -gt 0 ] || exit 0
echo "time without the profiler over time with it (1: no difference)"
compare "${PAIRS:-10}"
