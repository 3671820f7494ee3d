"""The program's own functions by their share of the samples, to choose those that are worth tracing."""

from __future__ import annotations

from pathlib import Path

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.sampled.groups import USER
from iolens.metrics.processor.sampled.samples import sample_rows
from iolens.symbols.elf import read_elf
from iolens.symbols.function_names import GENERATED, is_python


@once_per_job
def own_functions(job: Job) -> pd.DataFrame | None:
    """Returns symbol (the linker's name), object (path of its file), share (per cent of the program's own samples),
    bytes (its size in the object file; 0: not known), the busiest first; None if nothing was sampled.

    An inlined function counts as part of the function that contains it. Functions that the program generated at run
    time are left out, and so are Python functions.
    """
    own = _own_samples(job)
    if own is None:
        return None
    generated = (own["object"] == GENERATED) | own["symbol"].map(is_python)
    known = own[(own["symbol"] != "") & ~generated]
    sums = known.groupby(["symbol", "object"])["samples"].sum().sort_values(ascending=False, kind="stable")
    found = (100 * sums / max(float(own["samples"].sum()), 1)).rename("share").reset_index()
    sizes = [size_of(name, path) for name, path in zip(found["symbol"], found["object"], strict=True)]
    return found.assign(bytes=sizes)


def _own_samples(job: Job) -> pd.DataFrame | None:
    """Returns the samples in the program's own functions; None if nothing was sampled."""
    rows = sample_rows(job)
    return None if rows is None else rows[rows["group"] == USER]


def group_shares(job: Job) -> dict[str, float]:
    """Returns the share of each group of functions in all samples (per cent), largest first; empty without samples."""
    rows = sample_rows(job)
    if rows is None or not rows["samples"].sum():
        return {}
    sums = rows.groupby("group")["samples"].sum().sort_values(ascending=False, kind="stable")
    return {str(group): 100 * float(count) / float(sums.sum()) for group, count in sums.items()}


def size_of(symbol: str, path: str) -> int:
    """Returns the size of a function in bytes; 0 if its file does not tell. If the compiler kept only specialised
    versions of it (`solve.isra.0`, `solve.constprop.1`), the size of the largest version counts.
    """
    elf = read_elf(Path(path))
    if symbol in elf.names:
        return int(elf.sizes[elf.names.index(symbol)])
    found = (int(size) for name, size in zip(elf.names, elf.sizes, strict=True) if name.startswith(f"{symbol}."))
    return max(found, default=0)
