#!/bin/sh
# What many logs cost: `iolens report` of a job of 1000 processes (targets: 10 s, 500 MB, 12 pages), and `iolens ingest` of
# the same logs ten times over, by one process (target: 500 logs/s). The logs are made by a program that forks 600 times,
# and a script of 400 commands, under the profiler. Processor seconds and largest resident set, as GNU time counts them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-$here/../../.venv/bin/python}
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir logs data many
for number in $(seq 20); do head -c $((number * 1000)) /dev/urandom >data/$number; done
cat >fork.py <<'PY'
import os, sys

def work(number):
    for epoch in range(2):
        for shard in range(1 + number % 10, 11 + number % 10):
            with open(f"data/{shard}", "rb", buffering=0) as file:
                file.read(1 << 20)
    with open(f"part{number}", "wb", buffering=0) as file:
        file.write(b"x" * number)

for first in range(0, 600, 8):
    for number in range(first, first + 8):
        if os.fork() == 0:
            work(number)
            sys.exit(0)
    for _ in range(8):
        os.wait()
PY
cat >job.sh <<SH
$python -I -S fork.py
for number in \$(seq 0 199); do cat part\$number part\$((number + 1)) >join\$number; done
for number in \$(seq 0 198); do RANK=\$number head -c 100 join\$number >head\$number; done
SH
LD_PRELOAD="$here/../../build/lib/libiolens.so" IOLENS_LOGPATH="$scratch/logs" bash job.sh

cost() { # what a command took
    what=$1
    shift
    command time -f "$what: %U s in the program, %S s in the kernel, %M KB" "$@" >/dev/null
}

echo "$(ls logs | wc -l) logs"
cost "report" "$python" -m iolens.cli.main report logs -o job.pdf
pdfinfo job.pdf | grep Pages
for copy in 0 1 2 3 4 5 6 7 8 9; do cp -r logs many/$copy; done
cost "ingest of $(find many -name '*.darshan' | wc -l) logs" "$python" -m iolens.cli.main ingest many -o store -j 1
cost "without advice" "$python" -m iolens.cli.main ingest many -o bare -j 1 --no-advice
cost "again, none new" "$python" -m iolens.cli.main ingest many -o store -j 1
cost "fleet" "$python" -m iolens.cli.main fleet store
