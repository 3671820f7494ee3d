#!/bin/sh
# What the commands on a log cost, as a ratio to PyDarshan's summary of the same log in the same run: processor seconds
# (user and system, the best of some runs), which other programs on the machine change little. The goals stand beside
# them; --help has one in seconds. For ten million traced accesses: seconds, and memory (goal: 1 GiB).
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

seconds() { # processor seconds of a command; the best of three
    "$python" - "$@" <<'PY'
import os, subprocess, sys
best = float("inf")
for _ in range(3):
    started = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    if status:
        sys.exit(f"{sys.argv[1:]} failed")
    best = min(best, used.ru_utime + used.ru_stime)
print(f"{best:.3f}")
PY
}

compare() { # NAME GOAL THEIRS COMMAND…
    name=$1 goal=$2 theirs=$3
    shift 3
    ours=$(seconds "$@")
    "$python" -c "print(f'$name: {$ours:.2f} s, {$ours / $theirs:.3f} of PyDarshan\'s {$theirs:.2f} s (goal: $goal)')"
}

iolens="$python -m iolens.cli.main"
small=$(seconds "$python" -m darshan summary small.darshan --output small.html)
compare show 0.10 "$small" $iolens show small.darshan
compare advise 0.10 "$small" $iolens advise small.darshan
compare "small PDF" 0.25 "$small" $iolens report small.darshan -o small.pdf
compare "small HTML" 0.25 "$small" $iolens report small.darshan -o small.ours.html
compare "a frame" 0.07 "$small" "$python" -c "import iolens; iolens.open('small.darshan').frames['POSIX']"
echo "--help: $(seconds $iolens show --help) s (goal: 0.15 s)"
large=$(seconds "$python" -m darshan summary large.darshan --output large.html)
compare "PDF of 100 000 files" 0.09 "$large" $iolens report large.darshan -o large.pdf

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
