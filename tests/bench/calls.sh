#!/bin/sh
# What the profiler costs per call, and at the end of a program; a column for Darshan if DARSHAN_LIB is set.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
make -s -C "$root/profiler"
exec "$root/.venv/bin/iolens" selfbench
