"""Computes the records of HDF5 files and datasets from a program's calls (hdf5_programs.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from meaning import BUCKETS, bucket

DIMENSIONS = 5
"""Number of dimensions that a record has. For a dataset with more, these are the dimensions that change fastest."""

Access = tuple[int, tuple[int, ...], tuple[int, ...]]
"""An access to a dataset: its bytes, then length and stride of a regular selection in each dimension (else 0), the
fastest first.
"""


@dataclass
class Hdf5Record:
    """The record of a file or of a dataset."""

    ints: dict[str, int] = field(default_factory=dict)
    accesses: Counter[Access] = field(default_factory=Counter)
    last_was_write: bool | None = None
    type_bytes: int = 0

    def add(self, counter: str, n: int = 1) -> None:
        self.ints[counter] = self.ints.get(counter, 0) + n


def fastest_first(values: Iterable[int]) -> tuple[int, ...]:
    return tuple((list(values)[::-1] + [0] * DIMENSIONS)[:DIMENSIONS])


class Hdf5Model:
    """The models of HDF5's records: `files` and `datasets` by name; a dataset's name is FILE:/PLACE."""

    def __init__(self) -> None:
        self.files: dict[str, Hdf5Record] = {}
        self.datasets: dict[str, Hdf5Record] = {}

    def see(self, call: Mapping[str, Any]) -> None:
        what = call["what"]
        if what in ("open file", "flush file"):
            file = self.files.setdefault(call["file"], Hdf5Record())
            file.add("OPENS" if what == "open file" else "FLUSHES")
        if "place" not in call:
            return
        dataset = self.datasets.setdefault(f"{call['file']}:/{call['place']}", Hdf5Record())
        if what in ("create", "open"):
            self.opens(dataset, call)
        elif what == "flush":
            dataset.add("FLUSHES")
        elif what in ("read", "write"):
            self.moves(dataset, call)

    def opens(self, dataset: Hdf5Record, call: Mapping[str, Any]) -> None:
        dataset.add("OPENS")
        dataset.type_bytes = call["bytes"]
        dataset.ints["DATATYPE_SIZE"] = call["bytes"]
        dataset.ints["DATASPACE_NDIMS"] = len(call["shape"])
        points = 1
        for n in call["shape"]:
            points *= n
        dataset.ints["DATASPACE_NPOINTS"] = points
        for i, n in enumerate(fastest_first(call.get("chunk", ())), 1):
            if n:
                dataset.ints[f"CHUNK_SIZE_D{i}"] = n

    def moves(self, dataset: Hdf5Record, call: Mapping[str, Any]) -> None:
        write = call["what"] == "write"
        size = call["points"] * dataset.type_bytes
        dataset.add("WRITES" if write else "READS")
        dataset.add("BYTES_WRITTEN" if write else "BYTES_READ", size)
        dataset.add("RW_SWITCHES", dataset.last_was_write is not None and dataset.last_was_write != write)
        dataset.last_was_write = write
        dataset.add(f"SIZE_{call['what'].upper()}_AGG_{BUCKETS[bucket(size)]}")
        dataset.add("REGULAR_HYPERSLAB_SELECTS", call["selection"] == "slab")
        dataset.add("IRREGULAR_HYPERSLAB_SELECTS", call["selection"] == "pieces")
        dataset.add("POINT_SELECTS", call["selection"] == "points")
        pattern = fastest_first(call.get("length", ())), fastest_first(call.get("stride", ()))
        dataset.accesses[(size, *pattern)] += 1
