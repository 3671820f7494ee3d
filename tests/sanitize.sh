#!/bin/bash
# Build profiler, storage emulation and unit programs with AddressSanitizer and UndefinedBehaviorSanitizer in build/asan,
# and with ThreadSanitizer in build/tsan; run the tests of the C parts there.
#   tests/sanitize.sh                  everything: some minutes
#   tests/sanitize.sh fuzz-recover     only build that target of the profiler
set -eu
cd "$(dirname "$0")/.."

checks() {
    export CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=$1 -fno-sanitize-recover=all -fno-wrapv"
    export LDFLAGS="-fsanitize=$1"
}

build() {
    local folder=$PWD/build/$1
    make -s -C profiler "BUILD=$folder" "${@:2}"
}

if [ $# -gt 0 ]; then
    checks address,undefined
    # Sums of damaged counters wrap, on purpose.
    CFLAGS="$CFLAGS -fwrapv" build asan "$@"
    exit
fi
