"""Random programs with HDF5, made and run in one: hdf5_programs.py JOURNAL FIRST COUNT SEED.

Each program makes files and datasets in the current folder by HDF5's calls through h5py's low-level interface, and
writes a line of JSON per call, with its arguments and its result.
"""

from __future__ import annotations

import json
import random
import sys
from typing import IO, Any

import h5py
import numpy as np
from h5py import h5d, h5f, h5g, h5o, h5p, h5s

TYPES = ["i1", "i2", "i4", "i8", "f4", "f8"]
PLACES = ["x", "y", "long name", "g/x", "g/h/x"]


class Hdf5Program:
    """A random program that calls HDF5 while it is drawn."""

    def __init__(self, number: int, seed: int, journal: IO[str]) -> None:
        self.random = random.Random(f"{seed}:{number}")
        self.journal = journal
        self.name = f"{number}.h5"
        self.places: dict[str, bool] = {}  # The datasets by name: True for each that can grow.
        self.open: list[tuple[str, Any]] = []

    def note(self, what: str, **values: object) -> None:
        self.journal.write(json.dumps({"file": self.name, "what": what, **values}) + "\n")

    def run(self) -> None:
        file = h5f.create(self.name.encode(), h5f.ACC_TRUNC)
        self.note("open file")
        for place in self.random.sample(PLACES, self.random.randrange(1, 5)):
            self.create(file, place)
        self.work(file)
        self.close(file)
        for _ in range(self.random.randrange(3)):
            file = h5f.open(self.name.encode(), h5f.ACC_RDWR)
            self.note("open file")
            self.work(file)
            self.close(file)

    def close(self, file: h5f.FileID) -> None:
        while self.open:
            self.drop()
        file.close()
        self.note("close file")

    def create(self, file: h5f.FileID, place: str) -> None:
        folder = file
        for part in place.split("/")[:-1]:
            there = part.encode() in folder
            folder = h5g.open(folder, part.encode()) if there else h5g.create(folder, part.encode())
        rank = self.random.choice([1, 1, 2, 2, 3, 4, 5, 6, 7])
        most = max(2, int(3000 ** (1 / rank)))
        shape = tuple(self.random.randrange(1, most + 1) for _ in range(rank))
        properties, chunk, grows = h5p.create(h5p.DATASET_CREATE), (), False
        if self.random.random() < 0.5:
            chunk = tuple(self.random.randrange(1, n + 1) for n in shape)
            properties.set_chunk(chunk)
            grows = self.random.random() < 0.5
        space = h5s.create_simple(shape, (h5s.UNLIMITED,) * rank if grows else None)
        kind = h5py.h5t.py_create(np.dtype(self.random.choice(TYPES)))
        dataset = h5d.create(folder, place.split("/")[-1].encode(), kind, space, properties)
        self.places[place] = grows
        self.note("create", place=place, chunk=chunk, **self.look(dataset))
        self.open.append((place, dataset))

    def look(self, dataset: h5d.DatasetID) -> dict[str, object]:
        return {"shape": dataset.shape, "bytes": dataset.dtype.itemsize}

    def work(self, file: h5f.FileID) -> None:
        for _ in range(self.random.choice([2, 5, 12, 40])):
            if not self.open or self.random.random() < 0.1:
                self.reopen(file)
            action = self.random.choices([self.transfer, self.flush, self.drop, self.grow], [12, 1, 1, 1])[0]
            if action == self.flush and self.random.random() < 0.5:
                h5f.flush(file)
                self.note("flush file")
            elif self.open:
                action()

    def reopen(self, file: h5f.FileID) -> None:
        place = self.random.choice(sorted(self.places))
        way = h5d.open if self.random.random() < 0.7 else h5o.open
        dataset = way(file, place.encode())
        self.note("open", place=place, **self.look(dataset))
        self.open.append((place, dataset))

    def drop(self) -> None:
        place, dataset = self.open.pop(self.random.randrange(len(self.open)))
        dataset.close()
        self.note("close", place=place)

    def flush(self) -> None:
        place, dataset = self.random.choice(self.open)
        dataset.flush()
        self.note("flush", place=place)

    def grow(self) -> None:
        place, dataset = self.random.choice(self.open)
        if self.places[place]:
            dataset.set_extent(tuple(n + self.random.randrange(3) for n in dataset.shape))

    def transfer(self) -> None:
        place, dataset = self.random.choice(self.open)
        space, selection = self.select(dataset)
        points = space.get_select_npoints() if space else dataset.get_space().get_select_npoints()
        data = np.zeros(points, self.random.choice(TYPES))
        memory = h5s.create_simple((points,)) if space else h5s.ALL
        if not space:
            data = data.reshape(dataset.shape)
        write = self.random.random() < 0.5
        try:
            (dataset.write if write else dataset.read)(memory, space or h5s.ALL, data)
        except OSError:  # HDF5 cannot read an unwritten piece of a dataset that lies beyond the end of the file.
            return
        self.note("write" if write else "read", place=place, points=int(points), **selection)

    def select(self, dataset: h5d.DatasetID) -> tuple[h5s.SpaceID | None, dict[str, object]]:
        """Returns a selection of the dataset (None: all of it), and its text in the journal."""
        space, which = dataset.get_space(), self.random.random()
        if which < 0.15:
            return None, {"selection": "all"}
        if which < 0.25:
            return space, {"selection": "all"}
        if which < 0.3:
            space.select_none()
            return space, {"selection": "none"}
        if which < 0.4:
            points = [[self.random.randrange(n) for n in dataset.shape] for _ in range(self.random.randrange(1, 6))]
            space.select_elements(np.unique(np.array(points, dtype="u8"), axis=0))
            return space, {"selection": "points"}
        space.select_hyperslab(*self.slab(dataset.shape))
        for _ in range(self.random.choice([0, 0, 0, 1, 2])):
            space.select_hyperslab(*self.slab(dataset.shape), op=h5s.SELECT_OR)
        if not space.is_regular_hyperslab():
            return space, {"selection": "pieces"}
        _, stride, count, block = space.get_regular_hyperslab()
        length = [int(a) * int(b) for a, b in zip(count, block, strict=True)]
        return space, {"selection": "slab", "length": length, "stride": [int(n) for n in stride]}

    def slab(self, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Returns start, count, stride and block in each dimension."""
        rows = []
        for n in shape:
            start = self.random.randrange(n)
            block = self.random.choice([1, 1, self.random.randrange(1, n - start + 1)])
            stride = block + self.random.choice([0, 0, 1, 2])
            count = self.random.randrange(1, (n - start - block) // stride + 2)
            rows.append((start, count, stride, block))
        return [tuple(column) for column in zip(*rows, strict=True)]


def main() -> None:
    journal_path, first, count, seed = sys.argv[1], *map(int, sys.argv[2:5])
    with open(journal_path, "w", encoding="utf-8") as journal:
        for number in range(first, first + count):
            Hdf5Program(number, seed, journal).run()


if __name__ == "__main__":
    main()
