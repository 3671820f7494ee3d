#!/usr/bin/env bash
# Run in a root of another processor, with the wheel for aarch64: its programs and libraries by qemu's emulation of single
# programs, on Debian's C library and tools for arm64.
set -euo pipefail

packages=(libc6 coreutils libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10 libssl3t64 libcap2 libsystemd0 zlib1g libzstd1)
dpkg --add-architecture arm64
apt-get -qq update
mkdir -p packages
(cd packages && apt-get -qq download "${packages[@]/%/:arm64}" 2>/dev/null)
for package in packages/*.deb; do dpkg -x "$package" arm; done
ln -sfn usr/lib arm/lib

unzip -q ./*aarch64.whl 'iolens/parts/*'
chmod 755 iolens/parts/bin/*
libraries=$PWD/iolens/parts/lib
emulated() { qemu-aarch64 -L "$PWD/arm" "$@"; }

emulated iolens/parts/bin/iolens-recover tables >tables
grep -q 'tables that the profiler adds' tables
echo 123 >data
emulated -E IOLENS_LOGPATH="$PWD" -E LD_PRELOAD="$libraries/libiolens.so" arm/usr/bin/cat data | grep -qx 123
for mpi in openmpi mpich mpiabi; do
    emulated -E IOLENS_NONMPI=0 -E LD_PRELOAD="$libraries/libiolens-$mpi.so:$libraries/libiolens.so" arm/usr/bin/true
done
ls ./*.darshan
