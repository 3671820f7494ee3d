#!/bin/sh
# Runs a command under a made-up host name that RANKS ranks share: on_host.sh RANKS COMMAND ...
host="node$((OMPI_COMM_WORLD_RANK / $1))"
shift
exec unshare --uts sh -c 'hostname "$0" && exec "$@"' "$host" "$@"
