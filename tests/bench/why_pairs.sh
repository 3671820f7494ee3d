#!/bin/bash
# What the events of --why add to the run time of traced MPI, in pairs of runs in turns: CG with the size of NPB's class A
# on two ranks, and BT class A without files on four. Prints the quotient of both times with its 95 % interval. Some four
# minutes; the machine must do nothing else.   bash tests/bench/why_pairs.sh [PAIRS]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
pairs=${1:-12}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 IOLENS_LOGPATH=$work IOLENS_TRACE=mpi
mpicc -O2 -o "$work/mpi_cg" "$root/tests/bench/mpi_cg.c" -lm
cd "$work"

seconds() { # program, MiB of memory for events
    local preload="LD_PRELOAD=$root/build/lib/libiolens.so"
    case $1 in
    CG) mpirun -np 2 env IOLENS_WHY="$2" "$preload" "$work/mpi_cg" 150 | awk '{print $2}' ;;
    BT) mpirun --oversubscribe -np 4 env IOLENS_WHY="$2" "$preload" "$root/build/bin/btio" --class A --steps 20 --method none \
        --json "$work/result" >/dev/null && sed 's/.*"total_seconds": \([0-9.e+-]*\).*/\1/' "$work/result" ;;
    esac
    rm -f "$work"/*.darshan
}

for program in CG BT; do
    for ((pair = 0; pair < pairs; pair++)); do
        turns=("ours 0" "theirs 64")
        ((pair % 2)) && turns=("theirs 64" "ours 0")
        for turn in "${turns[@]}"; do
            echo "${turn% *} $pair seconds $(seconds $program "${turn#* }")"
        done
    done | "$root/.venv/bin/python" "$root/tests/bench/paired.py" "$program"
done
