#!/bin/sh
# Cost of a wrapped call of 8 bytes on tmpfs, without a library, under iolens, and under Darshan if DARSHAN_LIB is set.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d /dev/shm/iolens-bench.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
make -s -C "$root/profiler"
cc -O2 -o "$scratch/wrappers" "$root/tests/bench/wrappers.c" -ldl -lpthread

bench() { # title, then environment
    title=$1
    shift
    for arguments in "" 2; do
        echo "$title"
        # shellcheck disable=SC2086
        env "$@" "$scratch/wrappers" "$scratch/file" $arguments
    done
}
bench "no library" LC_ALL=C
bench "iolens" LD_PRELOAD="$root/build/lib/libiolens.so" IOLENS_LOGPATH="$scratch" IOLENS_INCLUDE="$scratch"
bench "iolens, switched off" LD_PRELOAD="$root/build/lib/libiolens.so" IOLENS_DISABLE=1
if [ -n "${DARSHAN_LIB:-}" ]; then
    printf 'NAME_INCLUDE %s.* POSIX\nLOGPATH %s\n' "$scratch" "$scratch" >"$scratch/darshan.conf"
    bench "Darshan" LD_PRELOAD="$DARSHAN_LIB" DARSHAN_ENABLE_NONMPI=1 DARSHAN_LOGFILE="$scratch/darshan.log" \
        DARSHAN_CONFIG_PATH="$scratch/darshan.conf"
fi
