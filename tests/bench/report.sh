#!/bin/sh
# Seconds from a log to its report, for a small log and for one of 100 000 files, and as a ratio to PyDarshan's
# summary of the same log in the same run (target: 0.25 and 0.09); for ten million traced accesses memory as well.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-$here/../../.venv/bin/python}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$here/../data/darshan/mpi-io-test-x86_64-3.5.0.darshan" small.darshan
"$python" "$here/large_log.py" large.darshan 100000
# As make build does: without it, and with PYTHONDONTWRITEBYTECODE set, each run compiles 250 modules first.
"$python" -m compileall -q "$here/../../report/iolens"

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

# Ten million traced accesses: seconds and memory at most (target: 1 GiB).
"$python" "$here/dxt_log.py" traced.darshan 10000000
for format in pdf html; do
    "$python" - "$python" $format <<'PY'
import resource, subprocess, sys, time
python, format = sys.argv[1:]
begin = time.perf_counter()
command = [python, "-m", "iolens.cli.main", "report", "traced.darshan", "-o", f"traced.{format}"]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"10,000,000 accesses to {format}: {time.perf_counter() - begin:.1f} s, {used:.0f} MiB at most")
PY
done
