"""A job's summary as pages of exhibits. A page with nothing to show is left out."""

from __future__ import annotations

import re
from pathlib import Path

from iolens.log import Job
from iolens.metrics.job.interfaces import mpiio
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, PageLayout, Row, Table, Text, abreast, laid_out
from iolens.pages.exhibits.counted import HEAP, TRACED, TRACING_COST, of_the_run
from iolens.pages.exhibits.files import (
    CONNECTIONS,
    COSTLY_FILES,
    FAILED_CALLS,
    FILE_COUNTS,
    FILE_LOCKS,
    FILE_SYSTEMS,
    GPU_STORAGE,
    HTTP_REQUESTS,
    MAPPED_FILES,
    OTHER_CALLS,
    RINGS,
    SHARED_FILES,
)
from iolens.pages.exhibits.mpi_ranks import (
    LATE_RECEIVES,
    MPI_CALLS,
    MPI_DISTANCE,
    MPI_FUNCTIONS,
    MPI_MESSAGES,
    MPI_NODES,
    MPI_PEERS,
    MPI_SETTINGS,
    NODE_PLACES,
    RANK_ORDERS,
)
from iolens.pages.exhibits.operations import (
    ACCESS_SIZES,
    AGGREGATORS,
    ALIGNMENT,
    COLLECTIVES,
    COMMON_SIZES,
    HDF5_SETTINGS,
    HINTS,
    NOT_COLLECTIVE,
    OPERATIONS,
    OTHER_MPIIO_CALLS,
    PATTERN,
)
from iolens.pages.exhibits.overview import (
    AVERAGE_IO,
    CLOCKS,
    HOSTS,
    IO_COST,
    MODULES,
    PERFORMANCE,
    PROGRAMS,
    START_UP,
    UNKNOWN,
    gauge_pairs,
)
from iolens.pages.exhibits.processor_time import (
    EFFICIENCIES,
    HOT_LINES,
    PROFILE,
    PROFILE_TIME,
    REGIONS,
    SAMPLING,
    STEPS,
    THREAD_BALANCE,
    TIME_PARTS,
)
from iolens.pages.exhibits.ranks import FEW_RANKS, PROCESSES, RANK_BALANCE
from iolens.pages.exhibits.striping import CEPH_LAYOUTS, LAYOUTS, LUSTRE_CLIENT, STRIPE_RANKS, TARGET_BYTES, TARGETS
from iolens.pages.exhibits.timelines import PERIODS, PLACES, RANK_SPANS, SHARED_SPANS, activity_maps
from iolens.pages.exhibits.waits import CRITICAL_PATH, WAIT_STATES, WAITS_BY_CAUSE, WHAT_IF
from iolens.pages.job.time_bar import time_bar
from iolens.pages.output.document import write_document
from iolens.pages.text.lines import middle
from iolens.pages.wording.job_judgement import all_findings, first_action, judgement
from iolens.pages.wording.job_words import fact_columns, job_subtitle, labels, title, verdicts


def _several_nodes(job: Job) -> list[Block]:
    """Returns the rank orders, if the job had several nodes and orders can differ."""
    found = RANK_ORDERS.frame(job)
    return RANK_ORDERS.tables(job) if found is not None and found["nodes"].max() > 1 else []


def _profile(job: Job) -> list[Block]:
    """Returns the profile from samples; without samples, the profile from timed calls, if more than calls on files was
    traced.
    """
    if PROFILE.rows(job) is None and {"mpi_calls", "traced"} & set(job.private):
        return PROFILE_TIME.tables(job)
    return PROFILE.tables(job)


TIME_PAGE: PageLayout[Job] = PageLayout(
    "Computing, MPI and I/O",
    [
        TIME_PARTS.figures,
        TIME_PARTS.tables,
        EFFICIENCIES.tables,
        THREAD_BALANCE.tables,
        STEPS.tables,
    ],
)

PROCESSOR_PAGES: tuple[PageLayout[Job], ...] = (
    PageLayout(
        "Where the processors were",
        [
            PROFILE.figures,
            _profile,
            HOT_LINES.tables,
            REGIONS.tables,
            TRACED.tables,
            TRACING_COST.tables,
            HEAP.tables,
            of_the_run,
            SAMPLING.tables,
        ],
    ),
    PageLayout(
        "MPI",
        [
            MPI_CALLS.tables,
            MPI_FUNCTIONS.tables,
            MPI_MESSAGES.tables,
            abreast(MPI_MESSAGES.figures, MPI_PEERS.figures),
            abreast(MPI_DISTANCE.figures, MPI_NODES.tables),
            LATE_RECEIVES.tables,
            NODE_PLACES.tables,
            _several_nodes,
            MPI_SETTINGS.tables,
        ],
    ),
)
"""The pages from top to bottom; a page is left out if the log did not measure its contents."""


_LEAST = 0.995
"""Ratio of bytes in POSIX calls to bytes in MPI-IO calls below which the page explains why there may be fewer."""

_FEW_ROWS = 12
"""Maximum number of rows of tables that may stand side by side."""

_LONGEST = 160
"""Maximum length of a fact on the first page, in characters."""

_FOLDERS = re.compile(r"(?<![^\s=:,'\"])(?:/+[^\s/'\"]+){2,}/+(?=[^\s/'\"])")
"""Matches all folders of a path with two or more of them; the path's last part is not matched."""


def write_job(job: Job, path: Path) -> None:
    """Writes the summary of a job, a PDF or an HTML page; raises IolensError if it cannot be written."""
    write_document(path, title(job), job_subtitle(job), laid_out(PAGES, job), labels(job))


