#!/bin/bash
# Makes the spools to be damaged, by test programs with traces, layouts, hints, datasets and collective calls, MPI
# statistics, samples, regions, counters, traced functions, mapped files, rings, connections, requests, memory by node,
# waits between ranks and clocks of several nodes.
#   tests/fuzz/spools.sh FOLDER        makes FOLDER with NAME/iolens-<uid>/<pid>.spool
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
lib=$here/build/lib
folder=$1
mkdir -p "$folder/bin"
cd "$folder"

# A log that cannot be written leaves its spools.
keep() {
    local name=$1
    mkdir -p "$name/data"
    shift
    (cd "$name/data" &&
        env IOLENS_SPOOL="$folder/$name" IOLENS_INCLUDE="$folder" IOLENS_LOGPATH=/proc/nowhere IOLENS_DXT=1 \
            IOLENS_DXT_SMALL_IO_TRIGGER=.1 "$@") >"$name/out" 2>&1 || true
}

compile() {
    "$1" -std=gnu11 -D_GNU_SOURCE -w -o "bin/$2" "$here/tests/c/$2.c" "${@:3}" -lpthread
}

compile gcc spool_killed
keep plain LD_PRELOAD="$lib/libiolens.so" "$folder/bin/spool_killed" kill 4
keep many LD_PRELOAD="$lib/libiolens.so" "$folder/bin/spool_killed" kill 40
compile gcc posix_many
gcc -shared -fPIC -w -o bin/liblov.so "$here/tests/c/posix_lov_shim.c"
# struct lov_user_md_v3: 1 MiB, two stripes, in a pool
python3 - bin/attribute <<'PY'
import struct
import sys

objects = b"".join(struct.pack("<16sII", b"", 0, target) for target in (3, 5))
open(sys.argv[1], "wb").write(struct.pack("<II16sIHH16s", 0x0BD30BD0, 1, b"", 1 << 20, 2, 0, b"flash") + objects)
PY
keep lustre LD_PRELOAD="$lib/libiolens.so:$folder/bin/liblov.so" LOV_BYTES="$folder/bin/attribute" \
    "$folder/bin/posix_many" 3

# Samples with their times, regions, counters, call chains of I/O, traced functions.
processor=(IOLENS_SAMPLE=1000 IOLENS_TIMELINE=100 IOLENS_IO_CALLERS=3 IOLENS_TRACE=io,heap,pthreads)
traced="$lib/libiolens-trace-heap.so:$lib/libiolens-trace-pthreads.so"
compile gcc region_marks
keep regions "${processor[@]}" LD_PRELOAD="$lib/libiolens.so" "$folder/bin/region_marks" kill
compile gcc traced_calls -lm
keep traced "${processor[@]}" LD_PRELOAD="$traced:$lib/libiolens.so" "$folder/bin/traced_calls"

keep counted IOLENS_HWPC=0 LD_PRELOAD="$lib/libiolens-trace-math.so:$lib/libiolens.so" "$folder/bin/traced_calls"
compile gcc sampling_generated
keep generated "${processor[@]}" LD_PRELOAD="$lib/libiolens.so" "$folder/bin/sampling_generated" killed 0.3

# Files, rings and connections that have tables of their own.
head -c 1000000 /dev/zero >bin/zeros
compile gcc posix_mapped
keep mapped LD_PRELOAD="$lib/libiolens.so" "$folder/bin/posix_mapped" sequential "$folder/bin/zeros"
compile gcc ring_fuzz
keep rings LD_PRELOAD="$lib/libiolens.so" "$folder/bin/ring_fuzz" 64 1
compile gcc network_connections
keep connections LD_PRELOAD="$lib/libiolens.so" "$folder/bin/network_connections"
gcc -shared -fPIC -w -o bin/libceph.so "$here/tests/c/ceph_shim.c"
keep ceph LD_PRELOAD="$lib/libiolens.so:$folder/bin/libceph.so" \
    CEPH_LAYOUT="stripe_unit=65536 stripe_count=2 object_size=4194304 pool=data" "$folder/bin/posix_many" 3
