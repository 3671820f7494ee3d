"""A small summary of one job per point: of the run that came nearest to the point's typical value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iolens.errors import IolensError
from iolens.figures.comparison.job import job_strip
from iolens.metrics.comparison.measure import Measure
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.comparison.settings import size_text, volume_text
from iolens.metrics.job.cost import io_cost, performance
from iolens.metrics.job.mpiio import aggregators, byte_ratios, rank_list
from iolens.metrics.job.operations import access_sizes, operation_counts
from iolens.pages.blocks import Block, FigureBlock, Page, Text
from iolens.pages.comparison.numbers import plural, three_digits, value_with_unit

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

_MOST_JOBS = 80
"""Summaries in one document: four fit on a page."""

_WORTH_SAYING = 0.05
"""Share by which the bytes of POSIX and MPI-IO calls differ before a job's facts say so."""

_MOST = 0.99
"""Part of the bytes written, in the file that has most, from which on a job is said to have written this file only."""

_CALLS = {
    "MPI-IO": ("collective write", "collective read", "independent write", "independent read"),
    "POSIX": ("write", "read", "open"),
}
"""Largest number of operations shown for each layer."""


def job_pages(comparison: Comparison, read: Callable[[Path], Job]) -> list[Page]:
    """Returns one page (continued as needed) with a summary per point; none without logs. `read` makes a Job
    of a log.
    """
    chosen = typical_runs(comparison)
    if chosen.empty:
        return []
    shown = chosen.head(_MOST_JOBS)
    intro = f"For each setting, the job whose {comparison.measure.name} came nearest to the typical value"
    intro += f"; the first {_MOST_JOBS} of {len(chosen)} settings." if len(chosen) > _MOST_JOBS else "."
    blocks: list[Block] = [Text(f"{intro} `iolens report LOG` makes the full summary of any of them.", "note")]
    for _, run in shown.iterrows():
        label = str(comparison.points.loc[run["point"], "name"])
        blocks += _job_blocks(run, read, label, comparison.measure)
    return [Page("One job per setting", blocks)]


def typical_runs(comparison: Comparison) -> pd.DataFrame:
    """Returns, for each point, the usable run with a log whose value is nearest to the typical value, as a ratio."""
    runs, column = comparison.runs, comparison.measure.column
    runs = runs[runs["usable"] & runs["log"].notna() & runs[column].notna()]
    typical = comparison.points["value"].loc[runs["point"]].to_numpy(dtype=float)
    distance = [abs(math.log(speed / value)) for speed, value in zip(runs[column], typical, strict=True)]
    return runs.assign(distance=distance).sort_values(["point", "distance"]).drop_duplicates("point")


def _job_blocks(run: pd.Series[Any], read: Callable[[Path], Job], label: str, measure: Measure) -> Iterable[Block]:
    """Returns heading, facts and the strip of figures of one run."""
    title = f"{label}, repetition {run['repetition']}: {value_with_unit(measure, run[measure.column])}"
    try:
        job = read(Path(run["log"]))
    except (IolensError, OSError) as error:
        return [Text(title, "heading"), Text(f"The log cannot be read: {error}")]
    figure = job_strip(io_cost(job).frame(), _calls(job), sizes(job))
    return [FigureBlock(figure, _facts(job), title=title)]


def _calls(job: Job) -> pd.DataFrame:
    """Returns the operations of `CALLS` that the job did: `call` and `count`."""
    counts = operation_counts(job).frame()
    wanted = [
        any(row.module == layer and row.operation in names for layer, names in _CALLS.items())
        for row in counts.itertuples()
    ]
    found = counts[wanted]
    found = found[found["count"].fillna(0) > 0]
    names = [f"{row.module} {row.operation}".replace("MPI-IO ", "") for row in found.itertuples()]
    return found.assign(call=names)[["call", "count"]]


def sizes(job: Job) -> pd.DataFrame:
    """Writes per range of sizes, `bucket` and a column per layer; the ranges that occur and their neighbours."""
    import pandas as pd

    layers = [name for name in _CALLS if name in job.frames]
    frames = {name: access_sizes(job, name).frame().set_index("bucket")["writes"] for name in layers}
    table = pd.DataFrame(frames)
    used = [i for i, total in enumerate(table.sum(axis=1)) if total]
    begin, end = (used[0], used[-1]) if used else (0, 0)
    table = table.iloc[max(0, begin - 1) : end + 2]
    table.columns = [f"{name} writes" for name in table.columns]
    return table.rename(index=lambda bucket: bucket.replace("_PLUS", "+").replace("_", "–")).reset_index(names="bucket")


def _facts(job: Job) -> str:
    """Returns the job in a sentence: ranks, time, bytes of each layer, who wrote in which sizes."""
    words = [f"{job.nprocs} ranks, run time {three_digits(job.run_time)} s"]
    for name in ("MPI-IO", "POSIX"):
        if name in job.frames:
            done = performance(job, name)
            words.append(f"{name} wrote {volume_text(done.bytes_written)} and read {volume_text(done.bytes_read)}")
    for verb, ratio in zip(("read", "wrote"), byte_ratios(job).values(), strict=True):
        if ratio is not None and abs(ratio - 1) >= _WORTH_SAYING:
            words.append(f"POSIX {verb} {ratio:.2f} bytes for each of MPI-IO")
    found = aggregators(job)
    if found is not None and len(found):
        top = found.frame().iloc[0]
        more = f" and by some of {top['others']} others" if top["others"] else ""
        whole = top["bytes"] >= _MOST * performance(job, "POSIX").bytes_written
        its = "written" if whole else "of the files that several ranks opened, the largest written"
        words.append(f"{its} by {plural('rank', len(top['writers']))} {rank_list(top['writers'])}{more}")
        words.append(f"mostly {size_text(top['common_write'])} at a time, {100 * top['not_aligned']:.0f} % not aligned")
    return "; ".join(words) + f". Log: {job.path.name}"
