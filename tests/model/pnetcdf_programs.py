"""Random programs with PnetCDF, made and run in one: pnetcdf_programs.py JOURNAL FIRST COUNT SEED.

One process, with Open MPI and PnetCDF in LD_PRELOAD, so that their functions are found where a linked program finds
them. Each call is a line of JSON with its name, its arguments and its result.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
from math import prod
from typing import IO

C = ctypes.CDLL(None)
OFFSET = ctypes.c_longlong
CLOBBER, WRITE, CDF5, UNLIMITED, ALL_REQUESTS = 0, 1, 0x20, 0, -1
EXTERNAL = {
    1: 1,
    3: 2,
    4: 4,
    5: 4,
    6: 8,
    7: 1,
    8: 2,
    9: 4,
    10: 8,
    11: 8,
}  # Size in bytes of a value of each type: NC_BYTE, NC_SHORT and so on.
IN_MEMORY = ["schar", "short", "int", "float", "double", "longlong"]
FORMS = ["var", "var1", "vara", "vars", "varm", "varn", "vard"]
NAMES = ["x", "y", "long name", "z_1"]
ROOM = 1 << 23


def handle(name: str) -> ctypes.c_void_p:
    """Returns one of Open MPI's constants."""
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(C, f"ompi_mpi_{name}")))


def offsets(values: list[int]) -> ctypes.Array[OFFSET]:
    return (OFFSET * max(1, len(values)))(*values)


class Variable:
    def __init__(self, number: int, name: str, kind: int, shape: list[int], record: bool) -> None:
        self.number, self.name, self.kind, self.shape, self.record = number, name, kind, shape, record


