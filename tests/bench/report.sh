#!/bin/sh
# Seconds from a log to its report, for a small log and for one of 100 000 files, and as a ratio to PyDarshan's
# summary of the same log in the same run (target: 0.44 and 0.22).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-$here/../../.venv/bin/python}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$here/../data/darshan/mpi-io-test-x86_64-3.5.0.darshan" small.darshan
"$python" "$here/large_log.py" large.darshan 100000

seconds() { # wall seconds of a command; the better of two
    "$python" - "$@" <<'PY'
import subprocess, sys, time
best = float("inf")
for _ in range(2):
    begin = time.perf_counter()
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    best = min(best, time.perf_counter() - begin)
print(f"{best:.2f}")
PY
}

for log in small large; do
    ours=$(seconds "$python" -m iolens.cli.main report $log.darshan -o $log.pdf)
    theirs=$(seconds "$python" -m darshan summary $log.darshan --output $log.html)
    "$python" -c "print(f'$log: iolens {$ours} s, PyDarshan {$theirs} s, ratio {$ours / $theirs:.2f}')"
done
