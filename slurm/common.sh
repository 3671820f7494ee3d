# shellcheck shell=bash
# What the batch scripts share; sourced by them behind their two lines of site settings.
set -eo pipefail

IOLENS_HOME=${IOLENS_HOME:-$SLURM_SUBMIT_DIR}
IOLENS=${IOLENS:-$IOLENS_HOME/.venv/bin/iolens}
# A job that Slurm starts again keeps its number: each of its tries has a folder of its own.
RESULTS=${RESULTS:-$SLURM_SUBMIT_DIR/results/$SLURM_JOB_NAME-$SLURM_JOB_ID}${SLURM_RESTART_COUNT:+-restart-$SLURM_RESTART_COUNT}
# profiled PROGRAM [ARGUMENT …]: under the profiler, which the launcher hands on to the program and which records
# neither this script nor the launcher. Log and output go to $RESULTS. Takes the place of the shell that calls it. Open MPI's own MPI-IO
# component ignores most hints; its ROMIO takes them.
profiled() {
    local component=(--io-component romio321)
    [ -z "${OMPI_MCA_io:-}" ] || component=()
    # shellcheck disable=SC2086 # the launcher is several words
    exec "$IOLENS" run --output "$RESULTS" "${component[@]}" -- \
        ${LAUNCH:-mpirun -np "$SLURM_NTASKS"} "$@"
}

# recover_all FOLDER: a program that was cut short left records on each node of the job: they come to the folder, and one
# log is made of them.
recover_all() {
    local folder=$1 everywhere=()
    if [ "${SLURM_NNODES:-1}" -gt 1 ]; then
        everywhere=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
    fi
    "${everywhere[@]}" "$IOLENS" recover --collect "$folder/spools" ||
        "$IOLENS" recover --collect "$folder/spools" || true
    "$IOLENS" recover -o "$folder" "$folder" || true
    rmdir "$folder/spools" 2>/dev/null || true
}

# record_layout: lists the files of the program that are still there, with the stripes that they really got.
record_layout() {
    local files=("$WORK"/*)
    [ ! -e "${files[0]}" ] || lfs getstripe "${files[@]}" | tee -a "$RESULTS/stripes.txt" || true
}

# Runs however the job ends. Ends a program that still runs first, so that no more data is written.
clean_up() {
    local code=$?
    trap '' TERM
    if [ -n "${PROGRAM:-}" ] && kill -TERM "$PROGRAM" 2>/dev/null; then
        wait "$PROGRAM" || true
    fi
    [ "$code" -eq 0 ] || recover_all "$RESULTS"
    record_layout
    rm -rf "$WORK"
    exit "$code"
}

# write_report: writes the report on the job's log; several logs, of programs that others started, get one report
# together.
write_report() {
    local logs=("$RESULTS"/*.darshan)
    [ ${#logs[@]} -eq 1 ] || logs=("$RESULTS")
    "$IOLENS" report "${logs[@]}" -o "$RESULTS/job.pdf"
}

# in_fresh_directory STRIPES COMMAND …: stripes are set on an empty directory, since an existing file keeps its own;
# what the files really got is recorded, and the data is removed however the job ends. The shell waits for the command
# in a way that lets it answer the signal that Slurm sends ahead of the time limit.
in_fresh_directory() {
    local stripes=$1
    shift
    mkdir -p "$RESULTS"
    WORK=$SCRATCH_DIR/iolens-$SLURM_JOB_ID
    [ -z "${SLURM_RESTART_COUNT:-}" ] || rm -rf "$WORK"
    mkdir "$WORK"
    trap clean_up EXIT
    trap 'exit 143' TERM
    lfs setstripe -c "$stripes" "$WORK"
    lfs getstripe -d "$WORK" | tee "$RESULTS/stripes.txt"
    cd "$WORK"
    "$@" &
    PROGRAM=$!
    wait "$PROGRAM"
    PROGRAM=
    cat "$RESULTS/stdout.txt"
    write_report
}

# run_btio CLASS STRIPES: runs BT-IO of this class on files with so many stripes.
run_btio() {
    in_fresh_directory "$2" profiled "$IOLENS_HOME/build/bin/btio" --class "$1" --keep --json "$RESULTS/result.json"
}
