"""The rules about opens, stats and other calls that move no data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared_evidence import enough_calls
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.families import of_libraries
from iolens.metrics.files.use import by_file, file_records, most_first
from iolens.metrics.job.interfaces.private_counts import MISSING, failed_calls
from iolens.metrics.job.share import FIRST, extra_seconds, io_seconds, searched_in_vain, start_up
from iolens.metrics.job.spent import NONE, of_ranks, slowest_seconds

START_UP_STORM_REMEDY = """\
Take the software from each node's memory, not from a shared file system:

  sites    once:     tar -C ENVIRONMENT -cf software.tar .
           each job: srun --ntasks-per-node=1 mkdir -p /dev/shm/software
                     srun --ntasks-per-node=1 \\
                       tar -C /dev/shm/software -xf software.tar
           conda-pack makes such an archive; a container image or SquashFS
           that is mounted on each node does the same.
  loading  spindle srun ...   reads each file once for all ranks
  Python   fewer and shorter entries of PYTHONPATH; fewer imports"""


def loaded_files(job: Job, table: Records) -> np.ndarray:
    """Returns a mask of the files in a table of `by_file` that are libraries or modules and were not written."""
    mask: np.ndarray = of_libraries(job, table) & (table["BYTES_WRITTEN"] == 0)
    return mask


def start_up_storm(job: Job, limits: Limits) -> Seen | None:
    """Returns the opens and stats of files of libraries and modules, and the time that they and the reading of these
    files took on the slowest rank.
    """
    calls, spent, files, started = 0.0, NONE, 0, start_up(job)
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        loaded = table.where(loaded_files(job, table))
        calls += sum(float(np.sum(loaded.get(counter, 0.0))) for counter in ("OPENS", "STATS"))
        spent += slowest_seconds(job, name, loaded["id"], ("READ", "META"))
        files += len(loaded)
    if calls < limits["few_calls"] or spent.about < max(limits["slow_start"], limits["worth_gain"] * job.run_time):
        return None
    evidence = (
        f"{say.count(max(job.nprocs, 1), 'process')} opened or looked up {say.count(files, 'file')} of libraries and "
        f"modules {say.count(calls, 'time')}, which took up to {say.seconds(spent)} on the slowest rank."
    )
    begun = [most for what, most in started.rows("what", "most") if what == FIRST] if len(started) else []
    if begun:
        evidence += f" The first file of the program's own was opened {say.seconds(begun[0])} after recording began."
    return Seen(evidence, spent, "It assumes that loading takes no time on the slowest rank.", START_UP_STORM_REMEDY)


START_UP_STORM = Rule(
    id="start-up-storm",
    title="Many files of libraries and modules are loaded",
    says="`few_calls` opens and stats or more, over all ranks, were of files of libraries and modules, and with the "
    "reading of these files they took `slow_start` and `worth_gain` of the run on the slowest rank",
    limits=("few_calls", "slow_start", "worth_gain"),
    why="A shared file system answers each rank by itself, so this time grows with ranks times files.",
    read_more="https://computing.llnl.gov/projects/spindle; https://conda.github.io/conda-pack",
    check=start_up_storm,
    exhibit="costly_files start_up",
    before=("metadata-storm",),
)


_CALLS = {"OPENS": "open", "STATS": "stat", "SEEKS": "seek", "RENAME_SOURCES": "rename"}
_EXTRA = {"unlinks": "unlink", "mkdirs": "mkdir", "rmdirs": "rmdir", "links": "link", "truncates": "truncate"}
"""Counters of POSIX and STDIO, and columns of `posix_extra`, with the names of their calls."""

_MOST_OF_RUN = 0.5
"""Part of the run that calls must take if they are not many: a few hundred files that are written once are no fault."""

METADATA_STORM_REMEDY = """\
Use fewer files, and open them less often:
  - open a file once and keep it open; let one rank read it, and broadcast
    the data (MPI_Bcast);
  - pack small files into one (HDF5, netCDF, ADIOS2; SquashFS for input);
  - Python environments: a container image, or a copy in /tmp or /dev/shm of
    each node.
