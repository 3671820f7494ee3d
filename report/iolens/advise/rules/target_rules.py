"""The rules about the number of stripes and the load of storage targets."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.shared_evidence import filled_stripes, fitting_unit
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.ost import moved_by_target, target_rows
from iolens.metrics.files.stripes.striping import named_targets, reached_stripes, striped_files
from iolens.metrics.files.use import by_file, collective_calls, joined_files, most_first, under_mpiio
from iolens.metrics.files.writers import posix_users
from iolens.metrics.grouping import without_repeats
from iolens.metrics.job.gauges import movers
from iolens.metrics.job.ranks import clearly_slow_targets, rank_times, target_speed
from iolens.metrics.job.spent import NONE, slowest_seconds

FEW_TARGETS_REMEDY = """\
Let the file system choose the targets; do not set the first target:

@lustre:  lfs getstripe -d FOLDER              # is there an offset, or a pool?
@lustre:  lfs df FOLDER                        # are the other targets full?
@lustre:  lfs setstripe -c 1 -i -1 FOLDER      # new files anywhere
@other:  iolens stripe set -c 1 FOLDER        # new files anywhere"""


def few_targets(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that many ranks use few of the targets that the log names."""
    targets, moved = moved_by_target(job)
    layouts, posix = job.records.get("LUSTRE"), by_file(job, "POSIX")
    if layouts is None or posix is None or not len(targets) or float(moved.sum()) < limits["much_bytes"]:
        return None
    own = joined_files(posix, without_repeats(layouts, "id"))
    own = own.where(own["ranks"] == 1)
    ranks = movers(job)
    named = named_targets(job)
    crowded = ranks >= limits["crowded_target"] * len(targets)
    if not len(own) or not crowded or named < 2 * len(targets):
        return None
    spent = slowest_seconds(job, "POSIX", own["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.count(ranks, 'rank')} moved {say.size(float(moved.sum()))} to and from "
        f"{say.count(len(targets), 'target')}; the numbers of the targets show that there are {named:,} or more. "
        f"Transfers took {say.seconds(spent)} on the slowest rank."
    )
    bound = f"It assumes that the same transfers go to {named:,} targets instead of {len(targets):,}."
    return Seen(evidence, spent * (1 - len(targets) / named), bound, FEW_TARGETS_REMEDY)


FEW_TARGETS = Rule(
    id="few-targets",
    title="Few targets for the files of many ranks",
    says="ranks use their own files, at least `crowded_target` ranks per used target, although the log names twice as "
    "many targets",
    limits=("crowded_target", "much_bytes"),
    why="Ranks wait for each other at the used targets while other targets are idle.",
    read_more="man lfs-setstripe(1); https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=few_targets,
    exhibit="target_bytes",
    bounds="too few targets",
    gauges=("stripes",),
)


_MORE = """\
This is a first step: the file could use more targets. Also measure more
stripes (iolens sweep)."""


def narrow_stripes(job: Job, limits: Limits) -> Seen | None:
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


NARROW_STRIPES = Rule(
    id="narrow-stripes",
    title="Too few targets for many ranks",
    says="a shared file with much data has at most half of the stripes that its ranks, its size (`much_bytes` "
    "per stripe) and `enough_stripes` call for, and its targets moved `busy_target` each or more",
    limits=("enough_stripes", "much_bytes", "busy_target"),
    why="A file cannot be read or written faster than the targets that hold it.",
    read_more="https://docs.nersc.gov/performance/io/lustre/; man lfs-setstripe(1)",
    check=narrow_stripes,
    exhibit="layouts",
    gauges=("stripes",),
    bounds="too few targets",
    before=("shared-stripes", "uneven-targets"),
)


def wide_for_one(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of widely striped files that a single rank uses, with transfers that on average are smaller
    than a stripe.
    """
    table = striped_files(job)
    if table is None:
        return None
    calls = table["READS"] + table["WRITES"]
    chosen = (table["ranks"] == 1) & (table["stripes"] >= max(2.0, limits["enough_stripes"])) & (calls > 0)
    chosen &= table["moved"] < table["stripe_size"] * calls
    if not chosen.any():
        return None
    rows = most_first(table["stripes"], chosen)
    ids, stripes = table["id"][rows], int(table["stripes"][rows[0]])
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    mean = float(table["moved"][rows].sum() / calls[rows].sum())
    evidence = (
        f"{say.files(job, ids)}: used by one rank, on {'up to ' if len(ids) > 1 else ''}"
        f"{say.count(stripes, 'stripe')}, in transfers smaller than a stripe ({say.size(mean)} on average); open, "
        f"close and "
        f"stat took {say.seconds(spent)} on the slowest rank."
    )
    bound = f"It assumes that one target is asked instead of {stripes}: 1 − 1/{stripes} of the metadata time."
    layout = ProposedStripes(1, None, tuple(ids.tolist()))
    return Seen(evidence, spent * (1 - 1 / stripes), bound, "{layout}", layout=layout)


WIDE_FOR_ONE = Rule(
    id="wide-for-one",
    title="A file of one rank has many stripes",
    says="a file that one rank uses has `enough_stripes` stripes or more, and its transfers are smaller than a stripe",
    limits=("enough_stripes",),
    why="No transfer uses two targets at once, but each open or stat asks all targets.",
    read_more="https://docs.nersc.gov/performance/io/lustre/; man lfs-setstripe(1)",
    check=wide_for_one,
    exhibit="layouts",
)


def wide_stripes(job: Job, limits: Limits) -> Seen | None:
    """Looks for many files that fill at most half of their stripes."""
    table = striped_files(job)
    if table is None:
        return None
    size = table["size"]
    chosen = (table["stripes"] >= 4) & (size <= table["stripe_size"] * table["stripes"] / 2)
    if int(chosen.sum()) < max(1.0, limits["many_files"]):
        return None
    ids = table["id"][chosen]
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    stripes, unit, data = (float(np.median(each[chosen])) for each in (table["stripes"], table["stripe_size"], size))
    evidence = (
        f"{say.count(len(ids), 'file')} have {say.count(stripes, 'stripe')} of {say.size(unit)}, but only "
        f"{say.size(data)} of data (medians); open, close and stat of them took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    bound = "It assumes that metadata calls on these files take no time on the slowest rank."
    return Seen(evidence, spent, bound, "{layout}", layout=ProposedStripes(1, None, tuple(ids.tolist())))


WIDE_STRIPES = Rule(
    id="wide-stripes",
    title="Small files on many targets",
    says="many files have four stripes or more and fill at most half of them",
    limits=("many_files",),
    why="Each stripe is an object; open, stat and remove ask a server for every one of them.",
    read_more="https://docs.nersc.gov/performance/io/lustre/; man lfs-setstripe(1)",
    check=wide_stripes,
    exhibit="layouts",
    bounds="metadata",
)


_TINY = 0.001
"""A target that has less than this share of the busiest target's bytes holds only tiny files."""


def uneven_targets(job: Job, limits: Limits) -> Seen | None:
    """Returns the target with most bytes, compared with the mean of the targets in use. Returns None if a rule already
    advises more stripes for a file, because that evens out the targets.
    """
    targets, moved = moved_by_target(job)
    if len(targets) < 2 or float(moved.sum()) < limits["much_bytes"]:
        return None
    used = moved >= _TINY * moved.max()
    targets, moved = targets[used], moved[used]
    most, mean = float(moved.max()), float(moved.mean())
    if most < limits["uneven"] * mean or narrow_stripes(job, limits) is not None:
        return None
    busiest = int(targets[moved.argmax()])
    spent = slowest_seconds(job, "POSIX", job.records["LUSTRE"]["id"], ("READ", "WRITE")) if _both(job) else NONE
    left = max(mean / most, _relative_rate(job, busiest))
    if left >= 1:
        return None
    evidence = (
        f"Target {busiest} moved {say.size(most)}, {most / mean:.1f} times "
        f"the mean of {say.count(len(moved), 'target')}; transfers took {say.seconds(spent)} on the slowest rank."
    )
    bound = (
        "It assumes that the busiest target moves only the mean of all targets, at the same rate."
        if left == mean / most
        else "It assumes that the files on the busiest target get the rate that the files on other targets had."
    )
    return Seen(evidence, spent * (1 - left), bound, "{layout}", layout=_even_layout(job, len(targets), limits))


def _relative_rate(job: Job, busiest: int) -> float:
    """Returns the rate of a rank on the busiest target, as a part of the rate on the other targets; 0 if the log does
    not have the times of each target.
    """
    table = target_rows(job)
    if table is None or np.isnan(table["seconds"]).any():
        return 0.0
    here = table["ost"] == busiest
    rates = [
        float(table["bytes"][part].sum()) / max(float(table["seconds"][part].sum()), 1e-9) for part in (here, ~here)
    ]
    return rates[0] / rates[1] if rates[1] > 0 else 0.0


def _even_layout(job: Job, targets: int, limits: Limits) -> ProposedStripes | None:
    """Returns a layout that spreads the file with the most bytes moved over the targets in use, as many of them as it
    can fill; None without a file.
    """
    table = striped_files(job)
    if table is None or not len(table):
        return None
    first = most_first(table["moved"])[0]
    size, unit = float(table["size"][first]), max(1 << 20, int(table["stripe_size"][first]))
    fed = max(1, int(filled_stripes(table["size"], limits)[first]))
    count = min(targets, fed, reached_stripes(targets, unit, size))
    return ProposedStripes(count, unit, tuple(table["id"][table["size"] > (count - 1) * unit].tolist()))


def _both(job: Job) -> bool:
    """Returns whether the log has both the layouts of files (LUSTRE) and the times of calls on files (POSIX)."""
    return "LUSTRE" in job.frames and "POSIX" in job.frames


UNEVEN_TARGETS = Rule(
    id="uneven-targets",
    title="Bytes unevenly over targets",
    says="one target moved at least `uneven` times the mean of the targets in use (targets with only tiny files do "
    "not count), files on it were slower than on the others if the log has their times, and `narrow-stripes` is not "
    "reported",
    limits=("uneven", "much_bytes"),
    why="The run waits for the busiest target while others are idle.",
    read_more="https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=uneven_targets,
    exhibit="target_bytes",
    gauges=("stripes",),
    bounds="one target",
)


STRAGGLER_TARGET_REMEDY = """\
Avoid {targets} until your site has checked {them}:

@lustre:  lfs df FOLDER                          # is a target full?
@lustre:  lfs check osts                         # is it reachable?
@lustre:  lfs setstripe -c 1 -i OTHER FOLDER     # one target by number
@lustre:  lfs migrate -c 1 -i OTHER FILE         # move a file away
@other:  iolens stripe targets FOLDER           # is a target full?
@other:  iolens stripe set -c 1 -i OTHER FOLDER # one target by number"""


def straggler_target(job: Job, limits: Limits) -> Seen | None:
    """Returns the targets whose speed is far below the median. The speeds are those of files that lie on one target and
    that one rank uses.
    """
    slow, every, times = clearly_slow_targets(job, limits["straggler"]), target_speed(job), rank_times(job)
    if slow is None or every is None or times is None:
        return None
    worst = slow["overall"].argmin()
    most, median = float(times["seconds"].max()), float(np.median(times["seconds"]))
    evidence = (
        f"Files on target {int(slow['ost'][worst])} moved {say.rate(float(slow['overall'][worst]), 1)}, those on "
        f"the median of {say.count(len(every), 'target')} {say.rate(float(np.median(every['overall'])), 1)}; the "
        f"slowest rank took {say.seconds(most)}, half of the ranks {say.seconds(median)} or less."
    )
    names = [f"OST {int(ost)}" for ost in slow["ost"]]
    them = "it" if len(names) == 1 else "them"
    remedy = STRAGGLER_TARGET_REMEDY.replace("{targets}", ", ".join(names)).replace("{them}", them)
    return Seen(evidence, most - median, "It assumes that the slowest rank is as fast as the median rank.", remedy)


STRAGGLER_TARGET = Rule(
    id="straggler-target",
    title="A storage target is slow",
    says="two or more files of single ranks on a target take `straggler` times as long as files of the same size on "
    "the median target, and clearly longer than on all others; at most a quarter of the targets, which are four or "
    "more, are slow",
    limits=("straggler",),
    why="The run waits for the files on this target.",
    read_more="Lockwood et al., TOKIO, CUG 2018; man lfs-migrate(1)",
    check=straggler_target,
    exhibit="target_bytes",
    gauges=("balance",),
    bounds="one target",
    before=("small-writes", "small-reads", "sync-each-write", "shared-small-writes", "random-access"),
)
