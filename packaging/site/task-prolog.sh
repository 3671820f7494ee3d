#!/bin/sh
# Slurm's TaskProlog: preload the profiler into the tasks of every job. Slurm sets the variables that this script prints
# as `export NAME=VALUE` in the task. Users switch it off with IOLENS_SITE=off, in the shell that submits or in the job.
prefix=/opt/iolens
logs=/scratch/iolens-logs

libraries=$prefix/lib/iolens/lib
[ "${IOLENS_SITE:-on}" = on ] && [ -r "$libraries/libiolens.so" ] && [ -d "$logs" ] || exit 0
case "${LD_PRELOAD:-}" in *libiolens* | *libdarshan*) exit 0 ;; esac

echo "export LD_PRELOAD=$libraries/libiolens.so${LD_PRELOAD:+:$LD_PRELOAD}"
echo "export IOLENS_LOGPATH=${IOLENS_LOGPATH:-$logs}"
echo "export IOLENS_LOG_BY_DATE=${IOLENS_LOG_BY_DATE:-1}"
echo "export IOLENS_NONMPI=${IOLENS_NONMPI:-0}"
[ ! -r "$prefix/etc/site.conf" ] || echo "export IOLENS_CONFIG_PATH=${IOLENS_CONFIG_PATH:-$prefix/etc/site.conf}"
