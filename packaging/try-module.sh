#!/usr/bin/env bash
# Load and unload the modulefile of one kind: try-module.sh INIT KIND, in a folder with iolens.tcl and iolens.lua, as a user
# who may write /opt. INIT is what makes `module` known to a shell.
set -eo pipefail

mkdir -p tcl/iolens lua/iolens mpi/mpich /opt/iolens/bin
cp iolens.tcl tcl/iolens/1.0
cp iolens.lua lua/iolens/1.0.lua
printf '#%%Module1.0\n' >mpi/mpich/4
printf '#!/bin/sh\necho found\n' >/opt/iolens/bin/iolens
chmod 755 /opt/iolens/bin/iolens

equal() {
    [ "$1" = "$2" ] && return
    echo "try-module: '$1' instead of '$2'" >&2
    exit 1
}

export MANPATH=/usr/share/man
# shellcheck source=/dev/null
source "$1"
module use "$PWD/mpi" "$PWD/$2"
module load iolens
equal "$(iolens)" found
equal "$LD_PRELOAD" ""
module unload iolens
equal "$(command -v iolens)" ""
export IOLENS_SITE=on
module load mpich
# The preloaded library does not exist here, so the loader prints a message for every program until the module is
# unloaded.
module load iolens 2>errors
preload=$LD_PRELOAD nonmpi=$IOLENS_NONMPI
module unload iolens 2>>errors
equal "$preload" /opt/iolens/lib/iolens/lib/libiolens.so
equal "$nonmpi" 0
equal "$LD_PRELOAD" ""
equal "$(grep -v '^ERROR: ld.so' errors)" ""
echo "try-module: $2 by $1: good"
