"""Call chains as functions: each function and its callers, from the main function on, and private tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.sampled.groups import called_name, mpi_name
from iolens.symbols.chains import ByRank, Frame, call_chains
from iolens.symbols.function_names import is_python
from iolens.symbols.resolve import resolve

if TYPE_CHECKING:
    from iolens.log.records import Records


def table_records(job: Job, name: str) -> Records | None:
    """Returns the rows of a private table (profiler/TABLES.md); None if the log has none."""
    found = job.tables.get(name)
    return None if found is None or not len(found) else found


def table_frame(job: Job, name: str) -> pd.DataFrame | None:
    """Returns the rows of a private table as a frame; None if the log has none."""
    found = table_records(job, name)
    return None if found is None else found.frame()


Chain = tuple[Frame, ...]

_ROOTS = frozenset(("main", "MAIN__"))
"""Functions with which a program begins: callers of these functions are not part of a chain."""

_NO_OBJECTS = ("rank", "object", "build_id", "path")


@once_per_job
def chains(job: Job) -> Mapping[tuple[int, int], Chain]:
    """Returns the chain that ends at each node (rank, number), outermost first, from `main` on; empty without
    `call_nodes`.

    Names and lines come from the object files as they lie on this machine (symbols/resolve.py); an address is shown as
    address and file if the file is missing, was stripped, or was rebuilt.
    """
    rows, objects = table_frame(job, "call_nodes"), table_frame(job, "objects")
    if rows is None:
        return {}
    objects = pd.DataFrame(columns=list(_NO_OBJECTS)) if objects is None else objects
    resolved = resolve(rows, objects, generated=table_frame(job, "generated_code"))
    return ByRank({key: _from_main(chain) for key, chain in call_chains(resolved).items()})


def inner_chains(job: Job, wanted: set[int], depth: int) -> Mapping[tuple[int, int], Chain]:
    """Returns, for a job with one rank, the chains that end in these nodes, cut to their innermost `depth` nodes.
    Finding the names of so few nodes is faster than finding those of whole chains. Empty without `call_nodes`.
    """
    rows, objects = table_frame(job, "call_nodes"), table_frame(job, "objects")
    if rows is None or objects is None:
        return {}
    parents = dict(zip(rows["node"].tolist(), rows["parent"].tolist(), strict=True))
    kept: set[int] = set()
    for _ in range(depth):
        kept |= wanted
        wanted = {parents[node] for node in wanted if node in parents}
    return call_chains(resolve(rows[rows["node"].isin(kept)], objects))


def _from_main(chain: Chain) -> Chain:
    """Returns the chain from the innermost function of _ROOTS on, without its callers."""
    roots = (place for place, frame in enumerate(chain) if frame.function in _ROOTS and not is_python(frame.symbol))
    return chain[max(roots, default=0) :]


def frame_name(frame: Frame) -> str:
    """Returns a frame's function by the name that programs call it by; an MPI function under its name in C."""
    return mpi_name(frame.function, frame.object) or called_name(frame.function, frame.object)


def with_callers(job: Job, rows: pd.DataFrame) -> pd.DataFrame:
    """Adds to `rows` (rank, node) the functions of their chains, the innermost first:

    `caller 1`, `caller 2` …, empty after the last caller. A chain ends with the program's main function.
    """
    known = chains(job)
    found = [known.get(key, ()) for key in zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True)]
    return rows.assign(
        **numbered_columns("caller", [tuple(frame_name(frame) for frame in reversed(chain)) for chain in found])
    )


def numbered_columns(name: str, texts: list[tuple[str, ...]]) -> dict[str, list[str]]:
    """Returns the columns `name 1`, `name 2` … for texts in tuples of different lengths, at least one column; shorter
    tuples are filled up with empty texts.
    """
    depth = max(1, *map(len, texts)) if texts else 1
    return {f"{name} {n + 1}": [each[n] if n < len(each) else "" for each in texts] for n in range(depth)}
