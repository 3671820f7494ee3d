#!/usr/bin/env bash
# Checks an installation of iolens of any kind: a parallel run must be recorded in one log, and a report must be made of
# it. Usage: smoke.sh PROGRAM, an MPI program that does not use iolens; `iolens` and `mpirun` must be on PATH.
set -euo pipefail

program=$(readlink -f "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
shopt -s nullglob
cd "$place"
cp "$program" app

fail() {
    echo "smoke: FAILED: $*" >&2
    exit 1
}
passed() { echo "smoke: passed: $*"; }

iolens run -- mpirun -np 2 ./app -s 4 || fail "a program under mpirun is recorded"
logs=(*.darshan)
[ ${#logs[@]} = 1 ] || fail "${#logs[@]} logs instead of one: ${logs[*]}"
passed "a program under mpirun is recorded in one log"
iolens report "${logs[0]}" || fail "the log is reported as PDF"
cmp -s -n 5 <(printf '%%PDF-') ./*.pdf || fail "no PDF"
passed "the log is reported as PDF, $(stat -c %s ./*.pdf) bytes"
iolens report "${logs[0]}" -o job.html || fail "the log is reported as HTML"
grep -q '</html>' job.html || fail "the HTML report is not whole"
passed "the log is reported as HTML"
iolens show "${logs[0]}" >show.txt
grep -q '^2 processes on 1 host' show.txt || fail "not 2 processes: $(cat show.txt)"
passed "iolens show says two processes on one host"
iolens doctor >doctor.txt
head -n 8 doctor.txt
! grep -q '^  libiolens.*NO' doctor.txt || fail "libraries are missing: $(cat doctor.txt)"
passed "iolens doctor finds all libraries"
# Some packages are installed only by those who need them: a message has the command, which is followed here.
if ! iolens ingest . -o store 2>missing.txt; then
    advised=$(sed -n 's/.*install it with: //p' missing.txt)
    [ -n "$advised" ] || fail "iolens ingest: $(cat missing.txt)"
    echo "smoke: $advised"
    bash -ec "${advised%%; then use *}" >installed.txt 2>&1 || fail "the command of the message: $(tail -n 3 installed.txt)"
    case $advised in
        *'; then use '*) fleet() { "$HOME/iolens-python/bin/python" -m iolens.cli.main "$@"; } ;;
        *) fleet() { iolens "$@"; } ;;
    esac
    fleet ingest . -o store || fail "iolens ingest works with the packages that it asked for"
    fleet fleet store -o fleet.pdf || fail "the data set is reported"
    passed "iolens fleet works with the packages that its message names"
fi
echo "smoke: $(command -v iolens): recorded and reported"
