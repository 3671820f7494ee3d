"""The rule about files in which a program seeks more often than it reads and writes."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import by_file, most_first
from iolens.metrics.job.spent import NONE, slowest_seconds

REMEDY = """\
Give the offset in the read call itself, without a seek:

  C        pread(fd, buffer, bytes, offset)      /* no lseek before it */
  Fortran  read (unit, pos=offset) values        ! access='stream'
  Python   os.pread(fd, bytes, offset); numpy.memmap(path, ...)

If the code seeks to the end for the file's size, call fstat once instead."""


_MOSTLY = 10
"""Minimum number of seeks for each open and stat; with fewer, seeks do not explain the time of metadata calls."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files with more seeks than transfers, and the time of their metadata calls."""
    said, spent = [], NONE
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        transfers, seeks = table["READS"] + table["WRITES"], table["SEEKS"]
        asked = table["OPENS"] + table.get("STATS", 0.0)
        chosen = (transfers > 0) & (seeks >= limits["seek_share"] * transfers) & (seeks >= _MOSTLY * asked)
        chosen &= _can_take(table)
        if seeks[chosen].sum() < max(1.0, limits["few_calls"]):
            continue
        ids = table["id"][most_first(seeks, chosen)]
        spent += slowest_seconds(job, name, ids, ("META",))
        said.append(
            f"{say.count(float(seeks[chosen].sum()), 'seek')} for "
            f"{say.count(float(transfers[chosen].sum()), 'read and write')} of {say.files(job, ids)}"
        )
    if not said:
        return None
    evidence = f"{'; '.join(said)}; metadata calls on them took {say.seconds(spent)} on the slowest rank."
    return Seen(
        evidence, spent, "It assumes that all metadata calls on these files take no time on the slowest rank.", REMEDY
    )


def _can_take(table: Records) -> np.ndarray:
    """Returns a mask of the files whose seeks can have taken most of the time of metadata calls. Seeks come between
    transfers: in a file of one rank, they cannot take longer than the time from the first transfer to the last that is
    not spent in transfers.
    """
    between, is_open = np.zeros(len(table)), table["ranks"] > 1
    for way in ("READ", "WRITE"):
        lasted = table[f"F_{way}_END_TIMESTAMP"] - table[f"F_{way}_START_TIMESTAMP"]
        is_open |= (table[f"F_{way}_TIME"] > 0) & (lasted <= 0)
        between += np.maximum(lasted - table[f"F_{way}_TIME"], 0.0)
    return np.asarray(is_open | (between >= 0.5 * table["F_META_TIME"]))


RULE = Rule(
    id="many-seeks",
    title="Many seeks for each read or write",
    says="files have many seeks (`seek_share` or more for each read or write) and hardly any other metadata calls",
    limits=("seek_share", "few_calls"),
    why="A seek is a call that moves no data; in stdio it also discards the buffer.",
    read_more="man 2 pread; man 3 fseeko",
    check=check,
    bounds="metadata",
    before=("metadata-storm",),
)
