"""Samples: where the time went by group, function, line, thread, region and chain of callers."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.log.samples import held_samples
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask
from iolens.metrics.processor.regions import region_paths
from iolens.metrics.processor.sampled.call_chains import (
    Chain,
    chains,
    frame_name,
    numbered_columns,
    table_frame,
    table_records,
)
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer
from iolens.metrics.processor.sampled.groups import (
    BLAS,
    ETC,
    FFT,
    HEAP,
    MATH,
    MPI,
    MPIIO,
    OMP,
    POSIX,
    STDIO,
    STRING,
    TOOL,
    USER,
    group_of,
)
from iolens.symbols.chains import RECORDER, of_a_wait
from iolens.symbols.elf import read_elf
from iolens.symbols.function_names import GENERATED, is_interpreter, is_python

if TYPE_CHECKING:
    from iolens.log.records import Records


HELD = frozenset((MPI, MPIIO, POSIX, STDIO, BLAS, FFT, OMP))
"""Groups whose calls are charged with all samples in them, including those in functions that they call."""

_ENTRY = frozenset((MATH, HEAP, STRING, ETC, TOOL))
"""Groups that are charged with samples only if they do not call a group of `HELD` in turn: if HDF5 calls MPI-IO, the
time belongs to MPI-IO.
"""

LEVELS = Levels(("group", "function", "source", "line", "caller", "region", "thread", "state"), ("group", "function"))
_SAMPLES = Measures("samples", ("on_core",))


@once_per_job
def profile(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns samples of an average rank by group and function: rows of `drill`, with the threads of a rank added up,
    except `library_threads`.

    A sample belongs to the user's own function that was running, or to the library function that the innermost user
    function called: `MPI_Allreduce`, `pwrite`, `dgemm_`, `sin`. If calls of MPI, I/O, BLAS, FFT or OpenMP are nested,
    it belongs to the outermost of them.
    """
    return answer(job, _asked_rows(job, ask), LEVELS, _SAMPLES, ask)