gcc -std=gnu11 -shared -fPIC -w -o bin/libcufile.so.0 "$here/tests/c/gpu_storage_stub.c"
compile gcc gpu_storage -ldl
keep gpu LD_PRELOAD="$lib/libiolens.so:$folder/bin/libcufile.so.0" "$folder/bin/gpu_storage" linked "$folder/bin/libcufile.so.0"
compile gcc posix_libaio -Wl,--no-as-needed -laio 2>/dev/null &&
    keep libaio LD_PRELOAD="$lib/libiolens.so" "$folder/bin/posix_libaio"
compile gcc network_requests -Wl,--no-as-needed -lcurl 2>/dev/null &&
    keep requests LD_PRELOAD="$lib/libiolens.so" "$folder/bin/network_requests" "file://$folder/bin/zeros" 3

# Two files take the place of the kernel's lists of a machine with two NUMA nodes, which only root can do.
compile gcc memory_looks
lists="mount --bind nodes /sys/devices/system/node/has_memory && mount --bind numa_maps /proc/\$\$/numa_maps"
mkdir -p memory/data
(
    cd memory/data
    echo 0-1 >nodes
    echo 7f00 default anon=384 N0=128 N1=256 kernelpagesize_kB=4 | tee later >numa_maps
)
keep memory unshare -m sh -c "$lists && exec env LD_PRELOAD=$lib/libiolens.so $folder/bin/memory_looks kill"

adapter=$(find "$lib" -name 'libiolens-openmpi.so' -o -name 'libiolens-mpi*.so' | head -n 1)
eval "$("$here/.venv/bin/python" "$here/tests/mpi_environment.py" romio321)"
if [ -n "$adapter" ] && command -v mpicc >/dev/null; then
    compile mpicc mpi_calls
    keep mpi mpirun -np 2 env LD_PRELOAD="$lib/libiolens.so" "$folder/bin/mpi_calls" .
    compile mpicc mpi_counts
    keep messages "${processor[@]}" IOLENS_TRACE=mpi IOLENS_CALLERS=3 IOLENS_LATE_RECEIVES=1 IOLENS_WHY=1 \
        mpirun -np 4 env LD_PRELOAD="$lib/libiolens.so" "$folder/bin/mpi_counts" threads
    compile mpicc why_causes
    keep waits IOLENS_TRACE=mpi IOLENS_WHY=64 \
        mpirun -np 3 env LD_PRELOAD="$lib/libiolens.so" "$folder/bin/why_causes" lock
    compile mpicc mpi_clocks
    rank=(env LD_PRELOAD="$lib/libiolens.so" "$folder/bin/mpi_clocks")
    later=(unshare --time --monotonic 1000)
    "${later[@]}" true 2>/dev/null && keep clocks mpirun -np 1 "${rank[@]}" : -np 1 "${later[@]}" "${rank[@]}"
    compile mpicc pnetcdf_calls -lpnetcdf 2>/dev/null &&
        keep pnetcdf mpirun -np 1 env LD_PRELOAD="$lib/libiolens.so" "$folder/bin/pnetcdf_calls" .
    flags=$(pkg-config --cflags --libs hdf5-openmpi 2>/dev/null || pkg-config --cflags --libs hdf5-mpich 2>/dev/null) || flags=
    # shellcheck disable=SC2086
    if [ -n "$flags" ] && compile mpicc hdf5_calls $flags && compile mpicc hdf5_given $flags; then
        keep hdf5 mpirun -np 1 env LD_PRELOAD="$lib/libiolens.so" "$folder/bin/hdf5_calls" .
        keep settings IOLENS_HDF5='*.h5:alignment=65536:coll_metadata=1' \
            mpirun -np 2 env LD_PRELOAD="$lib/libiolens.so" "$folder/bin/hdf5_given" . at-once
    fi
fi
find "$folder" -name '*.spool' | sort
