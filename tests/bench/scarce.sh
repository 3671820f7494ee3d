#!/bin/bash
# Memory refused at the end of a job: on every rank in turn, every request in turn, that one alone and all from it on.
# The job must end as it would, with a log or with the reason why there is none, and leave nothing half-written.
#   tests/bench/scarce.sh [RANKS]     5 minutes for the 3 ranks that it takes otherwise
set -eu
cd "$(dirname "$0")/../.."
lib=$PWD/build/lib ranks=${1:-3} runs=0 logs=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpicc -D_GNU_SOURCE -w -rdynamic -o "$work/mpi_scarce" tests/c/mpi_scarce.c -ldl
settings=(IOLENS_SPOOL=none IOLENS_FILE_RANKS=2 IOLENS_TRACE=mpi,io IOLENS_CALLERS=1 IOLENS_IO_CALLERS=1 IOLENS_DXT=1
    IOLENS_SAMPLE=200 IOLENS_HWPC=0 IOLENS_TIMELINE=1000)

# Arguments: rank, request. Sets `requests` to the number of requests.
run() {
    local folder=$work/run code=0
    rm -rf "$folder" && mkdir "$folder" && cd "$folder"
    timeout 100 mpirun --oversubscribe --mca mpi_yield_when_idle 1 -np "$ranks" \
        env "${settings[@]}" IOLENS_LOGPATH="$folder" "LD_PRELOAD=$lib/libiolens.so" \
        "$work/mpi_scarce" "$1" "$2" >out 2>err || code=$?
    requests=$(sed -n 's/ requests//p' out)
    local written said
    written=$(find . -name '*.darshan' | wc -l) said=$(grep -c 'cannot write the log' err || true)
    if [ $code != 0 ] || [ $((written + said)) != 1 ] || ls ./*partial >/dev/null 2>&1; then
        echo "rank $1, request $2: code $code, $written logs, said $said times why not"
        cat err
        exit 1
    fi
    runs=$((runs + 1)) logs=$((logs + written))
}

for ((rank = 0; rank < ranks; rank++)); do
    run "$rank" 0
    all=$requests
    for ((request = 1; request <= all; request++)); do
        run "$rank" "$request"
        run "$rank" "-$request"
    done
done
echo "$runs jobs ended well, $logs of them with a log"
