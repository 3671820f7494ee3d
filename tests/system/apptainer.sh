#!/usr/bin/env bash
# A stand-in for apptainer, for machines without one: `apptainer exec [--bind FROM:TO[:ro]]... IMAGE COMMAND...` runs the
# command in a root of its own that has this machine's system folders, what is bound and the working folder, and nothing
# else. Variables go in as apptainer's do. IMAGE, an empty folder, becomes that root. Needs root.
set -euo pipefail

[ "$1" = exec ] || exit 2
shift
binds=()
while [ "$1" = --bind ]; do
    binds+=("$2")
    shift 2
done
for name in "${!APPTAINERENV_@}"; do
    inside+=("${name#APPTAINERENV_}=${!name}")
    unset "$name"
done

# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --mount bash -ec '
    show() { # FROM TO
        [ ! -d "$1" ] || mkdir -p "$image$2"
        [ -d "$1" ] || { mkdir -p "$image${2%/*}" && : >"$image$2"; }
        mount --rbind "$1" "$image$2"
    }
    number=$1 image=$2
    shift 2
    mount -t tmpfs tmpfs "$image"
    for folder in /usr /bin /sbin /lib /lib64 /etc /proc /sys /dev; do
        if [ -L "$folder" ]; then cp -a "$folder" "$image$folder"; else show "$folder" "$folder"; fi
    done
    show /tmp /tmp
    show "$PWD" "$PWD"
    for ((i = 0; i < number; i++)); do
        IFS=: read -r from to _ <<<"$1"
        show "$from" "$to"
        shift
    done
    exec chroot "$image" env -C "$PWD" "$@"' apptainer ${#binds[@]} "$1" "${binds[@]}" "${inside[@]}" "${@:2}"
