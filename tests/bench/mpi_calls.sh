#!/bin/bash
# What tracing costs per call of MPI, in ns: without the library, with it and MPI not traced, traced without callers, with
# one, with eight, with one and the events of --why; with mpiP, without stacks and as it comes, where MPIP_LIB names its
# libmpiP.so. Each in turn, in PROCESSES processes (default 5), of which the fastest and the slowest are printed: half a
# minute on a quiet machine. The last column is what the events add, by the fastest processes. COUNT=1: instructions per call instead, by valgrind, which does not mind a busy machine, and
# without those of MPI_Finalize.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 IOLENS_LOGPATH=$work
mpicc -O2 -o "$work/mpi_cost" "$root/tests/c/mpi_cost.c"
cd "$work"
preload="$root/build/lib/libiolens.so"
ways=("without" "off" "callers 0" "callers 1" "callers 8" "why" ${MPIP_LIB:+"mpiP -k0"} ${MPIP_LIB:+mpiP})

settings() { # of a way, as words for env
    case $1 in
    without) echo IOLENS_DISABLE=1 ;;
    off) echo "LD_PRELOAD=$preload IOLENS_TRACE=io" ;;
    why) echo "LD_PRELOAD=$preload IOLENS_TRACE=mpi IOLENS_CALLERS=1 IOLENS_WHY=64" ;;
    "mpiP -k0") echo "LD_PRELOAD=$MPIP_LIB MPIP=-k0" ;;
    mpiP) echo "LD_PRELOAD=$MPIP_LIB" ;;
    *) echo "LD_PRELOAD=$preload IOLENS_TRACE=mpi IOLENS_CALLERS=${1#callers }" ;;
    esac
}

declare -A inside=([Iprobe]=probe [Sendrecv]=exchange [Allreduce]=reduce) # functions of mpi_cost.c

instructions() { # way, call, times
    # shellcheck disable=SC2046
    mpirun -np 1 env $(settings "$1") valgrind --tool=callgrind --callgrind-out-file="$work/out" \
        --toggle-collect="${inside[$2]}" "$work/mpi_cost" "$2" "$3" 1 >/dev/null 2>"$work/said"
    sed -n 's/^.*Collected : \([0-9]*\).*$/\1/p' "$work/said"
}

one() { # way, call, times: a figure
    if [ -n "${COUNT:-}" ]; then
        echo $((($(instructions "$1" "$2" 20000) - $(instructions "$1" "$2" 10000)) / 10000))
    else
        # shellcheck disable=SC2046
        mpirun -np 1 env $(settings "$1") "$work/mpi_cost" "$2" "$3" 3 2>/dev/null | tail -n 1
    fi
}

printf '%-10s' "${COUNT:+Ir/call}"; printf '%18s' "${ways[@]}" "events add"; echo
# Numbers of calls of each kind that take about 0.1 s.
declare -A times=([Iprobe]=500000 [Sendrecv]=100000 [Allreduce]=100000)
for call in Iprobe Sendrecv Allreduce; do
    for _ in $(seq "${PROCESSES:-5}"); do
        for way in "${ways[@]}"; do one "$way" "$call" "${TIMES:-${times[$call]}}" >>"$work/$call.${way// /}"; done
        [ -n "${COUNT:-}" ] && break
    done
    printf '%-10s' "$call"
    for way in "${ways[@]}"; do
        printf '%18s' "$(sort -g "$work/$call.${way// /}" | sed -n '1p;$p' | uniq | paste -sd' ' | sed 's/ / .. /')"
    done
    fastest=$(for way in callers1 why; do sort -g "$work/$call.$way" | head -n 1; done)
    echo $fastest | awk '{printf "%18.1f\n", $2 - $1}'
done
