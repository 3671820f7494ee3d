#!/bin/bash
# Slurm's Epilog, as root on every node of a job. The records of killed processes are in this node's memory. They are
# moved to a folder of the job that all nodes share, and become a log there, to which each further node adds its ranks.
# If no process was killed there is nothing to do, and the script only looks for records.
prefix=/opt/iolens
logs=/scratch/iolens-logs

user=$SLURM_JOB_UID
shopt -s nullglob
found=({/dev/shm,/tmp}/iolens-"$user"/*.spool)
[ ${#found[@]} -gt 0 ] || exit 0

# Runs a command with only the user's rights.
as_user() {
    setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups -- env -i PATH=/usr/bin:/bin \
        SLURM_JOB_ID="$SLURM_JOB_ID" "$@"
}

shared=$logs/recovered/$user-$SLURM_JOB_ID
as_user mkdir -p -m 700 "$shared" || exit 0
(
    flock --timeout 60 9
    as_user "$prefix/bin/iolens" recover --collect "$shared"
    as_user "$prefix/bin/iolens" recover -o "$shared" "$shared"
    as_user rmdir --ignore-fail-on-non-empty "$shared"
) 9<"$shared" >/dev/null 2>&1
exit 0
