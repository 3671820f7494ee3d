#!/usr/bin/env bash
# Rates of `metadata` held against mdtest's: ours over theirs, in pairs run one after the other in turns; for each phase the
# median over the pairs and its 95 % interval. Needs MDTEST, the program.
# MDTEST=/path/mdtest DIR=/dev/shm RANKS=2 PAIRS=10 ITEMS=2000
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ ! -x "${MDTEST:-}" ]; then
    echo "skipped: MDTEST is not the program mdtest"
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
where=$(mktemp -d "${DIR:-/dev/shm}/metadata.XXXXXX")
trap 'rm -rf "$where"' EXIT
options=(-n "${ITEMS:-2000}" -w 3901 -e 3901 -N 1 -d "$where")
ours() { mpirun -np "${RANKS:-2}" build/bin/metadata "${options[@]}"; }
theirs() { mpirun -np "${RANKS:-2}" "$MDTEST" -F -X "${options[@]}"; }
rows() { awk -v who="$1" -v pair="$2" '$1 == "File" {print who, pair, $2, 1 / $3}'; }

for pair in $(seq "${PAIRS:-10}"); do
    if ((pair % 2)); then
        ours | rows ours "$pair"
        theirs | rows theirs "$pair"
    else
        theirs | rows theirs "$pair"
        ours | rows ours "$pair"
    fi
done >"$where/rows"
for phase in creation stat read removal; do
    grep " $phase " "$where/rows" | .venv/bin/python tests/bench/paired.py "$phase"
done
