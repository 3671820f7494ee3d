#!/bin/bash
# Slurm's Epilog, as root on every node of a job. What processes recorded that were killed lies in this node's memory: it
# is brought to a folder of the job that all nodes share, and made a log there, to which each further node adds its ranks.
# Where all went well there is nothing, and this takes no longer than a look.
prefix=/opt/iolens
logs=/scratch/iolens-logs

user=$SLURM_JOB_UID
shopt -s nullglob
found=({/dev/shm,/tmp}/iolens-"$user"/*.spool)
[ ${#found[@]} -gt 0 ] || exit 0

# With the user's rights and nobody else's.
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
