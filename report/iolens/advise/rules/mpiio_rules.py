"""The rules about MPI-IO calls: hints, data sieving, independent calls, and the file system below."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.remedies import COLLECTIVE
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared_evidence import useful_aggregators
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import file_mounts, paths
from iolens.metrics.files.use import by_file, collective_calls, most_first, small_calls, under_mpiio
from iolens.metrics.files.writers import posix_users
from iolens.metrics.job.interfaces.mpiio import hints
from iolens.metrics.job.spent import NONE, slowest_seconds

_HINTS = ("romio_ds_write disable", "romio_ds_read disable", "romio_cb_write enable", "romio_cb_read enable")


_WHOLE = """\
The parts of the ranks leave holes, so that an aggregator reads a range
before it writes it. Write all variables of a step in one collective call
without holes (PnetCDF: ncmpi_bput_vara, then ncmpi_wait_all), or let the
aggregators write each part by itself.

{hints}"""


def data_sieving(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of which POSIX reads far more than MPI-IO."""
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper, lower = pair
    asked = upper["BYTES_READ"] + upper["BYTES_WRITTEN"]
    chosen = sieved_files(upper, lower, limits)
    if not chosen.any():
        return None
    excess = lower["BYTES_READ"] - upper["BYTES_READ"]
    rows = most_first(asked, chosen)
    ids, got = lower["id"][rows], float(lower["BYTES_READ"][rows].sum())
    read = float(excess[rows].sum()) / got if got else 1.0
    written, wanted = float(lower["BYTES_WRITTEN"][rows].sum()), float(upper["BYTES_WRITTEN"][rows].sum())
    again = max(0.0, 1 - wanted / written) if written else 0.0
    seconds = [slowest_seconds(job, "POSIX", ids, (kind,)) for kind in ("READ", "WRITE")]
    evidence = (
        f"For {say.size(float(asked[rows].sum()))} of MPI-IO on {say.files(job, ids)}, POSIX read {say.size(got)} in "
        f"{say.count(float(lower['READS'][rows].sum()), 'read')}{'' if got else ' of places still empty'} and wrote "
        f"{say.size(written)}; "
        f"the program read {say.size(float(upper['BYTES_READ'][rows].sum()))}. The reads took "
        f"{say.seconds(seconds[0])} on the slowest rank."
    )
    gain = seconds[0] * read + seconds[1] * again
    bound = (
        f"The bound is {say.percent(read)} of the read and {say.percent(again)} of the write time: transfers that the "
        f"program did not ask for."
    )
    alone, together = upper["INDEP_WRITES"] + upper["NB_WRITES"], upper["COLL_WRITES"] + upper["SPLIT_WRITES"]
    if together[rows].sum() > 10 * alone[rows].sum():
        return Seen(evidence, gain, bound, _WHOLE, _HINTS[:1])
    return Seen(evidence, gain, bound, f"{COLLECTIVE}\n\n{{hints}}", _HINTS)


def sieved_files(upper: Records, lower: Records, limits: Limits) -> np.ndarray:
    """Returns which files of `use.under_mpiio` MPI-IO sieves: POSIX reads far more bytes than the program, or reads
    before most writes of a file that the program never reads, even if the file has no bytes there yet.
    """
    asked = upper["BYTES_READ"] + upper["BYTES_WRITTEN"]
    more = lower["BYTES_READ"] - upper["BYTES_READ"] >= limits["sieving_share"] * asked
    calls = sum(upper[f"{way}_READS"] for way in ("INDEP", "COLL", "SPLIT", "NB"))
    before = (calls == 0) & (lower["READS"] >= limits["few_calls"]) & (2 * lower["READS"] >= lower["WRITES"])
    return np.asarray((asked > 0) & (more | before))


