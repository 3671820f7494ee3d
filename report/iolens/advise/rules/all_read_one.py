"""All ranks read the same small files."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.remedies import BROADCAST
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file, most_first
from iolens.metrics.job.share import slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns files that every rank read as a whole."""
    if job.nprocs < limits["few_ranks"]:
        return None
    files, spent, largest, example = 0, 0.0, 0.0, ""
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        size = table["MAX_BYTE_READ"] + 1
        chosen = (
            (table["ranks"] >= job.nprocs)
            & (size <= limits["input_size"])
            & (table["BYTES_WRITTEN"] == 0)
            & (table["BYTES_READ"] > 0)
            & (table["BYTES_READ"] >= 0.9 * size * table["ranks"])
        )
        if not chosen.any():
            continue
        rows = most_first(size, chosen)
        ids = table["id"][rows]
        files, spent = files + len(ids), spent + slowest_seconds(job, name, ids, ("READ", "META"))
        example = example or say.files(job, ids[:1])
        largest = max(largest, float(size[rows[0]]))
    if not files:
        return None
    evidence = (
        f"Each of {say.count(job.nprocs, 'rank')} read all of {say.count(files, 'file')} of at most "
        f"{say.size(largest)}, such as {example}; opening and reading took {say.seconds(spent)} on the slowest rank."
    )
    bound = f"It assumes that one of {job.nprocs} ranks reads them, which saves 1 − 1/{job.nprocs} of the time."
    return Seen(evidence, spent * (1 - 1 / job.nprocs), bound, BROADCAST)


RULE = Rule(
    id="all-read-one",
    title="All ranks read the same small files",
    says="every rank read all of files of at most `input_size` that no rank wrote",
    limits=("few_ranks", "input_size"),
    why="The servers answer the same request from every rank at the same moment.",
    read_more="MPI 4.1, section 6.4 (broadcast); Spindle: https://github.com/hpc/Spindle",
    check=check,
)
