"""Computes the records of PnetCDF files and variables from a program's calls (pnetcdf_programs.py)."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from meaning import BUCKETS, bucket
from model_hdf5 import Hdf5Record, fastest_first

COUNTED = {
    "create": "CREATES",
    "open": "OPENS",
    "redef": "REDEFS",
    "sync": "SYNCS",
    "wait": "INDEP_WAITS",
    "wait_all": "COLL_WAITS",
}


class PnetcdfModel:
    """The models of PnetCDF's records: `files` and `variables` by name; a variable's name is FILE:VARIABLE. The record
    of a variable has the same parts as that of an HDF5 dataset.
    """

    def __init__(self) -> None:
        self.files: dict[str, Hdf5Record] = {}
        self.variables: dict[str, Hdf5Record] = {}
        self.known: set[str] = set()
        """Names of the variables that the program has used since it opened their file."""

    def see(self, call: Mapping[str, Any]) -> None:
        what, done = call["call"], call["code"] == 0
        file = self.files.setdefault(call["file"], Hdf5Record())
        if what in COUNTED and done:
            file.add(COUNTED[what])
        elif what in ("wait", "wait_all"):
            file.add("WAIT_FAILURES")
        elif what == "close":
            file.add("BYTES_READ", call["get"])
            file.add("BYTES_WRITTEN", call["put"])
            self.known.clear()
        if "variable" not in call or not done:
            return
        name = f"{call['file']}:{call['variable']}"
        if what in ("def_var", "inq_varid"):
            self.named(name, call)
        elif name in self.known:
            self.moved(self.variables[name], call)

    def named(self, name: str, call: Mapping[str, Any]) -> None:
        self.known.add(name)
        variable = self.variables.setdefault(name, Hdf5Record())
        variable.add("OPENS")
        variable.type_bytes = call["bytes"]
        variable.ints["DATATYPE_SIZE"] = call["bytes"]
        variable.ints["NDIMS"] = len(call["shape"]) + call["record"]
        variable.ints["NPOINTS"] = prod(call["shape"])
        variable.ints["IS_RECORD_VAR"] = int(call["record"])

    def moved(self, variable: Hdf5Record, call: Mapping[str, Any]) -> None:
        verb, form = call["verb"], call["form"]
        write = verb != "get" and verb != "iget"
        nonblocking = verb not in ("put", "get")
        mode = "NB" if nonblocking else "INDEP" if call["alone"] else "COLL"
        size = self.points(variable, call) * variable.type_bytes
        variable.add(f"{mode}_{'WRITES' if write else 'READS'}")
        variable.add(f"{verb}_{form}".upper())
        variable.add("BYTES_WRITTEN" if write else "BYTES_READ", size)
        variable.add("RW_SWITCHES", variable.last_was_write is not None and variable.last_was_write != write)
        variable.last_was_write = write
        variable.add(f"SIZE_{'WRITE' if write else 'READ'}_AGG_{BUCKETS[bucket(size)]}")
        lengths = call["count"] if form in ("vara", "vars", "varm") else ()
        variable.accesses[(size, fastest_first(lengths), fastest_first(call.get("stride", ())))] += 1

    def points(self, variable: Hdf5Record, call: Mapping[str, Any]) -> int:
        form = call["form"]
        if form == "var":
            return variable.ints["NPOINTS"] * (call["records"] if variable.ints["IS_RECORD_VAR"] else 1)
        if form == "var1":
            return 1
        if form == "varn":
            return sum(prod(piece) for piece in call["pieces"])
        return int(call["points"]) if form == "vard" else prod(call["count"])
