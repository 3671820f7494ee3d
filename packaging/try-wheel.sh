#!/usr/bin/env bash
# Try the wheel in dist/ in Debian roots made for that: `make wheel-test`, as root, with debootstrap; some minutes.
#   bullseye  glibc 2.31, whose Python is too old for the package: the libraries alone, preloaded into a program
#   trixie    glibc 2.41: pip install into an empty environment, a parallel run with Open MPI, its report; no compiler
# A root is kept in build/roots and used again.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/roots.sh

wheel=$(newest "dist/iolens-*-manylinux_2_28_$(uname -m).whl" "make wheel")
need_root

fresh old bullseye
unzip -q "$wheel" 'iolens/parts/*' -d build/roots/old/upper/try
chmod 755 build/roots/old/upper/try/iolens/parts/bin/*
inside old 'parts=/try/iolens/parts
    echo 123 >data
    IOLENS_NONMPI=1 IOLENS_LOGPATH=/try LD_PRELOAD=$parts/lib/libiolens.so:$parts/lib/libost.so cat data >/dev/null
    for mpi in openmpi mpich mpiabi; do LD_PRELOAD=$parts/lib/libiolens-$mpi.so:$parts/lib/libiolens.so IOLENS_NONMPI=0 true; done
    $parts/bin/iolens-recover list /dev/null >/dev/null 2>&1 || [ $? -lt 126 ]'
.venv/bin/iolens table costly_files build/roots/old/upper/try/*.darshan --csv | grep -q /try/data
echo "wheel-test: bullseye, $(inside old 'ldd --version | head -n 1'): a program is recorded"

exec bash packaging/try-roads.sh wheel