def _summary(job: Job) -> list[Block]:
    """Returns the facts of the job, and the amounts that were transferred."""
    parts = [[[name, _brief_fact(value)] for name, value in part] for part in fact_columns(job)]
    blocks: list[Block] = [Row([Table("", ["", ""], part) for part in parts])]
    return blocks + [Text(sentence) for sentence in verdicts(job)]


def _brief_fact(value: str) -> str:
    """Returns a fact for the first page. The folders in a long fact are left out, so that a command keeps its program
    and options. If it is still too long, its middle is left out, too.
    """
    brief = value if len(value) <= _LONGEST else _FOLDERS.sub("…/", value)
    return brief if len(brief) <= _LONGEST else middle(brief, _LONGEST)


def _byte_ratios(job: Job) -> list[Block]:
    """Returns a sentence about the bytes that POSIX moved for MPI-IO."""
    ratios = list(mpiio.byte_ratios(job).values())
    each = [
        f"{verb} {value:.2f} bytes for each byte that MPI-IO {verb}"
        for verb, value in zip(("read", "wrote"), ratios, strict=True)
        if value is not None
    ]
    said = [f"In the files that both recorded, POSIX {', and '.join(each)}."] if each else []
    said += [
        f"POSIX read {words.size(moved)} of files that MPI-IO only wrote: it reads before it writes into the gaps "
        "(data sieving), or another library read."
        for moved in [mpiio.read_unasked(job)]
        if moved
    ]
    if any(value is not None and value < _LEAST for value in ratios):
        said.append("Less than one: bytes came from a buffer, or were asked for past the end of a file.")
    return [Text(" ".join(said))] if said else []


def meeting_ranks(job: Job) -> list[Block]:
    """Returns the exhibit of ranks on the stripes of files; nothing if no stripe has two ranks."""
    found = STRIPE_RANKS.frame(job)
    return list(STRIPE_RANKS.tables(job)) if found is not None and (found["most_ranks"] > 1).any() else []


def rank_balance_blocks(job: Job) -> list[Block]:
    """Returns the bytes of each rank as bars and as a table, side by side if the bars leave room."""
    found = [*RANK_BALANCE.figures(job), *RANK_BALANCE.tables(job)]
    return [Row(found)] if len(found) == 2 and job.nprocs <= FEW_RANKS else found


def about_log(job: Job) -> list[Block]:
    """Returns the tables of hosts and modules, side by side if both are small."""
    found = [block for part in (PROGRAMS.tables, HOSTS.tables, MODULES.tables) for block in part(job)]
    small = [block for block in found if isinstance(block, Table) and len(block.rows) <= _FEW_ROWS]
    remarks = any("remark" in table.columns for table in small)
    return [Row(found)] if len(small) == len(found) == 2 and not remarks else found


PAGES: tuple[PageLayout[Job], ...] = (
    PageLayout(
        "Job summary",
        [judgement, first_action, time_bar, gauge_pairs, _summary],
        alone=True,
    ),
    PageLayout("Advice", [all_findings]),
    TIME_PAGE,
    PageLayout(
        "Why it took so long",
        [WHAT_IF.tables, CRITICAL_PATH.figures, WAITS_BY_CAUSE.tables, WAIT_STATES.tables, CRITICAL_PATH.tables],
    ),
    PageLayout(
        "Where the time went",
        [PERFORMANCE.tables, abreast(IO_COST.figures, OPERATIONS.figures), AVERAGE_IO.tables],
    ),
    PageLayout(
        "How it was accessed",
        [
            abreast(ACCESS_SIZES.figures),
            abreast(PATTERN.figures, COMMON_SIZES.tables),
            ALIGNMENT.tables,
        ],
    ),
    PageLayout(
        "Files and file systems",
        [
            FILE_COUNTS.tables,
            FILE_SYSTEMS.tables,
            COSTLY_FILES.tables,
            OTHER_CALLS.tables,
            FILE_LOCKS.tables,
            MAPPED_FILES.tables,
            FAILED_CALLS.tables,
            RINGS.tables,
            START_UP.tables,
            CONNECTIONS.tables,
            HTTP_REQUESTS.tables,
            GPU_STORAGE.tables,
        ],
    ),
    PageLayout(
        "When",
        [
            activity_maps,
            PERIODS.tables,
            PLACES.figures,
            abreast(RANK_SPANS.figures),
            SHARED_SPANS.figures,
        ],
    ),
    PageLayout(
        "Ranks and shared files",
        [
            rank_balance_blocks,
            abreast(PROCESSES.figures),
            PROCESSES.tables,
            SHARED_FILES.tables,
        ],
    ),
    PageLayout(
        "Striping and MPI-IO",
        [
            LAYOUTS.tables,
            CEPH_LAYOUTS.tables,
            TARGETS.figures,
            TARGET_BYTES.figures,
            TARGET_BYTES.tables,
            meeting_ranks,
            LUSTRE_CLIENT.tables,
            HINTS.tables,
            HDF5_SETTINGS.tables,
            NOT_COLLECTIVE.tables,
            AGGREGATORS.tables,
            COLLECTIVES.tables,
            OTHER_MPIIO_CALLS.tables,
            _byte_ratios,
        ],
    ),
    *PROCESSOR_PAGES,
    PageLayout("About this log", [UNKNOWN.tables, CLOCKS.tables, about_log]),
)
"""The pages from top to bottom."""
