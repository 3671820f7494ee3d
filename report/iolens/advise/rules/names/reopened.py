"""Finds files that are opened again and again."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file, most_first
from iolens.metrics.job.spent import NONE, slowest_seconds

REMEDY = """\
Open before the loop, and close after it:

  C        FILE *file = fopen(path, "a");
           for (step ...) fprintf(file, ...);
           fclose(file);
  Fortran  open (unit, ...) before the loop; not in it with position='append'
  Python   with h5py.File(path, 'a') as file:
               for step in steps: file['data'][step] = array"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files that each rank opened `reopens` times or more."""
    opens, files, gain, example = 0.0, 0, NONE, ""
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        chosen = table["OPENS"] >= limits["reopens"] * table["ranks"]
        if not chosen.any():
            continue
        rows = most_first(table["OPENS"], chosen)
        ids = table["id"][rows]
        once = float(table["ranks"][rows].sum() / table["OPENS"][rows].sum())
        gain += slowest_seconds(job, name, ids, ("META",)) * (1 - once)
        opens, files = opens + float(table["OPENS"][rows].sum()), files + len(ids)
        example = example or say.files(job, ids[:1])
    if opens < max(1.0, limits["many_opens"]):
        return None
    evidence = (
        f"{say.count(opens, 'open')} of {say.count(files, 'file')}, such as {example}; after the first open of each "
        f"file, open, close, stat and seek took {say.seconds(gain)} on the slowest rank."
    )
    return Seen(
        evidence,
        gain,
        "It assumes that each rank opens a file once, and that further opens take no time.",
        REMEDY,
    )


RULE = Rule(
    id="reopened",
    title="The same files are opened again and again",
    says="each rank opens the files that it uses at least `reopens` times, and there are many opens in all",
    limits=("reopens", "many_opens"),
    why="Each open and close asks the metadata server, and a close may flush.",
    read_more="https://docs.nersc.gov/performance/io/",
    check=check,
    gauges=("balance",),
    bounds="metadata",
)
