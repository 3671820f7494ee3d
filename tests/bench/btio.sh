#!/usr/bin/env bash
# Mop/s of BT without I/O, verified, per class and number of ranks: the best of REPEAT runs.
# CLASSES="S W A" RANKS="1 4" REPEAT=3
set -euo pipefail
cd "$(dirname "$0")/../.."
eval "$(.venv/bin/python tests/mpi_environment.py)"

printf '%-8s%-8s%14s\n' class ranks "Mop/s total"
for class in ${CLASSES:-S W A}; do
    for ranks in ${RANKS:-1 4}; do
        for _ in $(seq "${REPEAT:-3}"); do
            mpirun -np "$ranks" build/bin/btio --class "$class" --method none | sed -n 's/^ Mop.s total *= *//p'
        done | sort -g | tail -1 | xargs printf '%-8s%-8s%14s\n' "$class" "$ranks"
    done
done
