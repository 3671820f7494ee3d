#!/usr/bin/env bash
# Run the manual's first commands in Debian 12 and 13, as root and as a user (try-readme.sh). Then install iolens in
# each way named (clone, prefix, pip, wheel, deb, docs), each in a fresh Debian that has nothing else, and run smoke.sh
# there. `modules` tries the modulefiles in one Debian; `aarch64` tries the wheel for aarch64, by emulation.
# Run it as root with debootstrap: `make roads`. Each way takes some minutes. SUITE names the Debian (trixie).
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/roots.sh

ways='readme clone prefix pip wheel deb docs modules aarch64'
need_root

# sources ROAD: copies the files of this folder that git tracks to /try/iolens of the root.
sources() {
    fresh "$1" "$suite" packaging/smoke.sh build/bin/alignment
    mkdir "$roots/$1/upper/try/iolens"
    git ls-files -z | tar --null -T - -c | tar -x -C "$roots/$1/upper/try/iolens"
}

try_readme() {
    local release person
    for release in bookworm trixie; do
        for person in root user; do bash packaging/try-readme.sh "$release" "$person"; done
    done
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

# The build of a source archive by pip compiles the profiler.
try_pip() {
    sources pip
    inside pip "$(apt python3-venv gcc libc6-dev make openmpi-bin libopenmpi-dev) python3 -m venv here; here/bin/pip install -q ./iolens
        rm -rf iolens; $(plots here) PATH=/try/here/bin:\$PATH ./smoke.sh alignment"
}

# plots FOLDER: a command that fails where the package has no library for interactive figures.
plots() { echo "find $1 -name 'uPlot*.js' | grep -q . || { echo 'try-roads: no interactive figures' >&2; exit 1; };"; }

try_wheel() {
    local wheel
    wheel=$(newest "dist/iolens-*-manylinux_2_28_$(uname -m).whl" "make wheel")
    fresh wheel "$suite" packaging/smoke.sh build/bin/alignment "$wheel"
    inside wheel "$(apt python3-venv openmpi-bin) python3 -m venv here; here/bin/pip install -q iolens-*.whl; $(plots here)
        PATH=/try/here/bin:\$PATH ./smoke.sh alignment"
}

try_deb() {
    local package
    package=$(newest "dist/iolens_*+${suite}_$(dpkg --print-architecture).deb" "make deb SUITE=$suite")
    fresh package "$suite" packaging/smoke.sh build/bin/alignment "$package"
    inside package "$(apt ./iolens_*.deb openmpi-bin) $(plots /usr/lib/python3) ./smoke.sh alignment; apt-get -qq -y purge iolens >/dev/null
        [ ! -e /usr/lib/iolens ] || { find /usr/lib/iolens; exit 1; }"
}

# A build of the manual needs Python packages and no browser.
try_docs() {
    sources docs
    inside docs "$(apt make) make -C iolens docs; grep -q '<h1>Tutorial' iolens/build/docs/tutorial.html
        ! command -v chromium"
}

# Environment Modules reads only the Tcl modulefile, Lmod reads both; in Debian only one of the two can be installed.
try_modules() {
    modulefiles environment-modules /usr/share/modules/init/bash tcl
    modulefiles lmod /usr/share/lmod/lmod/init/bash tcl lua
}

# modulefiles PACKAGE INIT FOLDER...: loads and unloads the module files of each FOLDER, in a shell that the INIT of
# this package prepares.
modulefiles() {
    local package=$1 init=$2
    shift 2
    fresh modules "$suite" packaging/modulefiles/iolens.tcl packaging/modulefiles/iolens.lua packaging/try-module.sh
    inside modules "$(apt "$package") for folder in $*; do bash ./try-module.sh $init \$folder; done"
}

try_aarch64() {
    local wheel
    wheel=$(newest "dist/iolens-*-manylinux_2_28_aarch64.whl" "make wheel ARCH=aarch64")
    fresh aarch64 "$suite" packaging/try-aarch64.sh "$wheel"
    inside aarch64 "$(apt qemu-user unzip) ./try-aarch64.sh"
    .venv/bin/iolens table costly_files $roots/aarch64/upper/try/*.darshan --csv | grep -q /try/data
}

main() {
    local road
    # shellcheck disable=SC2068,SC2086 # roads are words
    for road in ${@:-$ways}; do
        case " $ways " in *" $road "*) ;; *)
            echo "try-roads: $road is none of: $ways" >&2
            exit 2
            ;;
        esac
        "try_$road"
        [ "$road" = readme ] || echo "try-roads: $road in Debian $suite: good"
    done
}

# The script ends on this line, because the shell would read later lines of a file that was changed meanwhile.
main "$@"
exit
