"""The rule about too few stripes for the ranks that share a file."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.shared.capacity import filled_stripes, fitting_unit
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.striping import named_targets, striped_files
from iolens.metrics.files.use import collective_calls, most_first, under_mpiio
from iolens.metrics.files.writers import posix_users
from iolens.metrics.job.spent import slowest_seconds

_MORE = """\
This is a first step: the file could use more targets. Also measure more
stripes (iolens sweep)."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for large shared files with at most half of the stripes that their ranks and bytes can use, and whose
    targets were busy.
    """
    table = striped_files(job)
    if table is None:
        return None
    moved = table["moved"]
    wanted = np.minimum(_side_by_side(job, table), limits["enough_stripes"])
    wanted = np.minimum(wanted, filled_stripes(table["size"], limits))
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
    if whole < limits["busy_target"] * float(table["stripes"][rows].sum()) * spent.about:
        return None
    others = f"this file and {say.count(len(ids) - 1, 'other')} like it" if len(ids) > 1 else "this"
    evidence = (
        f"{_said_moved(job, table, first)} on {say.count(stripes, 'stripe')}; {others} took {say.seconds(spent)} on "
        f"the slowest rank ({say.size(whole)}, {say.rate(whole, spent)})."
    )
    bound = (
        f"It assumes the same transfers to {more} targets instead of {stripes}, which saves 1 − {stripes}/{more} "
        "of their time."
    )
    layout = ProposedStripes(more, unit, tuple(ids.tolist()))
    room = min(ranks, int(filled_stripes(table["size"][first : first + 1], limits)[0]), named_targets(job))
    remedy = "{layout}" + (f"\n\n{_MORE}" if more == limits["enough_stripes"] and room >= 2 * more else "")
    return Seen(evidence, spent * (1 - share), bound, remedy, layout=layout)


def _side_by_side(job: Job, table: Records) -> np.ndarray:
    """Returns how many ranks can read or write each file at the same time: those that did or, if the log does not tell
    or collective calls chose them, all that use the file.
    """
    pair, ids = under_mpiio(job), table["id"].tolist()
    collective = set() if pair is None else set(pair[0]["id"][collective_calls(pair[0]) > 0].tolist())
    collective -= _used_in_turn(job)
    known = [posix_users(job, way) for way in _COUNTERS]
    most = [max((each[key] for each in known if key in each), default=0) for key in ids]
    return np.array(
        [
            ranks if key in collective or not users else min(ranks, users)
            for key, users, ranks in zip(ids, most, table["ranks"].tolist(), strict=True)
        ]
    )


def _used_in_turn(job: Job) -> set[int]:
    """Returns the files that each rank opened by itself in MPI-IO and that no two ranks write or read, such as files of
    one rank each that another rank reads later.
    """
    records = job.records.get("MPI-IO")
    if records is None:
        return set()
    own, shared = records["rank"] >= 0, set(records["id"][records["rank"] < 0].tolist())
    several = set[int]()
    for _, counter in _COUNTERS.values():
        used, ranks = np.unique(records["id"][own & (records[f"MPIIO_{counter}"] > 0)], return_counts=True)
        several |= set(used[ranks > 1].tolist())
    return set(records["id"][own].tolist()) - several - shared


_COUNTERS = {"written": ("wrote", "BYTES_WRITTEN"), "read": ("read", "BYTES_READ")}
"""For each way of moving bytes, the verb and the counter."""


def _said_moved(job: Job, table: Records, row: int) -> str:
    """Returns who moved the bytes of a file: each way by itself if the log tells which ranks did."""
    ranks, name = say.count(int(table["ranks"][row]), "rank"), say.files(job, table["id"][row : row + 1])
    said, known = [], True
    for way, (verb, counter) in _COUNTERS.items():
        moved, users = float(table[counter][row]), posix_users(job, way).get(int(table["id"][row]), 0)
        if moved > 0:
            said.append(f"{say.count(users, 'rank')} {verb} {say.size(moved)}")
            known &= 0 < users < table["ranks"][row]
    if not known:
        return f"{name}: {ranks} moved {say.size(float(table['moved'][row]))}"
    return f"{ranks} share {name}, of which {' and '.join(said)}"


RULE = Rule(
    id="narrow-stripes",
    title="Too few targets for many ranks",
    says="a shared file with much data has at most half of the stripes that its ranks, its size (`much_bytes` "
    "per stripe) and `enough_stripes` call for, and its targets moved `busy_target` each or more",
    limits=("enough_stripes", "much_bytes", "busy_target"),
    why="A file cannot be read or written faster than the targets that hold it.",
    read_more="https://docs.nersc.gov/performance/io/lustre/; man lfs-setstripe(1)",
    check=check,
    gauges=("stripes",),
    bounds="too few targets",
    before=("shared-stripes", "uneven-targets"),
)
