#!/usr/bin/env bash
# A throw-away Slurm cluster on one machine: a controller and nodes n1 … nN, each with a host name, a /tmp and a /dev/shm
# of its own, all bound to loopback and without authentication, and
# what batch scripts expect of a site.
#   cluster.sh start DIR [NODES] [CPUS]    wait until the nodes are idle; DIR/environment is to be sourced
#   cluster.sh stop DIR
# Needs slurmctld, slurmd and either root or user namespaces.
set -euo pipefail

start() {
    local dir=$1 nodes=${2:-4} cpus=${3:-4} port i
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    port=$(free_ports "$nodes")
    mkdir -p "$dir"/{state,log,bin}
    site_tools "$dir/bin"
    : >"$dir/pids"
    configuration "$dir" "$nodes" "$cpus" "$port" >"$dir/slurm.conf"
    without_cgroups >"$dir/cgroup.conf"
    hosts "$nodes" >"$dir/hosts"
    echo "export SLURM_CONF='$dir/slurm.conf' PATH='$dir/bin':\$PATH" >"$dir/environment"
    export SLURM_CONF=$dir/slurm.conf
    /usr/sbin/slurmctld -D >"$dir/log/slurmctld.out" 2>&1 &
    echo $! >>"$dir/pids"
    for ((i = 1; i <= nodes; i++)); do
        mkdir -p "$dir/node/n$i"/{spool,tmp,shm}
        node "$dir" "n$i" >"$dir/log/n$i.out" 2>&1 &
        echo $! >>"$dir/pids"
    done
    for ((i = 0; i < 3000; i++)); do
        [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" -eq "$nodes" ] && return
        all_run "$dir" || break
        sleep 0.1
    done
    tail -n 3 "$dir"/log/* >&2
    stop "$dir"
    echo "cluster.sh: the nodes did not come up" >&2
    return 1
}

# Finds as many free consecutive ports as there are daemons, below the range that the kernel assigns itself, and prints
# the first. Two clusters on one machine start their search at different ports.
free_ports() {
    local port=$((10000 + $$ % 2000 * 10)) i
    for ((i = port; i <= port + $1; i++)); do
        if (: <"/dev/tcp/127.0.0.1/$i") 2>/dev/null; then
            port=$((i + 1))
        fi
    done
    echo "$port"
}

all_run() {
    local pid
    while read -r pid; do
        kill -0 "$pid" 2>/dev/null || return
    done <"$1/pids"
}

# Starts a node with its own host name, /tmp and /dev/shm, like a machine. Shared data lies elsewhere.
node() {
    local user=()
    [ "$(id -u)" -eq 0 ] || user=(--map-root-user)
    # shellcheck disable=SC2016 # expanded by the inner shell
    exec unshare "${user[@]}" --uts --mount -- sh -ec '
        mount --bind "$1/hosts" /etc/hosts
        mount --bind "$1/node/$2/shm" /dev/shm
        hostname "$2"
        exec /usr/sbin/slurmd -D -N "$2"' node "$1" "$2"
}

# Makes the tools that batch scripts expect on a site with Lustre: `module` has the machine's MPI loaded already, and
# `lfs` keeps the stripe count that was set on a directory, which has no effect.
site_tools() {
    printf '#!/bin/sh\n' >"$1/module"
    cat >"$1/lfs" <<'END'
#!/bin/sh
# lfs setstripe -c COUNT DIR | lfs getstripe -d DIR | lfs getstripe FILE …
case $1 in
setstripe) echo "$3" >"$4.stripes" ;;
getstripe)
    shift
    if [ "$1" = -d ]; then
        echo "stripe_count:  $(cat "$2.stripes") stripe_size:   1048576 pattern:       0 stripe_offset: -1"
        exit
    fi
    for file; do
        printf "%s\nlmm_stripe_count:  " "$file"
        cat "${file%/*}.stripes"
    done
    ;;
*) exit 1 ;;
esac
END
    chmod 755 "$1"/*
}

hosts() {
    echo "127.0.0.1 localhost $(hostname -s)"
    for ((i = 1; i <= $1; i++)); do echo "127.0.0.1 n$i"; done
}

configuration() {
    local dir=$1 nodes=$2 cpus=$3 port=$4 user
    user=$(id -un)
    cat <<END
ClusterName=throwaway
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/state/slurmctld.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdSpoolDir=$dir/node/%n/spool
SlurmdPidFile=$dir/node/%n/slurmd.pid
SlurmdLogFile=$dir/log/%n
TmpFS=$dir/node/%n/tmp
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/log/jobs
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=2
MessageTimeout=100
TCPTimeout=60
BatchStartTimeout=600
ReturnToService=2
NodeName=n[1-$nodes] NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=$cpus
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

# Configures slurmd to work without cgroups, which are not mounted in a chroot: newer versions have a setting for that,
# and older ones then look for cgroups of version 1 only when they need them, which never happens here.
without_cgroups() {
    local version
    version=$(/usr/sbin/slurmd -V | grep -o '[0-9]*' | head -n 1)
    if [ "$version" -ge 23 ]; then
        echo CgroupPlugin=disabled
    elif ! grep -q ' /sys/fs/cgroup ' /proc/self/mounts; then
        echo CgroupPlugin=cgroup/v1
    fi
}

# Ends jobs first, because their steps would wait for their node for ever; then the nodes, because the controller would
# wait for their answers.
stop() {
    local pid i
    SLURM_CONF=$(cd "$1" && pwd)/slurm.conf
    export SLURM_CONF
    if [ -s "$1/pids" ] && squeue -h >/dev/null 2>&1; then
        scancel --user="$(id -un)" 2>/dev/null || true
        for ((i = 0; i < 50; i++)); do
            [ -n "$(squeue -h 2>/dev/null)" ] || break
            sleep 0.1
        done
    fi
    for pid in $(tac "$1/pids"); do
        kill "$pid" 2>/dev/null || true
    done
    for pid in $(tac "$1/pids"); do
        for ((i = 0; i < 50; i++)); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -9 "$pid" 2>/dev/null || true
    done
    : >"$1/pids"
}

case ${1:-} in
start | stop) "$@" ;;
*)
    echo "usage: cluster.sh start DIR [NODES] [CPUS] | stop DIR" >&2
    exit 2
    ;;
esac
