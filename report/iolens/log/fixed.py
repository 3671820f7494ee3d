"""Modules with records of a fixed size: a whole region at once as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.log.container import Container, LogError, Region, inflate
from iolens.log.layouts import MODULES, Module, dtype_of, stored

if TYPE_CHECKING:
    import pandas as pd


def read_fixed(log: Container, region: Region) -> tuple[pd.DataFrame, str]:
    """Columns id, rank, head fields and the counters of the newest version; and what to know about them."""
    import pandas as pd

    module = MODULES[region.name]
    records = records_of(log, region, dtype_of(module, region.version, log.order))
    names = stored(module, region.version)
    whole = [name for name in names if "_F_" not in name]
    doubles = [name for name in names if "_F_" in name]
    ids = {"id": native(records["id"]), "rank": native(records["rank"])}
    for name in module.head:
        ids[name] = native(records[name]) if name in (records.dtype.names or ()) else np.zeros(len(records), "u8")
    times, note = numbers(native(records["f"]))
    counts = native(records["i"])
    note = " ".join(part for part in (note, overflowed(counts, whole)) if part)
    parts = [
        pd.DataFrame(ids),
        pd.DataFrame(counts, columns=whole),
        pd.DataFrame(times, columns=doubles),
    ]
    frame = pd.concat(parts, axis=1)
    if not module.versions[region.version]:
        return frame, note
    frame, left_out = modernised(module, frame, [*ids])
    return frame, " ".join(part for part in (note, left_out) if part)


def records_of(log: Container, region: Region, layout: np.dtype[np.void]) -> np.ndarray:
    """The region as an array of records."""
    data = inflate(log, region)
    if region.cut:
        data = data[: len(data) - len(data) % layout.itemsize]
    if len(data) % layout.itemsize:
        raise LogError(
            log.path,
            f"is damaged: its {region.name} region has {len(data)} bytes, "
            f"which is no multiple of a record's {layout.itemsize}",
        )
    return np.frombuffer(data, layout)


def native(values: np.ndarray) -> np.ndarray:
    """A contiguous copy in this machine's byte order."""
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def numbers(values: np.ndarray) -> tuple[np.ndarray, str]:
    """The values, -1 (not recorded) for those that are no finite number; and a note about them."""
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return values, ""
    return np.where(wrong, -1.0, values), f"{int(wrong.sum())} values are no numbers and taken as not recorded."


def overflowed(values: np.ndarray, names: list[str]) -> str:
    """A note about counters that cannot be negative and are: old profilers overflowed. -1 means not recorded.

    Distances between accesses (STRIDE) may be negative, and a record's number (RENAMED_FROM) is no count.
    """
    places = [place for place, name in enumerate(names) if not name.endswith(("_STRIDE", "_RENAMED_FROM"))]
    columns = np.any(values < -1, axis=0).tolist()
    wrong = [names[place] for place in places if columns[place]] if len(values) else []
    if not wrong:
        return ""
    more = f" and {len(wrong) - 3} other counters" if len(wrong) > 3 else ""
    return f"{', '.join(wrong[:3])}{more} overflowed to negative values, which count as 0: sums are too small."


def modernised(module: Module, frame: pd.DataFrame, ids: list[str]) -> tuple[pd.DataFrame, str]:
    """An old frame with the newest version's counters; those that were not recorded are -1."""
    note = ""
    if "POSIX_FOPENS" in frame:
        stdio = frame["POSIX_FOPENS"] > 0
        frame = frame[~stdio].reset_index(drop=True)
        if stdio.any():
            note = f"{int(stdio.sum())} records of stdio files, which this old version mixed in, are left out."
    if module.prefix == "PNETCDF_FILE":
        opens = frame["PNETCDF_FILE_INDEP_OPENS"] + frame["PNETCDF_FILE_COLL_OPENS"]
        frame = frame.assign(PNETCDF_FILE_OPENS=opens)
    frame = frame.reindex(columns=[*ids, *module.names], fill_value=-1)
    doubles = {name: float for name in module.names if "_F_" in name}
    if module.prefix == "POSIX":
        frame["POSIX_RENAMED_FROM"] = 0
    return frame.astype(doubles), note