@once_per_job
def sampled_lines(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns `profile` down to source files and lines, for functions whose program has debug information."""
    levels = Levels(LEVELS.known, ("group", "function", "source", "line"))
    return answer(job, _asked_rows(job, ask), levels, _SAMPLES, ask)


@once_per_job
def callers(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns `profile` from the innermost function outwards: each function, its callers, and their callers."""
    levels = Levels(LEVELS.known, ("function", "caller"))
    return answer(job, _asked_rows(job, ask), levels, _SAMPLES, ask)


@once_per_job
def calltree(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the call tree from the main function inwards; a row's samples are its own and those of everything that it
    called.
    """
    levels = Levels((*LEVELS.known, "frame"), ("frame",))
    return answer(job, _asked_rows(job, ask), levels, _SAMPLES, ask)


@once_per_job
def hot_lines(job: Job, limit: int = 15) -> pd.DataFrame | None:
    """Returns the program's own lines with the most samples: function, source, line, samples (of an average rank),
    share (per cent of all samples), most and most_rank. None if no line is known.
    """
    rows = sample_rows(job)
    if rows is None or not (rows["line"] != "").any():
        return None
    ranks, whole = max(job.nprocs, 1), float(rows["samples"].sum())
    keys = ["function", "source", "line"]
    each = rows[rows["line"] != ""].groupby([*keys, "rank"])["samples"].sum().reset_index()
    best = each.sort_values("samples", ascending=False, kind="stable").drop_duplicates(keys).set_index(keys)
    total = each.groupby(keys)["samples"].sum()
    found = pd.DataFrame({"samples": total / ranks, "share": 100 * total / whole})
    found = found.join(best.rename(columns={"samples": "most", "rank": "most_rank"}))
    return found.nlargest(limit, "samples").reset_index()


def why_no_lines(job: Job) -> str:
    """Returns the first reason why `hot_lines` is None for a sampled job; "" for a job without samples, or with known
    lines.
    """
    rows = sample_rows(job)
    if rows is None or (rows["line"] != "").any():
        return ""
    own = rows[rows["group"] == USER]
    if own.empty:
        return "no sample was in the program's own functions"
    if (own["source"] != "").any():
        return "for code generated at run time (Python), functions are known but lines are not"
    if not (own["symbol"] != "").any():
        return "the program's file is missing, was rebuilt after the run, or is stripped"
    if not shutil.which("addr2line"):
        return "this machine lacks addr2line (binutils), which finds source lines"
    return "the program has no debug information here (compile it with -g)"


@once_per_job
def sampling(job: Job) -> Records | None:
    """Returns one row per timer about the quality of sampling: threads, asked_hz, hz (in effect: interruptions over the
    duration), lost (per cent of the periods), cut (per cent of the samples: their outermost callers are not known),
    cost (per cent of the duration spent in taking them). Returns None if the program was not sampled.
    """
    rows = table_records(job, "sampling")
    if rows is None:
        return None
    same = Groups(rows["timer"], rows["asked_hz"])
    samples, stacks, lost, cut, duration, handler_time = (
        same.sum(rows[name].astype(float)) for name in ("samples", "stacks", "lost", "cut", "duration", "handler_time")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            "timer": rows["timer"][same.first],
            "threads": same.sizes,
            "asked_hz": rows["asked_hz"][same.first],
            "hz": stacks / duration,
            "lost": 100 * lost / (samples + lost),
            "cut": 100 * cut / stacks,
            "cost": 100 * handler_time / duration,
        }
    return ordered(Records(found), "timer", "asked_hz")


def _asked_rows(job: Job, ask: Ask) -> pd.DataFrame | None:
    """Returns the samples of all threads if the request says so; otherwise the cached rows that other metrics use."""
    return sample_rows(job, every_thread=True) if ask.every_thread else sample_rows(job)


@once_per_job
def sample_rows(job: Job, every_thread: bool = False) -> pd.DataFrame | None:
    """Returns the private table `samples` with group, function, source, line, `caller 1` …, and, from the outermost
    function inwards, `frame 1` …; for the program's own functions also the linker's name and the path of the object
    file.

    Running samples are limited by the processor time (`held_samples`); `blocked` is True for samples in system calls
    and of threads that could not be interrupted. Without `every_thread`, `library_threads` are left out.
    """
    rows = held_samples(job)
    if rows is None:
        return None
    known = chains(job)
    keys = zip(rows["rank"].tolist(), rows["node"].tolist(), (rows["kind"] > 0).tolist(), strict=True)
    places = [place_of(known.get((rank, node), ()), waits) for rank, node, waits in keys]
    found = rows[["rank"]].assign(
        samples=rows["count"],
        on_core=rows.get("on_core", np.nan),
        thread=[f"thread {number}" for number in rows["thread"]],
        region=region_paths(job, rows["region"]),
        state=np.where(rows["waits"], "waiting", "running"),
        blocked=rows["kind"] > 0,
        group=[place.group for place in places],
        function=[place.function for place in places],
        source=[place.source for place in places],
        line=[place.line for place in places],
        symbol=[place.symbol for place in places],
        object=[place.object for place in places],
        **numbered_columns("caller", [place.path[-2::-1] for place in places]),
        **numbered_columns("frame", [place.path for place in places]),
    )
    others = frozenset() if every_thread else library_threads(job)
    threads = zip(rows["rank"].tolist(), rows["thread"].tolist(), strict=True)
    return found[[thread not in others for thread in threads]]


@once_per_job
def library_threads(job: Job) -> frozenset[tuple[int, int]]:
    """Returns rank and number of the threads that libraries started for themselves, as MPI does: threads other than a
    rank's first one whose sampled chains have no function of the program.
    """
    rows = table_frame(job, "samples")
    if rows is None:
        return frozenset()
    known = chains(job)
    threads, own = set(), set()
    columns = (rows[name].tolist() for name in ("rank", "thread", "node", "kind"))
    for rank, thread, node, kind in zip(*columns, strict=True):
        threads.add((rank, thread))
        if thread == 0 or place_of(known.get((rank, node), ()), kind > 0).own:
            own.add((rank, thread))
    return frozenset(threads - own)


@once_per_job
def is_sampled(job: Job) -> bool:
    """Returns True if samples cover all time; samples by the processor's clock miss the time spent waiting."""
    rows = table_records(job, "sampling")
    return sample_rows(job) is not None and not (rows is not None and bool((rows["timer"] == "cpu").any()))


@dataclass(frozen=True)
class SamplePlace:
    """The attributes of a sample: group, function, its source and line if it is the program's own, and the functions
    from `main` to it. `own` is True if a function of the program is in the chain. `symbol` and `object` are the
    linker's name and the file of a function of the program.
    """

    group: str
    function: str
    source: str
    line: str
    path: tuple[str, ...]
    own: bool
    symbol: str = ""
    object: str = ""


_NOWHERE = SamplePlace(ETC, "(chain not kept)", "", "", ("(chain not kept)",), own=True)


@lru_cache(maxsize=1 << 16)
def place_of(chain: Chain, waits: bool) -> SamplePlace:
    """Returns the place to which a chain's samples are charged; `waits` is True if the samples are in a system call.

    Samples in the interpreter belong to the Python function that the interpreter runs, if the function's name is known.
    """
    chain = of_a_wait(chain) if waits else chain
    if not chain:
        return _NOWHERE
    group, owner, own, in_python = "", 0, False, False
    for number, frame in enumerate(chain):
        if in_python and is_interpreter(frame.object):
            continue
        in_python = in_python or is_python(frame.symbol)
        one = TOOL if frame.function == RECORDER else group_of(frame.function, frame.object)
        own = own or one == USER
        keeps = group in HELD or (group in _ENTRY and one not in HELD)
        if one in (USER, TOOL) or not keeps:
            group, owner = one, number
    frame = chain[owner]
    path = _path_of(chain[: owner + 1], group)
    if group != USER:
        return SamplePlace(group, path[-1], "", "", path, own)
    place = (PurePosixPath(frame.source).name, f"line {frame.line}" if frame.line else "")
    return SamplePlace(group, frame_name(frame), *place, path, own, frame.symbol, frame.object)


def _path_of(chain: Chain, group: str) -> tuple[str, ...]:
    """Returns the names of the functions of a chain; functions of an OpenMP library without symbols are named by what
    they do. `group` is the group of the innermost frame. A worker thread begins in the library: if no function of the
    program is in its chain, the thread has no work, or waits at the end of a parallel region. If the program calls a
    barrier or a lock, the library jumps to its inner functions, so that the called name is not in the chain.
    """
    names, own = [], False
    for frame in chain:
        one = group_of(frame.function, frame.object)
        own = own or one == USER
        names.append(f"worker thread ({frame.module})" if one == OMP and not own else frame_name(frame))
    last = chain[-1]
    if group == OMP and not own:
        names[-1] = f"idle worker ({last.module})"
    elif group == OMP and not last.symbol and last.function.startswith("0x"):
        names[-1] = f"barrier or lock ({last.module})"
    return tuple(names)


@once_per_job
def own_functions(job: Job) -> pd.DataFrame | None:
    """Returns symbol (the linker's name), object (path of its file), share (per cent of the program's own samples),
    bytes (its size in the object file; 0: not known), the busiest first; None if nothing was sampled.

    An inlined function counts as part of the function that contains it. Functions that the program generated at run
    time are left out, and so are Python functions.
    """
    own = _own_samples(job)
    if own is None:
        return None
    generated = (own["object"] == GENERATED) | own["symbol"].map(is_python)
    known = own[(own["symbol"] != "") & ~generated]
    sums = known.groupby(["symbol", "object"])["samples"].sum().sort_values(ascending=False, kind="stable")
    found = (100 * sums / max(float(own["samples"].sum()), 1)).rename("share").reset_index()
    sizes = [size_of(name, path) for name, path in zip(found["symbol"], found["object"], strict=True)]
    return found.assign(bytes=sizes)


def _own_samples(job: Job) -> pd.DataFrame | None:
    """Returns the samples in the program's own functions; None if nothing was sampled."""
    rows = sample_rows(job)
    return None if rows is None else rows[rows["group"] == USER]


def group_shares(job: Job) -> dict[str, float]:
    """Returns the share of each group of functions in all samples (per cent), largest first; empty without samples."""
    rows = sample_rows(job)
    if rows is None or not rows["samples"].sum():
        return {}
    sums = rows.groupby("group")["samples"].sum().sort_values(ascending=False, kind="stable")
    return {str(group): 100 * float(count) / float(sums.sum()) for group, count in sums.items()}


def size_of(symbol: str, path: str) -> int:
    """Returns the size of a function in bytes; 0 if its file does not tell. If the compiler kept only specialised
    versions of it (`solve.isra.0`, `solve.constprop.1`), the size of the largest version counts.
    """
    elf = read_elf(Path(path))
    if symbol in elf.names:
        return int(elf.sizes[elf.names.index(symbol)])
    found = (int(size) for name, size in zip(elf.names, elf.sizes, strict=True) if name.startswith(f"{symbol}."))
    return max(found, default=0)
