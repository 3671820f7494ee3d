#!/usr/bin/env bash
# Builds a part with the make command given, and says how far it is while that takes time: `make build`.
# Usage: build-part.sh PART FOLDER MAKE ARGUMENT...; FOLDER is where object files appear. BUILD_PERIOD: seconds between
# two lines (20); the first comes after 2.
set -euo pipefail

part=$1 folder=$2
shift 2

# wait_for SECONDS: waits for so long, or until this script ends; returns 0 if it did not end.
wait_for() {
    timeout "$1" tail --pid=$$ -f /dev/null >/dev/null 2>&1
    [ $? = 124 ]
}

watch() {
    set +e
    local begin=$SECONDS compiled
    wait_for 2 || return 0
    echo "build: compiling $part"
    while wait_for "${BUILD_PERIOD:-20}"; do
        compiled=$(find "$folder" -name '*.o' -newermt "@$1" 2>/dev/null | wc -l)
        echo "build: still compiling $part, $compiled files done in $((SECONDS - begin)) s"
    done
}

watch "$(date +%s)" &
watcher=$!
status=0
"$@" || status=$?
kill "$watcher" 2>/dev/null || true
exit $status
