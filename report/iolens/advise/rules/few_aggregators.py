"""Fewer aggregators than storage targets or nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.advise import say
from iolens.advise.remedies import hints_text
from iolens.advise.rule import Rule, Seen
from iolens.metrics.about import host_ranks
from iolens.metrics.share import slowest_seconds
from iolens.metrics.striping import file_stripes
from iolens.metrics.use import most_first, rows_of, under_mpiio
from iolens.metrics.writers import writer_counts

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job


def check(job: Job, limits: Limits) -> Seen | None:
    """Collectively written files with fewer writing ranks than stripes, or than nodes."""
    pair, layout, places = under_mpiio(job), file_stripes(job), host_ranks(job)
    if pair is None or (layout is None and places is None):
        return None
    upper, lower = pair
    writers = writer_counts(job, lower, 0)
    stripes = np.zeros(len(lower))
    if layout is not None:
        stripes = np.append(layout["stripes"], 0)[rows_of(lower["id"], layout["id"])]
    wanted = np.minimum(upper["ranks"], np.maximum(stripes, 0 if places is None else len(places)))
    written = (upper["COLL_WRITES"] + upper["SPLIT_WRITES"] > 0) & (lower["BYTES_WRITTEN"] >= limits["much_bytes"])
    chosen = written & (writers > 0) & (writers < wanted)
    if not chosen.any():
        return None
    rows = most_first(lower["BYTES_WRITTEN"], chosen)
    ids, at = lower["id"][rows], rows[0]
    has, wants = int(writers[at]), int(wanted[at])
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    whole = f"{say.count(float(stripes[at]), 'stripe')}" if stripes[at] >= wants else f"{say.count(wants, 'node')}"
    evidence = (
        f"{say.count(has, 'rank')} wrote {say.files(job, ids)} for {say.count(float(upper['ranks'][at]), 'rank')} "
        f"over {whole}; the writes took {say.seconds(spent)} of the slowest "
        f"({say.rate(float(lower['BYTES_WRITTEN'][at]), spent)})."
    )
    bound = (
        f"{wants} aggregators instead of {has}, each with its part of the same writes: 1 − {has}/{wants} of the time."
    )
    hints = (f"cb_nodes {wants}", "cb_config_list *:*", "romio_cb_write enable")
    return Seen(evidence, spent * (1 - has / wants), bound, hints_text(hints), hints)


RULE = Rule(
    id="few-aggregators",
    title="Fewer aggregators than targets or nodes",
    says="a collectively written file with much data has fewer writing ranks than stripes, or than nodes",
    limits=("much_bytes",),
    why="Each aggregator is one client with one link; targets without one of their own wait for their turn.",
    read_more="ROMIO hints cb_nodes and cb_config_list: man MPI_File_open; MPI 4.1, section 14.2.8",
    check=check,
    bounds="few writers",
)