DATA_SIEVING = Rule(
    id="data-sieving",
    title="Data sieving makes reads that the program did not ask for",
    says="POSIX read more of a file than the program asked MPI-IO for, by `sieving_share` of the requested bytes or "
    "more; or it read at least `few_calls` times, before half of the writes or more, from a file that the program only "
    "writes",
    limits=("sieving_share", "few_calls"),
    why="Data sieving also reads the holes between the parts of a rank; for a write it reads, changes and writes back "
    "whole ranges under a lock.",
    read_more="R. Thakur et al., Data Sieving and Collective I/O in ROMIO, 1999",
    check=data_sieving,
    exhibit="performance",
    gauges=("size",),
)


HINTS_IGNORED_REMEDY = """\
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


def hints_ignored(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, spent * bounds[bound], bound, HINTS_IGNORED_REMEDY)


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


HINTS_IGNORED = Rule(
    id="hints-ignored",
    title="Hints are not in effect",
    says="an MPI-IO hint was requested or given, and the library reports another value, or fewer ranks wrote than "
    "`cb_nodes` asks for",
    limits=(),
    why="The run did not use the settings that were chosen for it.",
    read_more="MPI 4.1, section 14.2.8; MPI_File_get_info",
    check=hints_ignored,
    exhibit="hints",
    before=("few-aggregators",),
)


def independent_small(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of several ranks whose MPI-IO calls are mostly independent and small."""
    table = by_file(job, "MPI-IO")
    if table is None:
        return None
    single = np.asarray(sum(table[name] for name in ("INDEP_READS", "INDEP_WRITES", "NB_READS", "NB_WRITES")))
    together = np.asarray(sum(table[name] for name in ("COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")))
    few = small_calls(table, "READ", limits["small_transfer"]) + small_calls(table, "WRITE", limits["small_transfer"])
    calls = single + together
    chosen = (table["ranks"] > 1) & (calls > 0) & (together <= 0.1 * single) & (few >= limits["small_share"] * calls)
    if few[chosen].sum() < max(1.0, limits["few_calls"]):
        return None
    ids = table["id"][chosen]
    spent = slowest_seconds(job, "MPI-IO", ids, ("READ", "WRITE"))
    moved = float((table["BYTES_READ"] + table["BYTES_WRITTEN"])[chosen].sum())
    evidence = (
        f"{say.count(float(single[chosen].sum()), 'independent MPI-IO call')} on {say.files(job, ids)}, "
        f"{say.size(moved / float(calls[chosen].sum()))} each on average, took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that all of these calls take no time on the slowest rank.", COLLECTIVE)


INDEPENDENT_SMALL = Rule(
    id="independent-small",
    title="Small independent MPI-IO calls",
    says="there are many MPI-IO calls on files of several ranks, most are small, and nine of ten are independent",
    limits=("small_transfer", "small_share", "few_calls"),
    why="Only in collective calls can the library combine the pieces of all ranks into large transfers.",
    read_more="MPI 4.1, section 14.4.2; ROMIO: https://www.mcs.anl.gov/projects/romio",
    check=independent_small,
    exhibit="access_sizes",
    gauges=("size",),
    bounds="small transfers",
)


_WAYS = {"READ": "BYTES_READ", "WRITE": "BYTES_WRITTEN"}
"""For each way of moving bytes, the counter of its bytes."""

MPIIO_ABOVE_POSIX_REMEDY = """\
Check these settings of the MPI library:

  C        MPI_File_set_atomicity(file, 0);      /* atomic mode locks */
           MPI_Type_contiguous(...)              /* rather than scattered */
  ROMIO    export ROMIO_PRINT_HINTS=1            # which driver, which hints
  shared   MPI_File_write_at in place of MPI_File_write_shared: the shared
           pointer is a lock in another file"""


