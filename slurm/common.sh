# shellcheck shell=bash
# What the batch scripts share; sourced by them behind their two lines of site settings.
set -eo pipefail

IOLENS_HOME=${IOLENS_HOME:-$SLURM_SUBMIT_DIR}
RESULTS=${RESULTS:-$SLURM_SUBMIT_DIR/results/$SLURM_JOB_NAME-$SLURM_JOB_ID}
# Open MPI's own MPI-IO component ignores most hints; its ROMIO takes them.
export OMPI_MCA_io=${OMPI_MCA_io:-romio321}

# profiled PROGRAM [ARGUMENT …]: under the profiler, which is preloaded into the program only, never into this script
# or the launcher. Log and output go to $RESULTS.
profiled() {
    # shellcheck disable=SC2086 # the launcher is several words
    "$IOLENS_HOME/.venv/bin/iolens" run --output "$RESULTS" -- \
        ${LAUNCH:-mpirun -np "$SLURM_NTASKS"} "$@"
}

# A job that was cut short (time limit, node failure) has a log of what this node's processes recorded.
recover_here() {
    "$IOLENS_HOME/.venv/bin/iolens" recover -o "$RESULTS" || true
}

# in_fresh_directory STRIPES COMMAND …: stripes are set on an empty directory, since an existing file keeps its own;
# what the file really got is recorded, and the data is removed however the job ends.
in_fresh_directory() {
    local stripes=$1
    shift
    mkdir -p "$RESULTS"
    WORK=$SCRATCH_DIR/iolens-$SLURM_JOB_ID
    mkdir "$WORK"
    trap 'recover_here; rm -rf "$WORK"' EXIT
    trap 'exit 143' TERM
    lfs setstripe -c "$stripes" "$WORK"
    lfs getstripe -d "$WORK" | tee "$RESULTS/stripes.txt"
    cd "$WORK"
    "$@"
    cat "$RESULTS/stdout.txt"
    "$IOLENS_HOME/.venv/bin/iolens" report "$RESULTS"/*.darshan -o "$RESULTS/job.pdf"
}

# run_btio CLASS STRIPES
run_btio() {
    in_fresh_directory "$2" profiled "$IOLENS_HOME/build/bin/btio" --class "$1" --json "$RESULTS/result.json"
}
