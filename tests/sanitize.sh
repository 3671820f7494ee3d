#!/bin/bash
# The C parts under AddressSanitizer and UndefinedBehaviorSanitizer (build/asan) and ThreadSanitizer (build/tsan).
#   tests/sanitize.sh                  build all, run the profiler's tests and every workload: some minutes
#   tests/sanitize.sh fuzz-recover     only build that target of the profiler
set -eu
cd "$(dirname "$0")/.."
asan=$PWD/build/asan tsan=$PWD/build/tsan
flags="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"

# In a program that the compiler knows nothing of, the sanitizer's library must stand first. What is taken at the start
# and kept to the end is no leak.
library() { gcc -print-file-name="lib$1.so"; }
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1

make -s -C profiler "BUILD=$asan" "CFLAGS=$flags" "LDFLAGS=$flags" "${@:-all}"
[ $# -eq 0 ] || exit 0

echo "sanitize: the profiler's tests"
# dd asks for aligned memory in a way that the sanitizer refuses.
CFLAGS=$flags LDFLAGS=$flags IOLENS_TEST_BUILD=build/asan IOLENS_TEST_PRELOAD="$(library asan):$(library ubsan)" \
    .venv/bin/python -m pytest -q --deselect 'tests/py/test_profiler_processes.py::test_transparent[dd]' \
    tests/py/test_profiler_{counters,dxt,extra,heatmap,lustre,paths,stripes,filter,spool,processes}.py \
    tests/py/test_fuzz_recover.py

echo "sanitize: threads"
# ThreadSanitizer's library calls sigaction, which is wrapped here, before it is ready for what it instruments.
make -s -C profiler "BUILD=$tsan" CFLAGS="-O1 -g" \
    $(cd profiler && for file in sampling/waits_wrap sampling/sampling runtime/wrap; do
        realpath -m --relative-to=. "$tsan/obj/profiler/$file.o"
    done)
make -s -C profiler "BUILD=$tsan" CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS=-fsanitize=thread core
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in posix_threads posix_aio; do
    # Spools lie where ThreadSanitizer has its own memory.
    (cd "$work" && env IOLENS_SPOOL=none IOLENS_INCLUDE="$work" IOLENS_LOGPATH="$work" IOLENS_DXT=1 \
        LD_PRELOAD="$(library tsan):$tsan/lib/libiolens.so" TSAN_OPTIONS=exitcode=66 "$asan/tests/$program" >/dev/null)
    ls "$work"/*"$program"*.darshan >/dev/null
done

echo "sanitize: workloads and the storage model"
make -s -C storage "BUILD=$asan" "CFLAGS=$flags" "LDFLAGS=$flags"
make -s -C workloads "BUILD=$asan" OPT=-O1 "CFLAGS=$flags" "LDFLAGS=$flags"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_io=romio321
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
