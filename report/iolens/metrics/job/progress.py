"""The current activity of a job: the difference between two readings of its spools."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job.cost import all_performance
from iolens.metrics.processor.sampled.samples import sample_rows
from iolens.metrics.processor.time import of_first_threads


@dataclass(frozen=True)
class LayerProgress:
    """The files, bytes and seconds of a layer so far, and its bytes per second since the previous reading (None at the
    first reading).
    """

    module: str
    files: int
    bytes_read: int
    bytes_written: int
    seconds: float
    read_rate: float | None
    write_rate: float | None


def layers_since(job: Job, before: Job | None) -> list[LayerProgress]:
    """Returns every layer of the job; a rate is the difference of the bytes over the difference of the run times of
    both readings.
    """
    earlier = {one.module: one for one in all_performance(before)} if before else {}
    passed = job.run_time - before.run_time if before else 0.0
    rows = []
    for now in all_performance(job):
        then = earlier.get(now.module)
        read, written = (then.bytes_read, then.bytes_written) if then else (0, 0)
        moved = (now.bytes_read - read, now.bytes_written - written)
        rates = [delta / passed if passed > 0 else None for delta in moved]
        rows.append(LayerProgress(now.module, now.files, now.bytes_read, now.bytes_written, now.seconds, *rates))
    return rows


@dataclass(frozen=True)
class Standing:
    """A group of ranks that were last seen in the same function: the one in which their first threads had most samples
    since the previous reading. `share` is the share of these samples in per cent. `function` and `group` are empty for
    ranks without a sample since then.
    """

    function: str
    group: str
    ranks: tuple[int, ...]
    share: float


def standing(job: Job, before: Job | None) -> list[Standing] | None:
    """Returns the functions in which the sampled ranks are, the function with most ranks first; None without samples or
    an earlier reading.
    """
    now, then = sample_rows(job), sample_rows(before) if before else None
    return None if now is None or then is None else stands(of_first_threads(now), of_first_threads(then))


def stands(now: pd.DataFrame, then: pd.DataFrame) -> list[Standing]:
    """Returns the result of `standing` for two readings of samples: rows with rank, group, function and samples so
    far.
    """
    keys = ["rank", "group", "function"]
    counts = now.groupby(keys)["samples"].sum().sub(then.groupby(keys)["samples"].sum(), fill_value=0)
    fresh = counts[counts > 0].reset_index()
    whole = fresh.groupby("rank")["samples"].sum()
    most = fresh.sort_values("samples", ascending=False, kind="stable").drop_duplicates("rank").set_index("rank")
    found: dict[tuple[str, str], list[int]] = {}
    for rank in sorted(set(now["rank"])):
        place = (str(most["function"][rank]), str(most["group"][rank])) if rank in most.index else ("", "")
        found.setdefault(place, []).append(int(rank))
    shares = 100 * most["samples"] / whole
    return [
        Standing(*place, tuple(ranks), float(shares[ranks].mean()) if place[0] else float("nan"))
        for place, ranks in sorted(found.items(), key=lambda item: -len(item[1]))
    ]
