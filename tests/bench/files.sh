#!/bin/sh
# What many files cost one process: the last rows of the table, with a column for Darshan if DARSHAN_LIB is set.
# FILES=100000 (takes 15 s; one million: two minutes and 3 GiB of /dev/shm)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
make -s -C "$root/profiler"
exec "$root/.venv/bin/iolens" selfbench --files "${FILES:-100000}" --pairs 20
