# Sourced by scripts that compare whole runs of BT-IO. It leaves: where (a folder that goes at the end), preload, program.
# CLASS=A RANKS=4 DIR=/dev/shm
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_io="${OMPI_MCA_io:-romio321}"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
where=$(mktemp -d "${DIR:-/dev/shm}/whole_runs.XXXXXX")
trap 'rm -rf "$where"' EXIT
preload=$PWD/build/lib/libiolens.so
program=(build/bin/btio --class "${CLASS:-A}" --method full --directory "$where")

row() { # who pair command...: a line `who pair key seconds`
    local begin end
    begin=$(date +%s.%N)
    mpirun -np "${RANKS:-4}" "${@:3}" >"$where/out" || { cat "$where/out" >&2; exit 1; }
    end=$(date +%s.%N)
    echo "$1" "$2" run "$(echo "$end - $begin" | bc)"
}

# The median of the ratio of times and its 95 % interval, of pairs of runs with `ours` and `theirs` in front of the program
# (arrays), each first in turn.
compare() { # pairs
    local pair
    for pair in $(seq "$1"); do
        if ((pair % 2)); then
            row ours "$pair" "${ours[@]}" "${program[@]}"
            row theirs "$pair" "${theirs[@]}" "${program[@]}"
        else
            row theirs "$pair" "${theirs[@]}" "${program[@]}"
            row ours "$pair" "${ours[@]}" "${program[@]}"
        fi
    done >"$where/rows"
    .venv/bin/python tests/bench/paired.py "BT-IO" <"$where/rows"
}
