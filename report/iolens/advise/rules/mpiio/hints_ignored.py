"""The rule about hints that were requested and are not in effect."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.capacity import useful_aggregators
from iolens.log import Job
from iolens.metrics.files.use import under_mpiio
from iolens.metrics.files.writers import posix_users
from iolens.metrics.job.interfaces.mpiio import hints
from iolens.metrics.job.spent import NONE, slowest_seconds

REMEDY = """\
Print the hints in effect (the log's effective values come from this call):

  C        MPI_File_get_info(file, &info);   /* print all keys */
  ROMIO    export ROMIO_PRINT_HINTS=1
  Cray     export MPICH_MPIIO_HINTS_DISPLAY=1

Usual reasons: cb_nodes is cut to one a node unless cb_config_list allows
more; Open MPI's own MPI-IO (ompio) knows few hints; sizes are plain bytes,
without K or M.
@lustre:ROMIO's Lustre driver lets no more ranks write than the file has stripes,
@lustre:and sets stripes only when it creates a file.

  cb_config_list *:*
  export OMPI_MCA_io=romio321        # Open MPI: use ROMIO"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the hints whose effective value differs from the requested one, or contradicts the observed writers."""
    asked = job.tables.get("mpiio_hints")
    if asked is None or not any((asked[name] != "").any() for name in ("requested", "given") if name in asked):
        return None
    table = hints(job, by_family=False)
    if table is None:
        return None
    echoes = str(job.info.get("io_component_used") or "").startswith("ompio")
    seen, ids = _writers_by_path(job), {name: key for key, name in job.names.items()}
    wrong: dict[str, list[str]] = {}
    bounds: dict[str, float] = {}
    rows = [Hint._make(row) for row in table.rows(*Hint._fields)]
    reporting = {row.path for row in rows if row.effective and not echoes}
    for row in rows:
        said = _contradiction(row, row.path in reporting, seen.get(row.path))
        if not said:
            continue
        useful = int(useful_aggregators(job, np.array([ids[row.path]]))[0]) if row.path in ids else 0
        share, bound = _most_saved(row, seen.get(row.path), useful)
        if share:
            wrong.setdefault(row.path, []).append(said)
            bounds[bound] = max(share, bounds.get(bound, 0.0))
    if not wrong:
        return None
    files = [ids[path] for path in wrong if path in ids]
    spent = slowest_seconds(job, "MPI-IO", files) if "MPI-IO" in job.frames else NONE
    first, bound = next(iter(wrong)), max(bounds, key=lambda bound: bounds[bound])
    others = f" (and others on {say.count(len(wrong) - 1, 'more file')})" if len(wrong) > 1 else ""
    evidence = f"{first.rpartition('/')[2]}: {'; '.join(wrong[first][:4])}{others}."
    return Seen(evidence, spent * bounds[bound], bound, REMEDY)


class Hint(NamedTuple):
    """A row of `metrics.job.interfaces.mpiio.hints`."""

    path: str
    key: str
    requested: str
    given: str
    effective: str


def _contradiction(row: Hint, reported: bool, writers: int | None) -> str:
    """Returns the contradiction in one hint; empty if there is none."""
    wanted = row.given or row.requested
    if not wanted:
        return ""
    if reported and row.effective != wanted:
        return f"{row.key}={wanted} was requested, but {row.effective or 'no value'} is in effect"
    if row.key == "cb_nodes" and wanted.isdigit() and writers is not None and 0 < writers < int(wanted):
        return f"cb_nodes={wanted} was requested, but {say.count(writers, 'rank')} wrote"
    return ""


def _most_saved(row: Hint, writers: int | None, useful: int) -> tuple[float, str]:
    """Returns the share (0 to 1) of MPI-IO's time on a file that a hint can save at most, and the derivation.

    `useful` is the number of aggregators that can write the file side by side, 0 if unknown.
    """
    wanted, now, what = row.given or row.requested, row.effective, "targets"
    if row.key == "cb_nodes":
        now, what = str(writers or now), "aggregators"
    elif row.key != "striping_factor":
        now = ""
    if not (wanted.isdigit() and now.isdigit() and 0 < int(now) < int(wanted)):
        return 1.0, "It assumes that MPI-IO takes no time on these files."
    most = min(int(wanted), useful) if useful and row.key == "cb_nodes" else int(wanted)
    if most <= int(now):
        return 0.0, ""
    return 1 - int(now) / most, f"It assumes {most} {what} instead of {now}: 1 − {now}/{most} of the time in MPI-IO."


def _writers_by_path(job: Job) -> dict[str, int]:
    """Returns ranks that wrote each collectively written file, by path."""
    pair = under_mpiio(job)
    if pair is None:
        return {}
    known = posix_users(job, "written")
    collective = pair[0]["id"][pair[0]["COLL_WRITES"] > 0].tolist()
    return {job.names.get(key, ""): known[key] for key in collective if key in known}


RULE = Rule(
    id="hints-ignored",
    title="Hints are not in effect",
    says="an MPI-IO hint was requested or given, and the library reports another value, or fewer ranks wrote than "
    "`cb_nodes` asks for",
    limits=(),
    why="The run did not use the settings that were chosen for it.",
    read_more="MPI 4.1, section 14.2.8; MPI_File_get_info",
    check=check,
    before=("few-aggregators",),
)
