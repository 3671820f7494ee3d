#!/bin/bash
$directives

# Runs of a sweep, one after the other. `iolens sweep` made this and waits for what comes of it. A job that was lost can be
# submitted again by hand meanwhile.
$modules
IOLENS=$iolens
source $folder/common.sh
set +e

# perform FOLDER: the shell waits in a way that lets it answer the signal that Slurm sends ahead of the time limit.
perform() {
    RUN=$$1
    "$$IOLENS" perform "$$RUN" &
    PROGRAM=$$!
    wait "$$PROGRAM" || recover_all "$$RUN"
    PROGRAM=
}

cut_short() {
    trap '' TERM
    if [ -n "$$PROGRAM" ]; then
        kill -TERM "$$PROGRAM"
        wait "$$PROGRAM"
        recover_all "$$RUN"
    fi
    exit 143
}
trap cut_short TERM

$runs
