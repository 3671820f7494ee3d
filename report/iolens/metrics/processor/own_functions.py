"""The program's own functions by their share of the samples: which are worth tracing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.groups import USER
from iolens.metrics.processor.samples import sample_rows
from iolens.symbols.elf import read_elf
from iolens.symbols.generated import GENERATED, is_python

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def own_functions(job: Job) -> pd.DataFrame | None:
    """symbol (the linker's name), object (path of its file), share (per cent of all samples), bytes (its size in the
    object file; 0: not known), the busiest first; an inlined function is a part of the one that it is in. Without what
    the program generated, Python functions too. None where nothing was sampled."""
    rows = sample_rows(job)
    if rows is None:
        return None
    generated = (rows["object"] == GENERATED) | rows["symbol"].map(is_python)
    own = rows[(rows["group"] == USER) & (rows["symbol"] != "") & ~generated]
    sums = own.groupby(["symbol", "object"])["samples"].sum().sort_values(ascending=False, kind="stable")
    found = (100 * sums / max(float(rows["samples"].sum()), 1)).rename("share").reset_index()
    sizes = [size_of(name, path) for name, path in zip(found["symbol"], found["object"], strict=True)]
    return found.assign(bytes=sizes)


def size_of(symbol: str, path: str) -> int:
    """Returns how long a function is, in bytes; 0 if its file does not tell. Of one that the compiler kept only in
    versions of its own (`solve.isra.0`, `solve.constprop.1`), the longest of them.
    """
    elf = read_elf(Path(path))
    if symbol in elf.names:
        return int(elf.sizes[elf.names.index(symbol)])
    found = (int(size) for name, size in zip(elf.names, elf.sizes, strict=True) if name.startswith(f"{symbol}."))
    return max(found, default=0)