def mpiio_above_posix(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that independent MPI-IO calls take far longer than the POSIX calls below them."""
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper, lower = pair
    single = upper["INDEP_READS"] + upper["INDEP_WRITES"] + upper["NB_READS"] + upper["NB_WRITES"]
    apart = (single > 0) & (collective_calls(upper) <= 0.1 * single)
    far = {way: apart & _far_above(upper, lower, way, counter, limits) for way, counter in _WAYS.items()}
    if not any(mask.any() for mask in far.values()):
        return None
    spent, access, ids = NONE, NONE, upper["id"][np.logical_or.reduce([*far.values()])]
    for way, mask in far.items():
        above, below = (slowest_seconds(job, name, upper["id"][mask], (way,)) for name in ("MPI-IO", "POSIX"))
        spent, access = spent + above, access + below
    kinds = " and ".join(f"{way.lower()}s" for way, mask in far.items() if mask.any())
    evidence = (
        f"Independent MPI-IO {kinds} of {say.files(job, ids)} took {say.seconds(spent.within(job.run_time))} on the "
        f"slowest rank, the POSIX {kinds} below them {say.seconds(access)}."
    )
    spent = spent.within(job.run_time)
    return Seen(
        evidence,
        spent - access,
        "The bound is MPI-IO's time minus POSIX's, each on its slowest rank.",
        MPIIO_ABOVE_POSIX_REMEDY,
    )


def _far_above(upper: Records, lower: Records, way: str, counter: str, limits: Limits) -> np.ndarray:
    """Returns a mask of the files whose reads or writes took far longer in MPI-IO than in POSIX, which moved their
    bytes. Each way is judged by itself, because POSIX may have read nothing of a file that another process wrote. A
    file of which POSIX read more than the program asked for was written by data sieving, whose reads belong to writes.
    """
    time = f"F_{way}_TIME"
    is_complete = (upper[counter] > 0) & (lower[counter] >= 0.9 * upper[counter])
    is_complete &= lower["BYTES_READ"] <= upper["BYTES_READ"]
    return np.asarray(is_complete & (lower[time] > 0) & (upper[time] >= limits["above_posix"] * lower[time]))


MPIIO_ABOVE_POSIX = Rule(
    id="mpiio-above-posix",
    title="MPI-IO takes far longer than POSIX below it",
    says="independent MPI-IO reads or writes take at least `above_posix` times as long as the POSIX calls below them, "
    "for files whose bytes POSIX recorded",
    limits=("above_posix",),
    why="The difference is locks, packing of scattered data, or waiting in the MPI library, not the transfers "
    "themselves.",
    read_more="ROMIO user's guide (data types, file locks, atomic mode); `iolens report`, page Striping and MPI-IO",
    check=mpiio_above_posix,
    exhibit="performance",
)


NFS_MPIIO_REMEDY = """\
Write to the parallel file system, and copy the results that you keep:

  cd "${SCRATCH:-$WORK}" && srun ./app && cp RESULT "$HOME"/

Without one, use one writer or a file for each rank; or keep MPI-IO and let
one rank per node write (hints cb_nodes, romio_cb_write enable). NFS must be
mounted with actimeo=0 or noac for correct results."""


def nfs_mpiio(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of several ranks that MPI-IO used on a mount of type nfs."""
    table = by_file(job, "MPI-IO")
    if table is None:
        return None
    moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
    rows = np.flatnonzero((table["ranks"] > 1) & (moved > 0))
    ids = table["id"][rows]
    where = file_mounts(job, ids.tolist(), paths(job, ids))
    rows = rows[np.array([mount.kind.startswith("nfs") for mount in where], bool)]
    if not len(rows):
        return None
    ids, total = table["id"][rows], float(moved[rows].sum())
    spent = slowest_seconds(job, "MPI-IO", ids)
    evidence = (
        f"Several ranks moved {say.size(total)} through MPI-IO on {say.files(job, ids)}, which took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that MPI-IO takes no time on these files.", NFS_MPIIO_REMEDY)


NFS_MPIIO = Rule(
    id="nfs-mpiio",
    title="MPI-IO on NFS",
    says="several ranks used a file through MPI-IO on a mount of type nfs",
    limits=(),
    why="NFS has no coherent caches: MPI-IO locks and flushes at each access, and results may be wrong without noac.",
    read_more="ROMIO user's guide, section on NFS; man nfs(5)",
    check=nfs_mpiio,
    exhibit="file_systems",
    always=True,
)
