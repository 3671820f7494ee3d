# Debian roots to try installations in; sourced, in the project's folder. Needs root, debootstrap and overlayfs.

suite=${SUITE:-trixie}
roots=${ROOTS:-$PWD/build/roots}

# Prints the Debian mirror that this machine's own package sources name; MIRROR names another.
mirror() {
    local found
    found=${MIRROR:-$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed -n 's/^Debian //p' | head -n 1)}
    [ -n "$found" ] || {
        echo "no Debian mirror in the package sources of this machine; run apt-get update, or set MIRROR to the address of one" >&2
        return 1
    }
    echo "${found%/}"
}

# base SUITE: prints the folder of a minimal Debian that can install packages, and makes it if it is missing.
base() {
    local folder=$roots/base-$1 from
    if [ ! -f "$folder/.made" ]; then
        from=$(mirror) || exit 1
        rm -rf "$folder"
        mkdir -p "$folder"
        debootstrap --variant=minbase --include=ca-certificates "$1" "$folder" "$from" >"$folder.log" 2>&1 || {
            echo "debootstrap $1 failed: $(tail -n 1 "$folder.log")" >&2
            exit 1
        }
        touch "$folder/.made"
    fi
    echo "$folder"
}

# fresh NAME SUITE FILE...: makes a root on top of that Debian, with these files in /try; its changes go to
# build/roots/NAME.
fresh() {
    local folder=$roots/$1 below certificates
    below=$(base "$2") || exit 1
    shift 2
    rm -rf "$folder"
    mkdir -p "$folder"/{upper,work,root} "$folder/upper"/{try,etc/ssl/certs}
    [ $# = 0 ] || cp -a "$@" "$folder/upper/try"
    ln -s "$below" "$folder/below"
    cp -L /etc/resolv.conf /etc/hosts "$folder/upper/etc"
    [ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$folder/upper/etc/pip.conf"
    certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
    [ ! -f "$certificates" ] || cp -L "$certificates" "$folder/upper/etc/ssl/certs/ca-certificates.crt"
}

# enter NAME PERSON COMMAND: runs a shell command in that root as this person, with the environment of a new login. Only
# the network, processors and kernel of this machine are visible there, and processes that the command leaves running
# are ended. The shell is the first process there until the command ends, so that it collects ended processes that
# nobody waits for.
enter() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child -- bash -euc '
        root=$1/root person=$2 command=$3
        mount -t overlay overlay -o "lowerdir=$(readlink "$1/below"),upperdir=$1/upper,workdir=$1/work" "$root"
        mount -t proc proc "$root/proc"
        mount -t sysfs -o ro sysfs "$root/sys"
        mkdir -p "$root/dev/shm" "$root/dev/pts"
        mount -t tmpfs tmpfs "$root/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
        home=$(chroot "$root" getent passwd "$person" | cut -d: -f6)
        exec chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" USER="$person" \
            setpriv --reuid "$person" --regid "$person" --init-groups bash -euc "$command"' enter "$roots/$1" "$2" "$3"$'\n:'
}

# inside NAME COMMAND: runs a shell command in /try of that root, as root.
inside() { enter "$1" root "cd /try; $2"; }

# apt PACKAGE...: a command to be given to `inside`.
apt() { echo "export DEBIAN_FRONTEND=noninteractive; apt-get -qq update && apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install $* >/dev/null;"; }

# newest PATTERN COMMAND: the newest file of that pattern; if there is none, ends the script with a message that COMMAND
# makes one.
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
    echo "this makes a Debian to try iolens in: run it as root, with the package debootstrap installed" >&2
    exit 1
}
