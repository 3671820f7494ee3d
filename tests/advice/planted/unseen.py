"""Programs in Python of the set `unseen`, some with h5py or mpi4py: `python unseen.py NAME DIR [KEY=VALUE ...]`.

Each program prints the seconds of its I/O.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

WORDS = dict(word.split("=") for word in sys.argv[3:])
DIR = sys.argv[2]


def option(key: str, otherwise: float = 0.0) -> float:
    """Returns the number that the command line gives for a key."""
    return float(WORDS.get(key, otherwise))


def lines() -> None:
    """Writes `bytes` bytes of text in pieces of `piece` bytes, with a flush after each piece."""
    piece, count = int(option("piece")), int(option("bytes") / option("piece"))
    with open(f"{DIR}/lines.txt", "wb", buffering=0) as file:
        for _ in range(count):
            file.write(b"x" * piece)


def pick() -> None:
    """Reads the pieces of an input; a share `mixed` of the pieces is read in random order."""
    piece, count = int(option("piece")), int(option("bytes") / option("piece"))
    order = np.arange(count)
    some = int(count * option("mixed"))
    np.random.default_rng(1).shuffle(order[:some])
    file = os.open(f"{DIR}/input.0", os.O_RDONLY)
    for at in order.tolist():
        os.pread(file, piece, at * piece)
    os.close(file)


def datasets() -> None:
    """Writes `bytes` bytes into HDF5 datasets of `piece` bytes each."""
    import h5py

    piece, count = int(option("piece")), int(option("bytes") / option("piece"))
    values = np.ones(piece // 8)
    with h5py.File(f"{DIR}/datasets.h5", "w") as file:
        for number in range(count):
            file[f"values{number}"] = values


def chunks() -> None:
    """Writes rows into a dataset whose chunks hold `rows` rows each, without a chunk cache."""
    import h5py

    columns, count, rows = int(option("columns", 8192)), int(option("count", 1500)), int(option("rows", 1))
    with h5py.File(f"{DIR}/chunks.h5", "w", rdcc_nbytes=0) as file:
        data = file.create_dataset("data", (count, columns), "f8", chunks=(rows, columns))
        for row in range(count):
            data[row] = np.full(columns, row, "f8")


def filled() -> None:
    """Writes the datasets of a file, a share `late` of them only after HDF5 has written fill values into them."""
    import h5py

    count, each = 16, int(option("bytes") / 16)
    with h5py.File(f"{DIR}/filled.h5", "w") as file:
        for number in range(count):
            kind = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            if number < count * option("late"):
                kind.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                kind.set_fill_time(h5py.h5d.FILL_TIME_ALLOC)
            space = h5py.h5s.create_simple((each // 8,))
            dataset = h5py.h5d.create(file.id, f"field{number}".encode(), h5py.h5t.NATIVE_DOUBLE, space, kind)
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones(each // 8))


def objects() -> None:
    """Writes datasets of `piece` bytes each, aligned to `align` bytes if that is given."""
    import h5py

    piece, count = int(option("piece")), int(option("bytes") / option("piece"))
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    if option("align"):
        access.set_alignment(65536, int(option("align")))
    file = h5py.File(h5py.h5f.create(f"{DIR}/objects.h5".encode(), h5py.h5f.ACC_TRUNC, fapl=access))
    for number in range(count):
        file[f"field{number}"] = np.ones(piece // 8)
    file.close()


def slabs() -> None:
    """Writes rows into one file by MPI-IO (mpi4py), by collective or independent calls; the rows belong to the ranks in
    turn.
    """
    from mpi4py import MPI

    comm, piece = MPI.COMM_WORLD, int(option("piece"))
    file = MPI.File.Open(comm, f"{DIR}/slabs", MPI.MODE_CREATE | MPI.MODE_WRONLY)
    write = file.Write_at_all if option("together") else file.Write_at
    for number in range(int(option("bytes") / piece)):
        write((number * comm.size + comm.rank) * piece, np.ones(piece, "i1"))
    file.Close()


def saved() -> None:
    """Gathers the arrays of all ranks on the first `savers` ranks, which save them (mpi4py)."""
    from mpi4py import MPI

    comm, savers = MPI.COMM_WORLD, int(option("savers", 1))
    group = comm.Split(comm.rank * savers // comm.size, comm.rank)
    mine = np.ones(int(option("bytes")), "i1")
    whole = np.empty(group.size * len(mine), "i1") if group.rank == 0 else None
    group.Gather(mine, whole)
    if whole is not None:
        file = os.open(f"{DIR}/saved.{comm.rank}", os.O_CREAT | os.O_WRONLY, 0o644)
        for at in range(0, len(whole), 4 << 20):
            os.write(file, whole[at : at + (4 << 20)].data)
        os.close(file)


def plugins() -> None:
    """Searches `folders` folders for plugins, which only the last folder has, runs them, and writes an array
    (mpi4py).
    """
    from mpi4py import MPI

    folders = [f"{DIR}/plugins{number}/lib" for number in range(int(option("folders")))]
    for number in range(int(option("plugins"))):
        for folder in folders:
            if os.path.exists(f"{folder}/plugin{number}.py"):
                with open(f"{folder}/plugin{number}.py", encoding="utf-8") as file:
                    exec(file.read(), {})
    with open(f"{DIR}/result.{MPI.COMM_WORLD.rank}", "wb", buffering=0) as result:
        for _ in range(int(option("bytes")) >> 21):
            result.write(bytes(2 << 20))


def make_plugins() -> None:
    """Writes the plugins that the program `plugins` searches for."""
    os.makedirs(f"{DIR}/plugins{int(option('folders')) - 1}/lib", exist_ok=True)
    for number in range(int(option("plugins"))):
        with open(f"{DIR}/plugins{int(option('folders')) - 1}/lib/plugin{number}.py", "w", encoding="utf-8") as file:
            file.write("number = 1\n")


def main() -> None:
    """Runs the program that the first argument names, and prints the seconds of its I/O."""
    many = sys.argv[1] in ("slabs", "saved", "plugins")
    if many:
        from mpi4py import MPI

        MPI.COMM_WORLD.Barrier()
    time.sleep(option("work"))
    begin = time.monotonic()
    globals()[sys.argv[1]]()
    if many:
        MPI.COMM_WORLD.Barrier()
    if not many or MPI.COMM_WORLD.rank == 0:
        print(f"seconds {time.monotonic() - begin:.6f}")


main()