class PnetcdfProgram:
    """A random program that calls PnetCDF while it is drawn."""

    def __init__(self, number: int, seed: int, journal: IO[str]) -> None:
        self.random = random.Random(f"{seed}:{number}")
        self.journal = journal
        self.name = f"{number}.nc"
        self.nc = ctypes.c_int()
        self.variables: list[Variable] = []
        self.pending: list[int] = []
        self.busy: set[str] = set()  # Names of the variables that have a pending request.
        self.alone = False  # True while the file is in independent data mode.
        self.data = ctypes.create_string_buffer(ROOM)
        self.record = ctypes.c_int()  # Id of the dimension that grows, the record dimension.
        self.records = 0

    def call(self, function: str, *words: object, **noted: object) -> int:
        code = int(getattr(C, f"ncmpi_{function}")(*words))
        self.journal.write(json.dumps({"file": self.name, "call": function, "code": code, **noted}) + "\n")
        return code

    def need(self, function: str, *words: object, **noted: object) -> None:
        if code := self.call(function, *words, **noted):
            sys.exit(f"{self.name}: ncmpi_{function}: {code}")

    def run(self) -> None:
        path, mode = self.name.encode(), CLOBBER | self.random.choice([0, CDF5])
        self.kinds = sorted(EXTERNAL) if mode & CDF5 else [1, 3, 4, 5, 6]
        self.need("create", handle("comm_self"), path, mode, handle("info_null"), ctypes.byref(self.nc))
        self.need("def_dim", self.nc, b"record", OFFSET(UNLIMITED), ctypes.byref(self.record))
        for name in self.random.sample(NAMES, self.random.randrange(1, 4)):
            self.define(name)
        self.need("enddef", self.nc)
        self.work()
        for _ in range(self.random.randrange(3)):
            self.need("open", handle("comm_self"), path, WRITE, handle("info_null"), ctypes.byref(self.nc))
            for variable in self.random.sample(self.variables, self.random.randrange(1, len(self.variables) + 1)):
                self.find(variable)
            self.work()

    def define(self, name: str) -> None:
        shape = [self.random.randrange(1, 5) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3, 4, 5, 6]))]
        dimensions = []
        for i, length in enumerate(shape):
            dimension = ctypes.c_int()
            self.need("def_dim", self.nc, f"{name}{i}".encode(), OFFSET(length), ctypes.byref(dimension))
            dimensions.append(dimension.value)
        grows = self.random.random() < 0.4
        dimensions = [self.record.value] * grows + dimensions
        kind, number = self.random.choice(self.kinds), ctypes.c_int()
        ids = (ctypes.c_int * max(1, len(dimensions)))(*dimensions)
        known = {"variable": name, "shape": shape, "record": grows, "bytes": EXTERNAL[kind]}
        self.need("def_var", self.nc, name.encode(), kind, len(dimensions), ids, ctypes.byref(number), **known)
        self.variables.append(Variable(number.value, name, kind, shape, grows))

    def find(self, variable: Variable) -> None:
        known = {"shape": variable.shape, "record": variable.record, "bytes": EXTERNAL[variable.kind]}
        number = ctypes.byref(ctypes.c_int())
        self.need("inq_varid", self.nc, variable.name.encode(), number, variable=variable.name, **known)

    def count_records(self) -> int:
        length = OFFSET()
        C.ncmpi_inq_dimlen(self.nc, self.record, ctypes.byref(length))
        return length.value

    def work(self) -> None:
        self.call("buffer_attach", self.nc, OFFSET(ROOM))
        for _ in range(self.random.choice([2, 5, 12, 40])):
            choices = [self.transfer, self.wait, self.switch, self.sync, self.redefine]
            self.random.choices(choices, [12, 2, 1, 1, 0.5])[0]()
        if self.alone:
            self.switch()
        self.wait_for_all()
        self.call("buffer_detach", self.nc)
        moved = {}
        for way in ("get", "put"):
            size = OFFSET()
            getattr(C, f"ncmpi_inq_{way}_size")(self.nc, ctypes.byref(size))
            moved[way] = size.value
        self.need("close", self.nc, **moved)

    def switch(self) -> None:
        self.call("end_indep_data" if self.alone else "begin_indep_data", self.nc)
        self.alone = not self.alone

    def sync(self) -> None:
        self.call("sync", self.nc)

    def redefine(self) -> None:
        if self.alone or self.pending:
            return
        self.call("redef", self.nc)
        if self.random.random() < 0.3:
            self.find(self.random.choice(self.variables))
        self.call("enddef", self.nc)

    def wait(self) -> None:
        """Waits for all pending requests, or for a request that does not exist."""
        many = self.pending
        if self.random.random() < 0.1:
            many = [977]
        else:
            self.pending = []
            self.busy.clear()
        numbers, codes = (ctypes.c_int * (len(many) + 1))(*many), (ctypes.c_int * (len(many) + 1))()
        self.call("wait" if self.alone else "wait_all", self.nc, len(many), numbers, codes)

    def wait_for_all(self) -> None:
        self.pending = []
        self.busy.clear()
        self.call("wait" if self.alone else "wait_all", self.nc, ALL_REQUESTS, None, None)

    def transfer(self) -> None:
        variable = self.random.choice(self.variables)
        verb = self.random.choice(["put", "get", "put", "get", "iput", "iget", "bput"])
        form = self.random.choice(FORMS if verb in ("put", "get") and not variable.record else FORMS[:-1])
        if (form == "varn" and verb in ("put", "get")) or variable.name in self.busy:
            # PnetCDF 1.12 crashes in these calls if other requests are pending, and with overlapping pieces.
            self.wait_for_all()
        self.records = self.count_records()
        start, count, stride, extent = self.extent(variable, form)
        noted: dict[str, object] = {
            "variable": variable.name,
            "verb": verb,
            "form": form,
            "alone": self.alone,
            **extent,
        }
        words: list[object] = [self.nc, variable.number]
        name = f"{verb}_{form}"
        if form == "vard":
            self.by_file_type(name, variable, words, noted)
            return
        words += {"var": [], "var1": [start], "vara": [start, count], "vars": [start, count, stride]}.get(form, [])
        if form == "varm":
            lengths = list(count)[: len(variable.shape) + variable.record]
            steps = offsets([prod(lengths[i + 1 :]) for i in range(len(lengths))])
            words += [start, count, stride, steps]
        if form == "varn":
            words += self.pieces(variable, noted)
        if form != "var" and form != "var1" and self.random.random() < 0.2:
            points = prod(extent["count"]) if form != "varn" else sum(map(prod, noted["pieces"]))  # type: ignore[call-overload,arg-type]
            words += [self.data, OFFSET(points), handle("double")]
        else:
            name += f"_{self.random.choice(IN_MEMORY)}"
            words.append(self.data)
        self.end(name, words, noted)

    def end(self, name: str, words: list[object], noted: dict[str, object]) -> None:
        request = ctypes.c_int(-1)
        if noted["verb"] in ("put", "get"):
            name += "" if self.alone else "_all"
        else:
            words.append(ctypes.byref(request))
        code = self.call(name, *words, **noted, records=self.records)
        if code == 0 and request.value >= 0:
            self.pending.append(request.value)
            self.busy.add(str(noted["variable"]))

    def extent(self, variable: Variable, form: str) -> tuple[object, object, object, dict[str, list[int]]]:
        """Returns start, count and stride in the form of the call, and in that of the journal."""
        lengths = [self.records + self.random.choice([0, 1])] * variable.record + variable.shape
        start, count, stride = [], [], []
        for length in lengths:
            at = self.random.randrange(max(1, length))
            step = self.random.choice([1, 1, 2, 3]) if form in ("vars", "varm") else 1
            start.append(at)
            stride.append(step)
            count.append(self.random.randrange(1, max(1, (length - at + step - 1) // step) + 1))
        noted = {"count": count}
        if form in ("vars", "varm"):
            noted["stride"] = stride
        return offsets(start), offsets(count), offsets(stride), noted

    def pieces(self, variable: Variable, noted: dict[str, object]) -> list[object]:
        """Returns parts of some rows of the slowest dimension or, without counts, one element of each row."""
        single = self.random.random() < 0.2
        starts, counts, told = [], [], []
        lengths = [self.records] * variable.record + variable.shape
        rows = range(lengths[0]) if lengths else range(1)
        for row in sorted(self.random.sample(rows, self.random.randrange(1, min(3, len(rows)) + 1))) if rows else []:
            count = [1 if single else self.random.randrange(1, length + 1) for length in lengths[1:]]
            starts.append(offsets([row] * bool(lengths) + [0] * len(count)))
            counts.append(offsets([1] * bool(lengths) + count))
            told.append([1] * bool(lengths) + count)
        noted["pieces"] = told
        pointer = ctypes.POINTER(OFFSET)
        lists = [(pointer * (len(told) + 1))(*(ctypes.cast(row, pointer) for row in of)) for of in (starts, counts)]
        self.kept = starts, counts
        return [len(told), lists[0], None if single else lists[1]]

    def by_file_type(self, name: str, variable: Variable, words: list[object], noted: dict[str, object]) -> None:
        kind = {1: "signed_char", 3: "short", 4: "int", 5: "float", 6: "double"}.get(variable.kind)
        if not kind:
            return
        many, kind_of_file = self.random.randrange(1, prod(variable.shape) + 1), ctypes.c_void_p()
        C.MPI_Type_contiguous(many, handle(kind), ctypes.byref(kind_of_file))
        C.MPI_Type_commit(ctypes.byref(kind_of_file))
        noted["points"] = many
        self.end(name, [*words, kind_of_file, self.data, OFFSET(many), handle(kind)], noted)
        C.MPI_Type_free(ctypes.byref(kind_of_file))


def main() -> None:
    journal_path, first, count, seed = sys.argv[1], *map(int, sys.argv[2:5])
    C.MPI_Init(None, None)
    with open(journal_path, "w", encoding="utf-8") as journal:
        for number in range(first, first + count):
            PnetcdfProgram(number, seed, journal).run()
    C.MPI_Finalize()


if __name__ == "__main__":
    main()
