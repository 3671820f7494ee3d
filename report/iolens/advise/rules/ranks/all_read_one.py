"""The rule about files that all ranks read."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.remedies import BROADCAST
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.libraries import of_libraries
from iolens.metrics.files.use import among, by_file, most_first, under_mpiio
from iolens.metrics.job.spent import NONE, slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files that at least half of the ranks read as a whole."""
    if job.nprocs < limits["few_ranks"]:
        return None
    files, spent, largest, readers, example = 0, NONE, 0.0, job.nprocs, ""
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        size = table["MAX_BYTE_READ"] + 1
        chosen = (
            (table["ranks"] >= max(limits["few_ranks"], job.nprocs / 2))
            & (size <= limits["input_size"])
            & (table["BYTES_WRITTEN"] == 0)
            & (table["BYTES_READ"] > 0)
            & (_asked_bytes(job, name, table) >= 0.9 * size * table["ranks"])
        )
        chosen[chosen] = ~of_libraries(job, table.where(chosen))
        if not chosen.any():
            continue
        rows = most_first(size, chosen)
        ids = table["id"][rows]
        files, spent = files + len(ids), spent + slowest_seconds(job, name, ids, ("READ", "META"))
        example = example or say.files(job, ids[:1])
        largest, readers = max(largest, float(size[rows[0]])), min(readers, int(table["ranks"][rows].min()))
    if not files:
        return None
    evidence = (
        f"{say.count(readers, 'rank')} of {job.nprocs:,} each read all of {say.count(files, 'file')} of at most "
        f"{say.size(largest)}, such as {example}; opening and reading took {say.seconds(spent)} on the slowest rank."
    )
    bound = f"It assumes that one of {readers} ranks reads them, which saves 1 − 1/{readers} of the time."
    return Seen(evidence, spent * (1 - 1 / readers), bound, BROADCAST)


def _asked_bytes(job: Job, name: str, table: Records) -> np.ndarray:
    """Returns the bytes that the program asked to read of each file. MPI-IO may read more, when it sieves data."""
    pair = under_mpiio(job) if name == "POSIX" else None
    asked = table["BYTES_READ"].copy()
    if pair is not None:
        both = among(table["id"], pair[0]["id"])
        asked[both] = np.minimum(asked[both], pair[0]["BYTES_READ"])
    return asked


RULE = Rule(
    id="all-read-one",
    title="Many ranks read the same files",
    says="at least half of the ranks read all of files of at most `input_size`, other than libraries and modules, "
    "that no rank wrote",
    limits=("few_ranks", "input_size"),
    why="The servers answer the same request from every rank at the same moment.",
    read_more="MPI 4.1, section 6.4 (broadcast); Spindle: https://github.com/hpc/Spindle",
    check=check,
)
