#!/usr/bin/env bash
# Try the wheel in dist/ in Debian roots made for that: `make wheel-test`, as root, with debootstrap; some minutes.
#   bullseye  glibc 2.31, whose Python is too old for the package: the libraries alone, preloaded into a program
#   trixie    glibc 2.41: pip install into an empty environment, a parallel run with Open MPI, its report; no compiler
# A root is kept in build/roots and used again.
set -euo pipefail
cd "$(dirname "$0")/.."

mirror=${MIRROR:-http://deb.debian.org/debian}
wheel=$(ls dist/iolens-*-manylinux_2_28_"$(uname -m)".whl 2>/dev/null | tail -n 1)
[ -n "$wheel" ] || {
    echo "wheel-test: no wheel in dist/; run make wheel" >&2
    exit 1
}
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "wheel-test: root and debootstrap are needed to make the roots" >&2
    exit 1
fi

# root SUITE PACKAGE...: its folder, made when it is not there.
root() {
    local folder=$PWD/build/roots/$1 suite=$1
    shift
    if [ ! -f "$folder/.made" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        debootstrap --variant=minbase --include="ca-certificates${*:+,$(IFS=,; echo "$*")}" "$suite" "$folder" "$mirror" >"$folder.log" 2>&1 || {
            echo "wheel-test: debootstrap $suite failed: $(tail -n 1 "$folder.log")" >&2
            exit 1
        }
        touch "$folder/.made"
    fi
    rm -rf "$folder/try"
    mkdir -p "$folder/try"
    cp "$wheel" "$folder/try"
    echo "$folder"
}

in_root() { chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/try LC_ALL=C.UTF-8 bash -euc "cd /try; $2"; }

old=$(root bullseye)
unzip -q "$wheel" 'iolens/parts/*' -d "$old/try"
chmod 755 "$old"/try/iolens/parts/bin/*
in_root "$old" 'parts=/try/iolens/parts
    echo 123 >data
    IOLENS_NONMPI=1 IOLENS_LOGPATH=/try LD_PRELOAD=$parts/lib/libiolens.so:$parts/lib/libost.so cat data >/dev/null
    for mpi in openmpi mpich mpiabi; do LD_PRELOAD=$parts/lib/libiolens-$mpi.so:$parts/lib/libiolens.so IOLENS_NONMPI=0 true; done
    $parts/bin/iolens-recover list /dev/null >/dev/null 2>&1 || [ $? -lt 126 ]'
.venv/bin/iolens table costly_files "$old"/try/*.darshan --csv | grep -q /try/data
echo "wheel-test: bullseye, $(in_root "$old" 'ldd --version | head -n 1'): a program is recorded"

new=$(root trixie python3 python3-venv openmpi-bin)
cp build/bin/alignment "$new/try"
cp -a "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$new/try/certificates"
cp /etc/resolv.conf "$new/etc/resolv.conf"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$new/etc/pip.conf"
mkdir -p "$new/dev/shm" "$new/proc"
mountpoint -q "$new/proc" || mount -t proc proc "$new/proc"
trap 'umount "$new/proc"' EXIT
in_root "$new" 'export PIP_CERT=/try/certificates OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=^tcp
    python3 -m venv here
    here/bin/pip install -q iolens-*.whl
    here/bin/iolens run -- mpirun --oversubscribe -np 4 ./alignment -s 4
    here/bin/iolens report *.darshan -o job.pdf
    here/bin/iolens doctor'
cmp -n 5 <(printf '%%PDF-') "$new/try/job.pdf"
echo "wheel-test: trixie, $(in_root "$new" 'ldd --version | head -n 1'): installed, run, reported"
