"""The rule about too few stripes for the ranks that share a file."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.shared.capacity import filled_stripes, fitting_unit
from iolens.log import Job
from iolens.metrics.files.stripes.striping import named_targets, striped_files
from iolens.metrics.files.use import most_first
from iolens.metrics.files.writers import posix_users
from iolens.metrics.job.spent import slowest_seconds

_MORE = """\
This is a first step: the file could use more targets. Also measure more
stripes (iolens sweep)."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for large shared files with at most half of the stripes that their ranks and bytes can use."""
    table = striped_files(job)
    if table is None:
        return None
    moved = table["moved"]
    wanted = np.minimum(np.minimum(table["ranks"], limits["enough_stripes"]), filled_stripes(table["size"], limits))
    chosen = (table["ranks"] > 1) & (2 * table["stripes"] <= wanted)
    if not chosen.any():
        return None
    first = most_first(moved, chosen)[0]
    ranks, stripes, more = int(table["ranks"][first]), int(table["stripes"][first]), int(wanted[first])
    unit = fitting_unit(int(table["stripe_size"][first]), float(table["size"][first]), more)
    rows = most_first(moved, chosen & (wanted >= more) & (table["size"] > (more - 1) * unit))
    ids = table["id"][rows]
    share = float((table["stripes"][rows] / wanted[rows]).min())
    spent = slowest_seconds(job, "POSIX", ids, ("READ", "WRITE"))
    whole = float(moved[rows].sum())
    movers = max(posix_users(job, way).get(int(ids[0]), 0) for way in ("written", "read")) or ranks
    name, much = say.files(job, ids[:1]), say.size(float(moved[first]))
    alone = f"{name}: {say.count(ranks, 'rank')} moved {much}"
    said = f"{say.count(ranks, 'rank')} share {name}, and {movers:,} of them moved {much}" if movers < ranks else alone
    others = f"this file and {say.count(len(ids) - 1, 'other')} like it" if len(ids) > 1 else "this"
    evidence = (
        f"{said} on {say.count(stripes, 'stripe')}; {others} took {say.seconds(spent)} on the slowest rank "
        f"({say.size(whole)}, {say.rate(whole, spent)})."
    )
    bound = (
        f"It assumes the same transfers to {more} targets instead of {stripes}, which saves 1 − {stripes}/{more} "
        "of their time."
    )
    layout = ProposedStripes(more, unit, tuple(ids.tolist()))
    room = min(ranks, int(filled_stripes(table["size"][first : first + 1], limits)[0]), named_targets(job))
    remedy = "{layout}" + (f"\n\n{_MORE}" if more == limits["enough_stripes"] and room >= 2 * more else "")
    return Seen(evidence, spent * (1 - share), bound, remedy, layout=layout)


RULE = Rule(
    id="narrow-stripes",
    title="Too few targets for many ranks",
    says="a shared file with much data has at most half of the stripes that its ranks, its size (`much_bytes` "
    "per stripe) and `enough_stripes` call for",
    limits=("enough_stripes", "much_bytes"),
    why="A file cannot be read or written faster than the targets that hold it.",
    read_more="https://docs.nersc.gov/performance/io/lustre/; man lfs-setstripe(1)",
    check=check,
    gauges=("stripes",),
    bounds="too few targets",
    before=("shared-stripes", "uneven-targets"),
)
