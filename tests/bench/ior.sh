#!/usr/bin/env bash
# Bandwidth of `ior` held against IOR's: ours over theirs, in pairs run one after the other in turns; for each interface,
# transfer size and operation the median over the pairs and its 95 % interval. Both with IOR's default data pattern.
# IOR=/path/ior DIR=/dev/shm RANKS=2 PAIRS=10 APIS="POSIX MPIIO" SIZES="1024 47008 1m 16m"
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ ! -x "${IOR:-}" ]; then
    echo "skipped: IOR is not the program ior"
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_io="${OMPI_MCA_io:-romio321}"
where=$(mktemp -d "${DIR:-/dev/shm}/ior.XXXXXX")
trap 'rm -rf "$where"' EXIT
declare -A segments=([1024]=8192 [47008]=680 [1m]=32 [16m]=2)
rows() { # who pair program argument...
    mpirun -np "${RANKS:-2}" "${@:3}" -l timestamp -w -r -o "$where/data" |
        awk -v who="$1" -v pair="$2" '/^Results/ {on = 1} on && /^(write|read) / {print who, pair, $1, 1 / $2; n++} n == 2 {on = 0}'
}

for api in ${APIS:-POSIX MPIIO}; do
    for size in ${SIZES:-1024 47008 1m 16m}; do
        options=(-a "$api" -t "$size" -b "$size" -s "${segments[$size]:-32}")
        for pair in $(seq "${PAIRS:-10}"); do
            if ((pair % 2)); then
                rows ours "$pair" build/bin/ior "${options[@]}"
                rows theirs "$pair" "$IOR" "${options[@]}"
            else
                rows theirs "$pair" "$IOR" "${options[@]}"
                rows ours "$pair" build/bin/ior "${options[@]}"
            fi
        done >"$where/rows"
        for operation in write read; do
            grep " $operation " "$where/rows" | .venv/bin/python tests/bench/paired.py "$api $size $operation"
        done
    done
done
