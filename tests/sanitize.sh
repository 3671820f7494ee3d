#!/bin/bash
# The C parts under AddressSanitizer and UndefinedBehaviorSanitizer (build/asan) and ThreadSanitizer (build/tsan).
#   tests/sanitize.sh                  build all, run the profiler's tests and every workload: some minutes
#   tests/sanitize.sh fuzz-recover     only build that target of the profiler
#   tests/sanitize.sh mpi              build, and run only MPI statistics, sampling, regions and counters: two minutes
set -eu
cd "$(dirname "$0")/.."
asan=$PWD/build/asan tsan=$PWD/build/tsan
flags="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"

# The sanitizer's library stands where the C library does, behind ours; it need not be first for that. What is taken at
# the start and kept to the end is no leak. A thread that is cancelled leaves marks of the frames it was in, which the
# sanitizer clears at the thread's end after it has called sigaltstack, unless it has no alternate stack of its own.
library() { gcc -print-file-name="lib$1.so"; }
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:use_sigaltstack=0 UBSAN_OPTIONS=print_stacktrace=1

# ThreadSanitizer looks up names for a report under a lock of its own, and opens files for it through our wrappers, in
# which another report would wait for that lock for ever. So a report has addresses alone: addr2line -e LIBRARY ADDRESS.
races=TSAN_OPTIONS=exitcode=66:symbolize=0

what=${1:-all}
make -s -C profiler "BUILD=$asan" "CFLAGS=$flags" "LDFLAGS=$flags" "$([ "$what" = mpi ] && echo all || echo "$what")"
case $what in all | mpi) ;; *) exit 0 ;; esac

build_for_threads() {
    # ThreadSanitizer's library calls sigaction, which is wrapped here, before it can handle instrumented code.
    make -s -C profiler "BUILD=$tsan" CFLAGS="-O1 -g" \
        $(cd profiler && for file in sampling/waits_wrap sampling/sampling runtime/wrap; do
            realpath -m --relative-to=. "$tsan/obj/profiler/$file.o"
        done)
    make -s -C profiler "BUILD=$tsan" CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS=-fsanitize=thread core adapter
}

