#!/usr/bin/env bash
# Latencies of `collectives` held against the OSU micro-benchmarks: time of theirs over ours, in pairs run one after the
# other in turns; geometric mean over sizes 8 B to 64 KiB, its median over the pairs and that one's 95 % interval. 1 means
# that both measure the same. Needs OMB, the folder of osu_allreduce and its like.
# OMB=DIR RANKS=2 PAIRS=10 OPERATIONS="allreduce bcast reduce allgather"
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ ! -x "${OMB:-}/osu_allreduce" ]; then
    echo "skipped: OMB is not the folder of osu_allreduce, such as libexec/osu-micro-benchmarks/mpi/collective"
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ours() { mpirun -np "${RANKS:-2}" build/bin/collectives --operations "$1" -m 8:64k; }
theirs() { mpirun -np "${RANKS:-2}" "$OMB/osu_$1" -m 8:65536; }
rows() { awk -v who="$1" -v pair="$2" '$1 ~ /^[0-9]+$/ {print who, pair, $1, $2}'; }

for operation in ${OPERATIONS:-allreduce bcast reduce allgather}; do
    for pair in $(seq "${PAIRS:-10}"); do
        if ((pair % 2)); then
            ours "$operation" | rows ours "$pair"
            theirs "$operation" | rows theirs "$pair"
        else
            theirs "$operation" | rows theirs "$pair"
            ours "$operation" | rows ours "$pair"
        fi
    done | .venv/bin/python tests/bench/paired.py "$operation"
done
