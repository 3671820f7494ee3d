"""Formats of training data: for each a function that writes a data set, and one that reads a batch of it."""

from __future__ import annotations

import io
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path

BYTES = 1 << 20
"""Bytes of a batch."""

SAMPLE = bytes(BYTES)


def write_raw(folder: Path) -> None:
    (folder / "batch").write_bytes(SAMPLE)


def read_raw(folder: Path) -> bytes:
    import os

    file = os.open(folder / "batch", os.O_RDONLY)
    batch = os.pread(file, BYTES, 0)
    os.close(file)
    return batch


def read_by_thread(folder: Path) -> bytes:
    """Reads in another thread, as packages such as Zarr do."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as threads:
        return threads.submit(read_raw, folder).result()


def write_records(folder: Path) -> None:
    """Writes a record as TFRecord frames it: length, its checksum, data, their checksum."""
    (folder / "batch").write_bytes(struct.pack("<QI", BYTES, 0) + SAMPLE + struct.pack("<I", 0))


def read_records(folder: Path) -> bytes:
    with (folder / "batch").open("rb", buffering=0) as file:
        length, _ = struct.unpack("<QI", file.read(12))
        return file.read(length)


def write_shard(folder: Path) -> None:
    with tarfile.open(folder / "shard.tar", "w") as shard:
        member = tarfile.TarInfo("000.bin")
        member.size = BYTES
        shard.addfile(member, io.BytesIO(SAMPLE))


def read_shard(folder: Path) -> bytes:
    with tarfile.open(folder / "shard.tar", "r|", bufsize=BYTES) as shard:
        for member in shard:
            file = shard.extractfile(member)
            assert file is not None
            return file.read()
    return b""


def write_numpy(folder: Path) -> None:
    import numpy

    numpy.save(folder / "batch.npy", numpy.frombuffer(SAMPLE, numpy.uint8))


def read_numpy(folder: Path) -> bytes:
    import numpy

    return bytes(numpy.load(folder / "batch.npy").tobytes())


def write_parquet(folder: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"bytes": pyarrow.array([SAMPLE])})
    parquet.write_table(table, folder / "batch.parquet", compression="none", use_dictionary=False)


def read_parquet(folder: Path) -> bytes:
    from pyarrow import parquet

    with parquet.ParquetFile(folder / "batch.parquet", memory_map=False, pre_buffer=False) as file:
        return bytes(file.read(use_threads=False)["bytes"][0].as_py())


def write_zarr(folder: Path) -> None:
    import numpy
    import zarr

    values = numpy.random.default_rng(1).integers(1, 255, BYTES, numpy.uint8)
    zarr.create_array(str(folder / "batch.zarr"), data=values, chunks=values.shape, compressors=None)


def read_zarr(folder: Path) -> bytes:
    import zarr

    return bytes(zarr.open_array(str(folder / "batch.zarr"), mode="r")[:].tobytes())


def write_safetensors(folder: Path) -> None:
    import numpy
    from safetensors.numpy import save_file

    save_file({"batch": numpy.frombuffer(SAMPLE, numpy.uint8)}, folder / "batch.safetensors")


def read_safetensors(folder: Path) -> bytes:
    from safetensors.numpy import load

    with (folder / "batch.safetensors").open("rb", buffering=0) as file:
        return bytes(load(file.read())["batch"].tobytes())


FORMATS: dict[str, tuple[Callable[[Path], None], Callable[[Path], bytes]]] = {
    "raw": (write_raw, read_raw),
    "threaded": (write_raw, read_by_thread),
    "tfrecord": (write_records, read_records),
    "webdataset": (write_shard, read_shard),
    "numpy": (write_numpy, read_numpy),
    "parquet": (write_parquet, read_parquet),
    "zarr": (write_zarr, read_zarr),
    "safetensors": (write_safetensors, read_safetensors),
}

LIGHT = ("raw", "tfrecord", "webdataset")
"""Formats that need no package. Importing a package would take a new worker longer than reading its batches."""
