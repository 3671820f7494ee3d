"""The texts of the files beside the C file of a mini-app."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.lab.mimic.calls import CallKind
from iolens.lab.mimic.ior_command import ior_command
from iolens.lab.mimic.mdtest_command import mdtest_command

if TYPE_CHECKING:
    from iolens.lab.mimic.calls import Trace

_WRITES = (
    CallKind.WRITE,
    CallKind.MPI_WRITE,
    CallKind.MPI_WRITE_ALL,
    CallKind.MPI_WRITE_SPLIT,
    CallKind.MPI_WRITE_LATER,
)
_READS = (CallKind.READ, CallKind.MPI_READ, CallKind.MPI_READ_ALL, CallKind.MPI_READ_SPLIT, CallKind.MPI_READ_LATER)


def makefile(trace: Trace) -> str:
    """Returns a Makefile that builds and runs the program."""
    return f"""CC = mpicc
CFLAGS = -O2
LDLIBS = -ldl
RANKS = {trace.nprocs}
DATA = data

mimic: mimic.c
\t$(CC) $(CFLAGS) -o $@ $< $(LDLIBS)

run: mimic
\tmpirun -np $(RANKS) ./mimic --directory $(DATA)

clean:
\trm -rf mimic $(DATA)

.PHONY: run clean
"""


def experiment_of(trace: Trace) -> str:
    """Returns an experiment for `iolens sweep` that runs the program on emulated storage with other stripes."""
    return f"""# iolens sweep experiment.yaml, after make: the mini-app with other stripes
name: mimic
title: mini-app of a recorded run, {trace.nprocs} ranks
workload:
  program: ./mimic
  arguments: [--directory, "{{directory}}", --json, "{{json}}"]
  ranks: {trace.nprocs}
  volume: {_volume(trace)}
matrix:
  stripe_count: [1, 2, 4]{_aggregators(trace)}
repetitions: 3
report:
  metric: {_metric(trace)}
"""


def _aggregators(trace: Trace) -> str:
    """Returns the line of the matrix about aggregators, for a run with collective transfers."""
    together = (CallKind.MPI_WRITE_ALL, CallKind.MPI_READ_ALL, CallKind.MPI_WRITE_SPLIT, CallKind.MPI_READ_SPLIT)
    levels = [count for count in (1, 2, 4) if count <= trace.nprocs]
    return f"\n  aggregators: {levels}" if np.isin(trace.calls.kind, together).any() else ""


def _metric(trace: Trace) -> str:
    """Returns the metric of the experiment: the bandwidth of the direction in which the run moved more bytes; run time
    if it moved none.
    """
    moved = {
        f"{name}_bandwidth": int(trace.calls.length[np.isin(trace.calls.kind, kinds)].sum())
        for name, kinds in (("write", _WRITES), ("read", _READS))
    }
    return max(moved, key=lambda name: moved[name]) if any(moved.values()) else "run_time"


def _volume(trace: Trace) -> int:
    """Returns the most bytes that one run writes, including the files that it expects to find."""
    before = sum(file.before or 0 for file in trace.files)
    return before + int(trace.calls.length[np.isin(trace.calls.kind, _WRITES)].sum())


def readme_of(trace: Trace, steps: int, names: bool) -> str:
    """Returns the README: how to run the program, in what it agrees with the recorded run, and in what it differs."""
    counts = np.bincount(trace.calls.kind, minlength=len(CallKind)).tolist()
    made = "\n".join(f"| {kind.name} | {counts[kind]} |" for kind in CallKind if counts[kind])
    moved = int(trace.calls.length[np.isin(trace.calls.kind, (*_WRITES, *_READS))].sum())
    lost = "\n".join(f"- {note}" for note in trace.notes) or "- Nothing except what the next section lists."
    component = f" The recorded run used the MPI-IO component {trace.component}." if trace.component else ""
    named = "The files have their own names, without folders." if names else "The files are named by number."
    return f"""# A mini-app of a recorded run

`mimic.c` makes the I/O calls of a run of {trace.nprocs} ranks that took {trace.run_time:.1f} s. Its table has
{steps} steps for {len(trace.calls)} calls that move {moved} bytes.

```sh
make run                          # build, and run in ./data
iolens run --dxt -- mpirun -np {trace.nprocs} ./mimic --directory DIR
iolens sweep experiment.yaml      # with other stripes
```

`--json FILE` writes the bytes that all ranks moved, and the seconds that the slowest rank spent in writing, flushing
and closing, and in reading: the sweep takes its bandwidths from there.

Files in DIR that have the names of the mini-app's files are replaced: use a folder of its own.

`--spin` computes where the recorded program computed, `--no-wait` leaves these times out, `--prepare` only makes the
files that the program found. Calls below MPI-IO are the same if the program uses the MPI library of the recorded
run.{component}

## Kept

Files and who shares them, kinds and order of calls on each rank, offsets and sizes, communicators and access modes of
MPI-IO, views, hints, and the time between calls as waiting. {named} The data are a fixed pattern.
{_pattern_text(trace)}
| call | times, all ranks |
|---|---|
{made}

## Not kept

{lost}

## Made in another way

- A read or write at the file's position is made with its offset (pread, pwrite), and a vector as one piece.
- A read asks for as many bytes as the recorded one got. A file is made as large as its reads need before the run.
- Threads of a rank become one thread: their calls are made in the order in which they ended.
- Transfers of MPI-IO are made from contiguous memory, with explicit offsets and bytes as elementary type.
- Streams (stdio) are known only by their counts: their bytes are spread evenly over their calls.
- Files lie in one folder. Memory-mapped accesses, locks, links and failed calls are not made.
- Waits are means over the repetitions of a loop, and over ranks that differ by less than a tenth.
"""


def _pattern_text(trace: Trace) -> str:
    """Returns the command line of IOR or mdtest for the same calls; empty if the pattern is of neither."""
    arguments = ior_command(trace)
    if arguments is not None:
        said, command = "The transfers are a pattern of IOR, which makes the same transfers on a file DATA", "ior"
        option = "-o DATA"
    else:
        arguments = mdtest_command(trace)
        said, command = "The files are a pattern of mdtest, which makes the same files in a folder DATA", "mdtest"
        option = "-d DATA"
    if arguments is None:
        return ""
    return f"""
{said}, without the waiting:

```sh
mpirun -np {trace.nprocs} {command} {arguments} {option}
```
"""