@lustre:
@lustre:Keep the data of small files on the metadata server of Lustre:
@lustre:
@lustre:  lfs setstripe -E 64K -L mdt -E -1 -c 1 FOLDER"""


def metadata_storm(job: Job, limits: Limits) -> Seen | None:
    """Compares metadata time with all I/O time. Files of libraries and modules, which every program loads when it
    starts, are left out if `start-up-storm` counts their time, or if calls are not many.
    """
    tables = {name: table for name in ("POSIX", "STDIO") if (table := by_file(job, name)) is not None}
    few = _asked(_counted(job, tables)) < limits["few_calls"]
    if few or start_up_storm(job, limits) is not None:
        tables = {name: table.where(~loaded_files(job, table)) for name, table in tables.items()}
    if few:  # A close waits for the data that was written before.
        most = limits["large_transfer"]
        tables = {name: table.where(table["BYTES_WRITTEN"] < most * table["OPENS"]) for name, table in tables.items()}
    calls = _counted(job, tables)
    spent = sum((slowest_seconds(job, name, table["id"], ("META",)) for name, table in tables.items()), start=NONE)
    own, common = extra_seconds(job)
    spent += of_ranks(job, own + common)
    half = spent.about >= _MOST_OF_RUN * job.run_time
    if _asked(calls) < limits["few_calls"] and not (half and _asked(calls) >= limits["some_calls"]):
        return None
    total, files = io_seconds(job) or 0.0, sum(len(table) for table in tables.values())
    if spent.about < limits["meta_share"] * total:
        return None
    done = ", ".join(say.count(number, call) for call, number in calls.items() if number)
    evidence = (
        f"Open, close, stat and the like took {say.seconds(spent)} of the {say.seconds(total)} of I/O of the slowest "
        f"rank: {done} on {say.count(files, 'file')}."
    )
    return Seen(
        evidence,
        spent.within(total),
        "It assumes that all metadata calls take no time on the slowest rank.",
        METADATA_STORM_REMEDY,
    )


def _counted(job: Job, tables: Mapping[str, Records]) -> dict[str, float]:
    """Returns the number of metadata calls of each kind over all ranks."""
    found = {
        call: sum(float(np.sum(table.get(counter, 0.0))) for table in tables.values())
        for counter, call in _CALLS.items()
    }
    extra = job.tables.get("posix_extra", Records({}))
    return found | {call: float(extra[column].sum()) for column, call in _EXTRA.items() if column in extra}


def _asked(calls: Mapping[str, float]) -> float:
    """Returns the number of calls that ask a server."""
    return sum(number for call, number in calls.items() if call != "seek")


METADATA_STORM = Rule(
    id="metadata-storm",
    title="Metadata calls take much of the I/O time",
    says="many calls of open, close, stat, unlink, rename and the like, or some that take half of the run, take "
    "`meta_share` of the I/O time or more; without files of libraries and modules if `start-up-storm` is reported",
    limits=("meta_share", "few_calls", "some_calls"),
    why="These calls move no data, and one metadata server answers them for all ranks and all users.",
    read_more="https://wiki.lustre.org/Data_on_MDT; man lfs-setstripe(1)",
    check=metadata_storm,
    exhibit="operations",
    gauges=("balance", "size"),
    bounds="metadata",
)


_CALLS_PER_ENTRY = 2
"""Minimum number of calls that glibc's loader makes for a folder that does not exist: it tries to open a file in the
folder, and then asks for the folder itself.
"""

MISSING_PATHS_REMEDY = """\
Search fewer folders, and search them once for all ranks:

  Python   export PYTHONPATH with the folders that are needed, and no more;
           a virtual environment or container image on each node
  linking  -Wl,-rpath with the few folders of the libraries
           (fewer entries in LD_LIBRARY_PATH)
  loading  unset LD_LIBRARY_PATH, or keep its folders that exist
  MPI      one rank looks for the file and broadcasts its path (MPI_Bcast)
  sites    the software as one archive, unpacked to /dev/shm of each node; or
           Spindle, which loads libraries once for all ranks"""


def missing_paths(job: Job, limits: Limits) -> Seen | None:
    """Returns the failed opens and stats of missing paths, including those of the loaders, and the time that the
    recorded calls among them took on the slowest rank.
    """
    found = failed_calls(job)
    entries, missing, processes = searched_in_vain(job)
    loaders = _CALLS_PER_ENTRY * missing * processes
    rows = [
        row
        for row in (found.rows("operation", "error", "calls", "most", "slowest") if len(found) else [])
        if row[0] in ("open", "stat") and row[1] in MISSING
    ]
    calls, most, spent = (sum(row[place] for row in rows) for place in (2, 3, 4))
    costly = calls >= limits["many_opens"] and spent >= limits["worth_gain"] * job.run_time
    if calls + loaders < limits["few_calls"] and not costly:
        return None
    evidence = [
        f"{say.count(calls)} opens and stats were of paths that do not exist, up to {say.count(most, 'call')} "
        f"on one rank; they took at most {say.seconds(spent)} on the slowest rank."
    ] * (calls > 0)
    if loaders:
        evidence.append(
            f"{missing:,} of the {entries:,} entries of LD_LIBRARY_PATH are not folders, and the loader searched "
            f"them in {say.count(processes, 'process')}: at least {loaders:,} calls that no record contains."
        )
    return Seen(
        " ".join(evidence), spent, "It assumes that these calls take no time on the slowest rank.", MISSING_PATHS_REMEDY
    )


MISSING_PATHS = Rule(
    id="missing-paths",
    title="Many paths are searched that do not exist",
    says="at least `few_calls` opens and stats over all ranks were of paths that do not exist, with those that loaders "
    "must have made for entries of LD_LIBRARY_PATH; or `many_opens` recorded ones took `worth_gain` of the run",
    limits=("few_calls", "many_opens", "worth_gain"),
    why="Each of these calls asks a metadata server, and clients keep the answer that a path does not exist for a "
    "shorter time than other answers.",
    read_more="man 8 ld.so; https://computing.llnl.gov/projects/spindle",
    check=missing_paths,
    exhibit="failed_calls start_up",
    beside_io=True,
    always=True,
)


_MOSTLY = 0.9
"""Smallest share of a layer's opens and stats that makes one file the one that is polled."""