# Four threads of four ranks call MPI at once, and threads mark regions, all with callers and a timeline. Under
# ThreadSanitizer nothing is sampled: its programs crash in a signal handler that it was not told of.
processor_half() {
    local kind=$1 preload=$2 build=$3 program
    shift 3
    mpicc -O1 -g -pthread -o "$work/mpi_counts" tests/c/mpi_counts.c
    gcc -std=gnu11 -D_GNU_SOURCE -w -g -o "$work/region_marks" tests/c/region_marks.c -lpthread
    local settings=(IOLENS_SPOOL=none "IOLENS_INCLUDE=$work" "IOLENS_LOGPATH=$work/$kind" IOLENS_TRACE=mpi,io
        IOLENS_CALLERS=2 IOLENS_IO_CALLERS=2 IOLENS_HWPC=0 IOLENS_TIMELINE=1000 "$@")
    local chain=("$build"/lib/libiolens-{openmpi,mpich,mpiabi}.so)
    for program in "mpi_counts threads" mpi_counts; do
        mkdir -p "$work/$kind"
        (cd "$work" && mpirun -np 4 env "${settings[@]}" \
            LD_PRELOAD="$preload:$(ls "${chain[@]}" 2>/dev/null | paste -sd:):$build/lib/libiolens.so" ./$program)
        ls "$work/$kind"/*mpi_counts*.darshan >/dev/null
        rm -r "$work/$kind"
    done
    mkdir -p "$work/$kind"
    (cd "$work" && env "${settings[@]}" LD_PRELOAD="$preload:$build/lib/libiolens.so" ./region_marks)
    ls "$work/$kind"/*region_marks*.darshan >/dev/null
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
eval "$(.venv/bin/python tests/mpi_environment.py)"

echo "sanitize: MPI statistics, sampling, regions, counters"
processor_half asan "$(library asan):$(library ubsan)" "$asan" IOLENS_SAMPLE=500
# Three tests cannot be judged here: the debugger does not end with the sanitizer's library in itself, makecontext is not
# supported by the sanitizer, and a cancelled thread still has the marks of its frames when our code at its end runs.
CFLAGS=$flags LDFLAGS=$flags IOLENS_TEST_BUILD=build/asan IOLENS_TEST_PRELOAD="$(library asan):$(library ubsan)" \
    .venv/bin/python -m pytest -q tests/py/test_profiler_{regions,io_sites,counters_hw,sampling}.py \
    -k "not debugger and not contexts and not moves_as_a_whole"
build_for_threads
# ThreadSanitizer cannot judge accesses in Open MPI, which is not instrumented.
processor_half tsan "$(library tsan)" "$tsan" \
    "$races:detect_deadlocks=0:ignore_noninstrumented_modules=1"
[ "$what" = all ] || exit 0

echo "sanitize: the profiler's tests"
# One test counts system calls, of which the sanitizer makes some itself.
CFLAGS=$flags LDFLAGS=$flags IOLENS_TEST_BUILD=build/asan IOLENS_TEST_PRELOAD="$(library asan):$(library ubsan)" \
    .venv/bin/python -m pytest -q \
    tests/py/test_profiler_{counters,dxt,extra,heatmap,lustre,paths,stripes,filter,spool,processes}.py \
    tests/py/test_profiler_{async,rings,mapped,locks,failed_calls,network,connections,hostile_http,gpu}.py \
    tests/py/test_fuzz_recover.py -k "not few_system_calls"

echo "sanitize: HDF5 settings"
if grep -qs HAVE_HDF5 build/obj/workloads/libraries.mk; then
    hdf5() { sed -n "s/^$1_HDF5 = //p" build/obj/workloads/libraries.mk; }
    # shellcheck disable=SC2046 # several words
    mpicc -std=gnu11 -g $(hdf5 CFLAGS) -o "$work/hdf5_given" tests/c/hdf5_given.c $(hdf5 LIBS)
    (cd "$work" && mpirun -np 4 env IOLENS_SPOOL=none "IOLENS_INCLUDE=$work" "IOLENS_LOGPATH=$work" IOLENS_IO_CALLERS=2 \
        'IOLENS_HDF5=*.h5:alignment=65536:coll_metadata=1:chunk_cache=4194304:libver=latest' \
        LD_PRELOAD="$(library asan):$(library ubsan):$(ls "$asan"/lib/libiolens-{openmpi,mpich,mpiabi}.so 2>/dev/null |
            paste -sd:):$asan/lib/libiolens.so" ./hdf5_given "$work" at-once >/dev/null)
    ls "$work"/*hdf5_given*.darshan >/dev/null
fi

echo "sanitize: threads"
# Spools are switched off, because they lie at addresses that ThreadSanitizer uses itself.
threaded=(env IOLENS_SPOOL=none "IOLENS_INCLUDE=$work" "IOLENS_LOGPATH=$work" IOLENS_DXT=1
    "LD_PRELOAD=$(library tsan):$tsan/lib/libiolens.so" "$races")
for command in posix_threads posix_aio posix_locks "ring_cases threads" "ring_cases shared" "ring_fuzz 64 1" \
    network_connections; do
    # shellcheck disable=SC2086 # a program and its arguments
    (cd "$work" && "${threaded[@]}" "$asan/tests/"$command >/dev/null)
    ls "$work"/*"${command%% *}"*.darshan >/dev/null
done
PYTHONPATH=tests/py .venv/bin/python tests/py/test_profiler_connections.py "${threaded[@]}" "$asan/tests/network_copies"
ls "$work"/*network_copies*.darshan >/dev/null

echo "sanitize: workloads and the storage model"
make -s -C storage "BUILD=$asan" "CFLAGS=$flags" "LDFLAGS=$flags"
make -s -C workloads "BUILD=$asan" OPT=-O1 "CFLAGS=$flags" "LDFLAGS=$flags"
eval "$(.venv/bin/python tests/mpi_environment.py romio321)"
cd "$work"
run() {
    local ranks=4
    case $1 in checkpoint*) ranks=6 ;; esac
    mpirun -np "$ranks" "$asan/bin/$1" "${@:2}" >"$1.out" 2>&1 || { cat "$1.out"; exit 1; }
}
run btio --class S
run btio --class S --method simple
run ior -a MPIIO -c -b 64k -t 16k -w -r -W -R
run ior -a POSIX -F -b 64k -t 16k -w -r -W -R
run alignment --align 2 -s 4
run collectives --oversubscribed -m 1:1k -i 4
run metadata -n 20 -w 100 -e 100
run checkpoint_simulator --nx 1 --ny 1 --im_world 12 --lm 3 --num_arrays 2 --ntrials 1 --write_binary --check
echo "sanitize: nothing found"
