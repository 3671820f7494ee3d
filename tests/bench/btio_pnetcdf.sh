#!/usr/bin/env bash
# Bandwidth of btio's pattern against Northwestern's BTIO, method by method: ratio of the two "I/O bandwidth" lines over
# PAIRS interleaved pairs, in alternating order, with the 95 % interval of the mean of its logarithm (Student's t).
# BTIO=/path/of/the/peer [PAIRS=10] [RANKS=4] [GRID="64 64 64"] [DUMPS=5] [WHERE=/dev/shm] [METHODS="0 1 2 3"]
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -n "${BTIO:-}" ] || { echo "btio_pnetcdf: skipped, BTIO names no program to compare with"; exit 0; }
eval "$(.venv/bin/python tests/mpi_environment.py "${OMPI_MCA_io:-romio321}")"
ours=$PWD/build/bin/btio
python=$PWD/.venv/bin/python
scratch=$(mktemp -d "${WHERE:-/dev/shm}/btio.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# bandwidth OPERATION METHOD PROGRAM ARGUMENT... : MiB/s of one run
bandwidth() {
    printf '%s\n' "$1" "$2" "${DUMPS:-5}" "${GRID:-64 64 64}" "$scratch" >inputbt.data
    [ "$1" = r ] || rm -f btio.mpi btio.nc
    mpirun -np "${RANKS:-4}" "${@:3}" inputbt.data "${check[@]}" | sed -n 's/^I.O bandwidth *: *\([0-9.]*\).*/\1/p'
}
run_ours() { check=(--no-check); bandwidth "$@" "$ours"; }
run_peer() { check=(); bandwidth "$@" "$BTIO"; }

printf '%-8s%-10s%12s%12s%8s%20s\n' method operation ours/MiB/s peer/MiB/s ratio "95 % interval"
for method in ${METHODS:-0 1 2 3}; do
    for operation in w r; do
        [ "$operation" = w ] || run_ours w "$method" >warm
        for pair in $(seq "${PAIRS:-10}"); do
            if [ $((pair % 2)) = 0 ]; then
                a=$(run_ours $operation "$method"); b=$(run_peer $operation "$method")
            else
                b=$(run_peer $operation "$method"); a=$(run_ours $operation "$method")
            fi
            echo "$a $b"
        done >pairs
        "$python" - "$method" "$operation" <<'PYTHON'
import math
import statistics
import sys

from iolens.metrics.statistics.intervals import t_quantile

with open("pairs") as lines:
    pairs = [[float(word) for word in line.split()] for line in lines]
logs = [math.log(ours / peer) for ours, peer in pairs]
mean = statistics.mean(logs)
half = t_quantile(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
ours, peer = (statistics.median(column) for column in zip(*pairs, strict=True))
interval = f"[{math.exp(mean - half):.3f}, {math.exp(mean + half):.3f}]"
print(f"{sys.argv[1]:<8}{sys.argv[2]:<10}{ours:12.1f}{peer:12.1f}{math.exp(mean):8.3f}{interval:>20}")
PYTHON
    done
done
