#!/usr/bin/env bash
# Install iolens by each road named (clone, prefix, wheel, deb), each in a fresh Debian that has nothing else, and run
# smoke.sh there; `modules` tries the modulefiles in one: `make roads`, as root, with debootstrap; some minutes a road.
# SUITE names the Debian (trixie).
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/roots.sh

ways='clone prefix wheel deb modules'
need_root

# sources ROAD: what git knows of this folder, in /try/iolens of the road's root.
sources() {
    fresh "$1" "$suite" packaging/smoke.sh build/bin/alignment
    mkdir "build/roots/$1/upper/try/iolens"
    git ls-files -z | tar --null -T - -c | tar -x -C "build/roots/$1/upper/try/iolens"
}

try_clone() {
    sources clone
    inside clone "$(apt make) make -C iolens build; PATH=/try/iolens/.venv/bin:\$PATH ./smoke.sh iolens/build/bin/alignment"
}

try_prefix() {
    sources prefix
    inside prefix "$(apt make) make -C iolens install PREFIX=/opt/iolens; rm -rf iolens
        PATH=/opt/iolens/bin:\$PATH ./smoke.sh /opt/iolens/lib/iolens/bin/alignment"
}

try_wheel() {
    local wheel
    wheel=$(newest "dist/iolens-*-manylinux_2_28_$(uname -m).whl" "make wheel")
    fresh wheel "$suite" packaging/smoke.sh build/bin/alignment "$wheel"
    inside wheel "$(apt python3-venv openmpi-bin) python3 -m venv here; here/bin/pip install -q iolens-*.whl
        PATH=/try/here/bin:\$PATH ./smoke.sh alignment"
}

try_deb() {
    local package
    package=$(newest "dist/iolens_*_$(dpkg --print-architecture).deb" "make deb")
    fresh package "$suite" packaging/smoke.sh build/bin/alignment "$package"
    inside package "$(apt ./iolens_*.deb openmpi-bin) ./smoke.sh alignment; apt-get -qq -y purge iolens >/dev/null
        [ ! -e /usr/lib/iolens ] || { find /usr/lib/iolens; exit 1; }"
}

try_modules() {
    fresh modules "$suite" packaging/modulefiles/iolens.tcl packaging/modulefiles/iolens.lua
    # shellcheck disable=SC2016 # expanded in the root
    inside modules "$(apt environment-modules lmod)"'
        mkdir -p tcl/iolens lua/iolens mpi/mpich /opt/iolens/bin
        cp iolens.tcl tcl/iolens/1.0
        cp iolens.lua lua/iolens/1.0.lua
        printf "#%%Module1.0\\n" >mpi/mpich/4
        printf "#!/bin/sh\\necho found\\n" >/opt/iolens/bin/iolens
        chmod 755 /opt/iolens/bin/iolens
        export MANPATH=/usr/share/man
        try() { # INIT FOLDER
            bash -euc "set +u; . $1; module use /try/mpi $2; module load iolens; [ \$(iolens) = found ]; [ -z \"\$LD_PRELOAD\" ]; module unload iolens
                [ -z \"\$(command -v iolens)\" ]; export IOLENS_SITE=on; module load mpich iolens
                [ \$LD_PRELOAD = /opt/iolens/lib/iolens/lib/libiolens-mpich.so:/opt/iolens/lib/iolens/lib/libiolens.so ]
                [ \$IOLENS_NONMPI = 0 ]; module unload iolens; [ -z \"\$LD_PRELOAD\" ]" 2>errors || { cat errors; exit 1; }
            ! grep -v "^ERROR: ld.so" errors || exit 1
        }
        try /usr/share/modules/init/bash /try/tcl
        try /usr/share/lmod/lmod/init/bash /try/tcl
        try /usr/share/lmod/lmod/init/bash /try/lua'
}

for road in ${@:-$ways}; do
    case " $ways " in *" $road "*) ;; *)
        echo "try-roads: $road is none of: $ways" >&2
        exit 2
        ;;
    esac
    "try_$road"
    echo "try-roads: $road in Debian $suite: good"
done
