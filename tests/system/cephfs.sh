#!/bin/bash
# Starts a throw-away CephFS on the loopback address, or stops it again: cephfs.sh start|stop FOLDER
# cephfs.sh test FOLDER [PYTEST'S WORDS] installs Debian's packages where they are missing, starts it, tests, and stops it.
#
# One monitor, one manager, one metadata server and four object servers in memory, each held to about 20 MiB/s; FOLDER/mnt
# is the mount point, and FOLDER/ceph.conf what CEPH_CONF must name. It needs root, /dev/fuse and Debian's packages.
set -euo pipefail

action=${1:?start, stop or test}
D=$(realpath -m "${2:?a folder}")
TARGETS=4
PACKAGES="ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse ceph-common attr"

configuration() {
    cat <<END
[global]
fsid = $1
mon host = [v2:127.0.0.1:3300,v1:127.0.0.1:6789]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = false
keyring = $D/no-keyring
run dir = $D/run
pid file = $D/run/\$name.pid
admin socket = $D/run/\$name.\$pid.asok
log file = $D/log/\$name.log
mon cluster log file = $D/log/cluster.log
crash dir = $D/log
mon data = $D/mon
mgr data = $D/mgr
mds data = $D/mds
osd data = $D/osd\$id
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail crit = 1
mon data avail warn = 2
mon max pg per osd = 1000
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mds cache memory limit = 134217728
[osd]
osd objectstore = memstore
memstore device bytes = 1073741824
osd memory target = 939524096
# A written operation costs 1 ms, and 47.7 ms per MiB; each target has 10^6 microseconds per second for a client.
osd op queue = mclock_scheduler
osd op num shards = 1
osd op num threads per shard = 1
osd mclock profile = custom
osd mclock scheduler client res = 1
osd mclock scheduler client wgt = 1
osd mclock scheduler client lim = 1000000
osd mclock cost per io usec = 1000
osd mclock cost per byte usec = 0.0477
END
}

start() {
    local id i uuid
    id=$(cat /proc/sys/kernel/random/uuid)
    mkdir -p "$D"/{mon,mgr,mds,log,run,mnt}
    configuration "$id" >"$D/ceph.conf"
    export CEPH_CONF=$D/ceph.conf
    monmaptool --create --fsid "$id" --addv a '[v2:127.0.0.1:3300,v1:127.0.0.1:6789]' "$D/monmap" >/dev/null
    nice ceph-mon --mkfs -i a --monmap "$D/monmap"
    nice ceph-mon -i a
    nice ceph-mgr -i x
    for ((i = 0; i < TARGETS; i++)); do
        mkdir -p "$D/osd$i"
        uuid=$(cat /proc/sys/kernel/random/uuid)
        ceph osd new "$uuid" "$i" >/dev/null
        nice ceph-osd -i "$i" --mkfs --osd-uuid "$uuid"
        nice ceph-osd -i "$i"
    done
    nice ceph-mds -i a
    ceph osd pool create meta 8 8
    ceph osd pool create data 64 64
    ceph fs new cephfs meta data
    for ((i = 0; i < 300; i++)); do
        ceph mds stat | grep -q up:active && break
        sleep 0.2
    done
    nice ceph-fuse "$D/mnt"
}

# Unmounts first, while all servers run; the client must have ended before the servers end.
stop() {
    local daemon pid i
    if mountpoint -q "$D/mnt"; then
        umount "$D/mnt"
    fi
    for daemon in client.admin mds.a osd.{0,1,2,3} mgr.x mon.a; do
        pid=$(cat "$D/run/$daemon.pid" 2>/dev/null) || continue
        [ "$daemon" = client.admin ] || kill "$pid" 2>/dev/null || true
        for ((i = 0; i < 80; i++)); do
            kill -0 "$pid" 2>/dev/null || continue 2
            sleep 0.25
        done
        kill -9 "$pid" 2>/dev/null && echo "$daemon had to be killed"
    done
    rm -rf "$D"
}

skip() {
    echo "cephfs-test: skipped: $1"
    exit 0
}

# With systemd as the first process, the packages would start servers of their own: it must not be running.
prepare() {
    [ "$(id -u)" = 0 ] || skip "it needs root, to mount a file system"
    [ -c /dev/fuse ] || skip "there is no /dev/fuse"
    ! pgrep -x ceph-mon >/dev/null || skip "a ceph-mon runs on this machine already"
    command -v ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse ceph >/dev/null && return
    [ ! -d /run/systemd/system ] || skip "install $PACKAGES yourself: their services would start under systemd"
    command -v apt-get >/dev/null || skip "there is no apt-get to install $PACKAGES"
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $PACKAGES >/dev/null ||
        skip "apt-get could not install $PACKAGES; does \`apt-get update\` reach a mirror?"
}

try() {
    prepare
    trap stop EXIT
    start
    CEPH_CONF=$D/ceph.conf IOLENS_CEPHFS=$D/mnt "$(dirname "$0")/../../.venv/bin/python" -m pytest -q \
        "$(dirname "$0")/test_cephfs.py" "$@"
}

case $action in
test)
    shift 2
    try "$@"
    ;;
start)
    trap 'stop || true' ERR
    start
    ;;
stop) stop ;;
*)
    echo "cephfs.sh: $action is not start, stop or test" >&2
    exit 2
    ;;
esac
