"""The layout of a fixed-size record for each module and record version.

The module `counters` declares the newest version; an older version is declared here by the counters that it lacks. In a
frame of an older log the missing counters are -1, as Darshan itself fills them in (0 for a record id).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from iolens.log.format import counters


@dataclass(frozen=True)
class Module:
    """A module whose records have a fixed size: `versions[v]` lists the counters that version v lacks.

    `head` are 8-byte fields before the counters, by the first version that has them; `tail` are further
    fields at the end; `extra[v]` are (position, names) that only version v has among its counters.
    """

    prefix: str
    words: str
    versions: dict[int, tuple[str, ...]]
    head: dict[str, int] = field(default_factory=dict)
    tail: tuple[tuple[str, str], ...] = ()
    extra: dict[int, tuple[int, tuple[str, ...]]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Returns all counters of the newest version."""
        return counters.expand_counters(self.prefix, self.words)


_CLOSE_OPEN = ("F_CLOSE_START_TIMESTAMP", "F_OPEN_END_TIMESTAMP")
_POSIX_NEW = ("FILENOS", "DUPS", "RENAME_SOURCES", "RENAME_TARGETS", "RENAMED_FROM")
_H5F_NEW = ("FLUSHES", "USE_MPIIO", "F_META_TIME")
_NETCDF_NEW = (
    *("CREATES", "OPENS", "REDEFS", "INDEP_WAITS", "COLL_WAITS", "SYNCS", "BYTES_READ", "BYTES_WRITTEN"),
    *("WAIT_FAILURES", "F_WAIT_START_TIMESTAMP", "F_WAIT_END_TIMESTAMP", "F_META_TIME", "F_WAIT_TIME"),
)
_NETCDF_OLD = (0, ("INDEP_OPENS", "COLL_OPENS"))
_UUIDS = (("pool_uuid", "V16"), ("cont_uuid", "V16"))

MODULES: dict[str, Module] = {
    "POSIX": Module(
        "POSIX",
        counters.POSIX,
        {4: (), 3: _POSIX_NEW, 2: _POSIX_NEW + _CLOSE_OPEN, 1: _POSIX_NEW + _CLOSE_OPEN},
        extra={1: (6, ("FOPENS", "FREADS", "FWRITES", "FSEEKS"))},
    ),
    "MPI-IO": Module("MPIIO", counters.MPIIO, {3: (), 2: _CLOSE_OPEN, 1: _CLOSE_OPEN}),
    "STDIO": Module("STDIO", counters.STDIO, {2: (), 1: ("FDOPENS",)}),
    "H5F": Module("H5F", counters.H5F, {3: (), 2: _H5F_NEW, 1: _H5F_NEW + _CLOSE_OPEN}),
    "H5D": Module("H5D", counters.H5D, {2: (), 1: ()}, head={"file_id": 2}),
    "PNETCDF_FILE": Module(
        "PNETCDF_FILE",
        counters.PNETCDF_FILE,
        {3: (), 2: _NETCDF_NEW, 1: _NETCDF_NEW + _CLOSE_OPEN},
        extra={2: _NETCDF_OLD, 1: _NETCDF_OLD},
    ),
    "PNETCDF_VAR": Module("PNETCDF_VAR", counters.PNETCDF_VAR, {1: ()}, head={"file_id": 1}),
    "BG/Q": Module("BGQ", counters.BGQ, {2: ()}),
    "DFS": Module("DFS", counters.DFS, {1: ()}, tail=_UUIDS),
    "DAOS": Module("DAOS", counters.DAOS, {1: ()}, tail=(*_UUIDS, ("oid_hi", "u8"), ("oid_lo", "u8"))),
}


def stored(module: Module, version: int) -> tuple[str, ...]:
    """Returns the counters of one version in the order of a record."""
    missing = {f"{module.prefix}_{word}" for word in module.versions[version]}
    names = [name for name in module.names if name not in missing]
    place, extra = module.extra.get(version, (0, ()))
    return (*names[:place], *(f"{module.prefix}_{word}" for word in extra), *names[place:])


def dtype_of(module: Module, version: int, order: str) -> np.dtype[np.void]:
    """Returns the record's numpy dtype; `order` is '<' or '>'. Integer counters are one field `i`, doubles `f`."""
    names = stored(module, version)
    doubles = sum("_F_" in name for name in names)
    fields: list[tuple[str, str] | tuple[str, str, tuple[int]]] = [
        ("id", f"{order}u8"),
        ("rank", f"{order}i8"),
    ]
    fields += [(name, f"{order}u8") for name, since in module.head.items() if version >= since]
    fields += [("i", f"{order}i8", (len(names) - doubles,)), ("f", f"{order}f8", (doubles,))]
    fields += [(name, kind if kind[0] == "V" else order + kind) for name, kind in module.tail]
    return np.dtype(fields)
