#!/bin/bash
# Gives N damaged spools to the recovery, which is built with the sanitizers, N / 20 damaged logs to the reader, and
# N / 1000 to the commands.
#   tests/fuzz/fuzz.sh N [SEED]
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d /dev/shm/iolens-fuzz-XXXXXX)
trap 'rm -rf "$work"' EXIT

"$here/tests/sanitize.sh" fuzz-recover
mapfile -t spools < <("$here/tests/fuzz/spools.sh" "$work/seeds" 2>/dev/null)
mkdir "$work/work"
"$here/build/asan/bin/fuzz-recover" -n "$1" -s "${2:-0}" "$work/work" "${spools[@]}" && spools_well=1 || spools_well=0
"$here/.venv/bin/python" "$here/tests/fuzz/reader.py" --count $(($1 / 20)) --seed "${2:-0}"
"$here/.venv/bin/python" "$here/tests/fuzz/fuzz_commands.py" --count $(($1 / 1000)) --seed "${2:-0}"
[ "$spools_well" = 1 ]