_RARELY = 10
"""A file that is polled has at least this many opens and stats for each write."""

POLLED_FILE_REMEDY = """\
Wait for an event instead of asking again and again:

  shell    inotifywait -e close_write,moved_to FOLDER
  C        inotify_init1, inotify_add_watch    (files of the same node)
  MPI      MPI_Bcast or MPI_Barrier, if the ranks of one job wait
  Slurm    sbatch --dependency=afterok:JOBID, if another job writes it
  else     one rank asks, and sleeps a second between two looks"""


def polled_file(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of one small file that has nearly all opens and stats of a layer."""
    best, longest = None, 0.0
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        asked = table["OPENS"] + table.get("STATS", 0.0)
        asked = np.where(of_libraries(job, table), 0.0, asked)
        at = int(asked.argmax())
        looks = float(asked[at] / table["ranks"][at])
        small = max(table["MAX_BYTE_READ"][at], table["MAX_BYTE_WRITTEN"][at]) < limits["small_transfer"]
        alone = asked[at] >= _MOSTLY * asked.sum() and asked[at] >= _RARELY * _writes(job, int(table["id"][at]))
        if not small or not alone or looks < limits["repeats"]:
            continue
        spent = slowest_seconds(job, name, table["id"][at : at + 1], ("META", "READ"))
        if spent.about <= longest or not enough_calls(job, limits, float(asked[at]), spent):
            continue
        longest = spent.about
        done = {"open": table["OPENS"][at], "stat": table.get("STATS", asked * 0)[at], "read": table["READS"][at]}
        calls = ", ".join(say.count(float(number), call) for call, number in done.items() if number)
        evidence = (
            f"{say.files(job, table['id'][at : at + 1])} is polled: {calls} of one small file that is hardly ever "
            f"written; they took {say.seconds(spent)} on the slowest rank."
        )
        best = Seen(
            evidence, spent, "It assumes that these calls take no time on the slowest rank.", POLLED_FILE_REMEDY
        )
    return best


def _writes(job: Job, file: int) -> float:
    """Returns the number of writes to a file in both layers: a C++ stream opens in one and writes in the other."""
    tables = [table for table in (by_file(job, name) for name in ("POSIX", "STDIO")) if table is not None]
    return sum(float(table["WRITES"][table["id"] == file].sum()) for table in tables)


POLLED_FILE = Rule(
    id="polled-file",
    title="A file is polled",
    says="one file of at most `small_transfer` bytes, which is hardly ever written, has nearly all opens and stats, "
    "`repeats` or more for each rank, and these are many or costly",
    limits=("small_transfer", "repeats", "few_calls", "some_calls", "worth_gain"),
    why="A program that asks again and again keeps a core and a metadata server busy, and hears of the change late.",
    read_more="man inotify(7)",
    check=polled_file,
    exhibit="costly_files",
    bounds="metadata",
    gauges=("size", "balance"),
    before=("metadata-storm", "reopened", "one-place", "small-reads", "read-again"),
)


REOPENED_REMEDY = """\
Open before the loop, and close after it:

  C        FILE *file = fopen(path, "a");
           for (step ...) fprintf(file, ...);
           fclose(file);
  Fortran  open (unit, ...) before the loop; not in it with position='append'
  Python   with h5py.File(path, 'a') as file:
               for step in steps: file['data'][step] = array"""


def reopened(job: Job, limits: Limits) -> Seen | None:
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
        REOPENED_REMEDY,
    )


REOPENED = Rule(
    id="reopened",
    title="The same files are opened again and again",
    says="each rank opens the files that it uses at least `reopens` times, and there are many opens in all",
    limits=("reopens", "many_opens"),
    why="Each open and close asks the metadata server, and a close may flush.",
    read_more="https://docs.nersc.gov/performance/io/",
    check=reopened,
    exhibit="operations",
    gauges=("balance",),
    bounds="metadata",
)


NEVER_READ_REMEDY = """\
Shorten the search, or search where it is cheap:

  - a container image, or a copy of the environment in /tmp or /dev/shm of
    each node;
  - fewer folders in PYTHONPATH and LD_LIBRARY_PATH;
  - python -X importtime app.py      # which imports are not needed
  - let one rank search, and broadcast the result (MPI_Bcast)."""


def never_read(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of many files without a byte, and the time of their metadata calls."""
    table = by_file(job, "POSIX")
    if table is None:
        return None
    untouched = (table["BYTES_READ"] + table["BYTES_WRITTEN"] == 0) & (table["OPENS"] + table["STATS"] > 0)
    if int(untouched.sum()) < max(1.0, limits["many_files"]):
        return None
    untouched &= of_libraries(job, table)
    ranks = job.records["POSIX"]["rank"][untouched[file_records(job, "POSIX").file]]
    each = np.bincount(ranks[ranks >= 0], minlength=1).max() + int((ranks < 0).sum())
    if each < max(1.0, limits["many_files"]):
        return None
    ids = table["id"][untouched]
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    calls = float((table["OPENS"] + table["STATS"])[untouched].sum())
    evidence = (
        f"{say.count(len(ids), 'file')} of libraries and modules were opened or looked up but never read or written, "
        f"up to {say.count(float(each))} by one rank: {say.count(calls, 'call')}, {say.seconds(spent)} on the slowest "
        f"rank."
    )
    return Seen(evidence, spent, "It assumes that these calls take no time on the slowest rank.", NEVER_READ_REMEDY)


NEVER_READ = Rule(
    id="never-read",
    title="Files are opened or looked up, and never read",
    says="a rank opens or looks up `many_files` or more files of libraries and modules without reading or writing them",
    limits=("many_files",),
    why="This is a search through folders, as when Python starts, and all ranks ask the same metadata server at once.",
    read_more="`python -X importtime`; https://docs.nersc.gov/development/languages/python/parallel-python",
    check=never_read,
    exhibit="operations",
    bounds="metadata",
    gauges=("balance",),
    before=("metadata-storm",),
)
