# Debian roots to try installations in; sourced, in the project's folder. Needs root, debootstrap and overlayfs.

mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-trixie}

# base SUITE: the folder of a Debian with nothing but what it takes to install packages, made when it is not there.
base() {
    local folder=$PWD/build/roots/base-$1
    if [ ! -f "$folder/.made" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        debootstrap --variant=minbase --include=ca-certificates "$1" "$folder" "$mirror" >"$folder.log" 2>&1 || {
            echo "debootstrap $1 failed: $(tail -n 1 "$folder.log")" >&2
            exit 1
        }
        touch "$folder/.made"
    fi
    echo "$folder"
}

# fresh NAME SUITE FILE...: a root over that Debian, with these files in /try and changes of its own in build/roots/NAME.
fresh() {
    local folder=$PWD/build/roots/$1 below certificates
    below=$(base "$2")
    shift 2
    rm -rf "$folder"
    mkdir -p "$folder"/{upper,work,root} "$folder/upper"/{try,etc/ssl/certs}
    [ $# = 0 ] || cp -a "$@" "$folder/upper/try"
    ln -s "$below" "$folder/below"
    cp /etc/resolv.conf "$folder/upper/etc/resolv.conf"
    [ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$folder/upper/etc/pip.conf"
    certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
    [ ! -f "$certificates" ] || cp -L "$certificates" "$folder/upper/try/certificates"
}

# inside NAME COMMAND: a shell command in /try of that root, from which nothing of this machine is to be seen.
inside() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount -- bash -euc '
        root=$1/root
        mount -t overlay overlay -o "lowerdir=$(readlink "$1/below"),upperdir=$1/upper,workdir=$1/work" "$root"
        mount -t proc proc "$root/proc"
        mkdir -p "$root/dev/shm"
        mount -t tmpfs tmpfs "$root/dev/shm"
        exec chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            PIP_CERT=/try/certificates DEBIAN_FRONTEND=noninteractive bash -euc "cd /try; $2"' inside "$PWD/build/roots/$1" "$2"
}

# apt PACKAGE...: a command to be given to `inside`.
apt() { echo "apt-get -qq update && apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install $* >/dev/null;"; }

# newest PATTERN COMMAND: the newest file of that pattern; ends the script when there is none, which COMMAND makes.
newest() {
    compgen -G "$1" >/dev/null || {
        echo "there is no $1; run $2" >&2
        exit 1
    }
    # shellcheck disable=SC2012,SC2086 # names of our own
    ls -t $1 | head -n 1
}

need_root() {
    [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null && return
    echo "root and debootstrap are needed to make a Debian to try in" >&2
    exit 1
}
