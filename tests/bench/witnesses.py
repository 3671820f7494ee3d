"""Compares one recorded run of BT-IO with witnesses that know nothing of the profiler: `iolens run --trace mpi,io
--sample` makes one log, whose messages, transfers and calls are compared with

- the arithmetic of BT itself: time steps, cells and pencils, by rank;
- Open MPI's pml_monitoring, in a run of the same program without the profiler (and without the dumps, whose messages
  are MPI-IO's own);
- strace, in a second such run: calls of read and write on the data file, and their bytes;
- mpiP, in a third such run, if MPIP_LIB names its libmpiP.so: calls by function, bytes sent;
- Darshan's tools on the same log: PyDarshan, its command, and darshan-parser where DARSHAN_PARSER names it.

Then tests/c/mpi_book.f90, which uses mpi_f08, is recorded in the same way, if there is a compiler for it and the number
of ranks is even. It keeps a book of every call that it makes. The log's tables, and its APMPI records as PyDarshan
reads them, are compared with this book.

    .venv/bin/python tests/bench/witnesses.py [--class S] [--ranks 4] [--out DIR]

Every table of the log as text, CSV and JSON, the report as PDF and HTML, and all exports are made on the way. Prints a
line for each figure; the exit code is 1 when two of them differ.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from iolens.cli.main import main as command
from iolens.lab.run.mpi_launch import openmpi
from iolens.log import Job, read_log

ROOT = Path(__file__).resolve().parents[2]
BTIO = ROOT / "build/bin/btio"
SCRIPTS = Path(sys.executable).parent

CLASSES = {"S": (12, 60), "W": (24, 200), "A": (64, 200), "B": (102, 200)}
"""Grid points along an edge, and time steps, of each class."""
INTERVAL, GHOSTS, COMPONENTS, DOUBLE = 5, 2, 5, 8
WAITING_BYTES = 512 * 1024
ROW, FIRST = 5 * 6, 5
"""Numbers of vectors that a pencil sends in the forward and in the backward sweep of the solver."""

EXPORTS = ("collapsed", "speedscope", "pprof", "chrome", "hatchet")
SETTINGS = openmpi.openmpi_variables(["as root", "oversubscribed", "yielding"], None)
MONITORING = "pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename seen"
DARSHAN = """
import json, sys, darshan
report = darshan.DarshanReport(sys.argv[1], read_all=True)
said = {"nprocs": report.metadata["job"]["nprocs"]}
for module in ("POSIX", "MPI-IO"):
    counters = report.records[module].to_df()["counters"]
    for name in ("BYTES_WRITTEN", "BYTES_READ"):
        said[f"{module} {name}"] = int(counters[f"{module.replace('-', '')}_{name}"].sum())
for record in list(report.records["APMPI"])[1:]:
    counters = record["all_counters"]
    for name in ("ISEND", "SENDRECV"):
        said[f"{name} bytes"] = said.get(f"{name} bytes", 0) + int(counters[f"MPI_{name}_TOTAL_BYTES"])
        said[f"{name} calls"] = said.get(f"{name} calls", 0) + int(counters[f"MPI_{name}_CALL_COUNT"])
json.dump(said, sys.stdout)
"""
"""Program that reads an APMPI header. It runs in a process of its own, because libdarshan-util reads this header
correctly only as the first record of a process.
"""
APMPI = """
import json, sys, darshan
ranks = list(darshan.DarshanReport(sys.argv[1], read_all=True).records["APMPI"])[1:]
counters = [{name: int(value) for name, value in rank["all_counters"].items() if "TIME" not in name} for rank in ranks]
json.dump(counters, sys.stdout)
"""
SIZES = [f"size_{i}" for i in range(7)]
BOOK = ("calls", "bytes_sent", "bytes_received", "messages", *SIZES)
"""Columns of the expectations that the program prints for each function, in order."""
PEERS = ("messages", "bytes", "received_messages", "received_bytes")


@dataclass(frozen=True)
class Cell:
    """Number of points of a cell in BT's multi-partition scheme: all of them, and those inside the grid's boundary."""

    coordinate: tuple[int, ...]
    size: tuple[int, ...]
    interior: tuple[int, ...]


@dataclass(frozen=True)
class Messages:
    """The calls and the bytes sent that each rank must have, by function."""

    calls: Mapping[str, int]
    sent: Mapping[str, int]


def cells_of(rank: int, edge: int, points: int) -> list[Cell]:
    i, j = rank % edge, rank // edge
    cells = []
    for c in range(edge):
        at = ((i + c) % edge, (j - c) % edge, c)
        size = tuple(points // edge + (a < points % edge) for a in at)
        inside = tuple(s - (a == 0) - (a == edge - 1) for s, a in zip(size, at, strict=True))
        cells.append(Cell(at, size, inside))
    return cells


def lanes() -> int:
    """Returns the number of doubles in a vector of this machine's build (workloads/btio/physics.h)."""
    macros = subprocess.run(
        ["cc", "-march=native", "-dM", "-E", "-"], input="", capture_output=True, text=True, check=True
    )
    return 8 if "__AVX512F__" in macros.stdout else 4


def pencils(cell: Cell, direction: int, width: int) -> int:
    side, layer = ((1, 2), (0, 2), (0, 1))[direction]
    return -(-cell.interior[side] // width) * cell.interior[layer]


def messages_of(rank: int, ranks: int, grid: tuple[int, int]) -> Messages:
    """Returns the expected messages of btio. Each time step, and one step before the first to warm up, exchanges ghost
    planes with six neighbours and solves along three directions, forward and backward through all cells; the forcing
    and the check exchange planes once each.
    """
    points, steps = grid
    edge, width = round(ranks**0.5), lanes()
    everyone = [cells_of(other, edge, points) for other in range(ranks)]
    longest = max(cell.interior[d] for cells in everyone for cell in cells for d in range(3))
    most = max(pencils(cell, d, width) for cells in everyone for cell in cells for d in range(3))
    batch = min(most, max(1, WAITING_BYTES // (ROW * width * DOUBLE) // ((edge - 1) * longest)))
    planes = passed = 0
    for cell in everyone[rank]:
        for d in range(3):
            around = (cell.coordinate[d] > 0) + (cell.coordinate[d] < edge - 1)
            planes += around * GHOSTS * COMPONENTS * cell.size[(d + 1) % 3] * cell.size[(d + 2) % 3] * DOUBLE
            forward, back = cell.coordinate[d] < edge - 1, cell.coordinate[d] > 0
            passed += pencils(cell, d, width) * (forward * ROW + back * FIRST) * width * DOUBLE
    exchanges, advances = steps + 3, steps + 1
    calls = {
        "MPI_Irecv": 6 * exchanges,
        "MPI_Isend": 6 * exchanges,
        "MPI_Waitall": exchanges,
        "MPI_Sendrecv": advances * 3 * 2 * (edge - 1) * -(-most // batch),
    }
    return Messages(calls, {"MPI_Isend": exchanges * planes, "MPI_Sendrecv": advances * passed})


class WitnessTrial:
    """Runs one program several times, each time in a folder of its own."""

    def __init__(self, letter: str, ranks: int, out: Path) -> None:
        self.letter, self.ranks, self.out = letter, ranks, out
        self.differ = 0

    def run(self, name: str, before: Sequence[str], after: Sequence[str], *words: str, **settings: str) -> Path:
        """Runs btio by mpirun in a new folder. The words `before` stand in front of mpirun, the words `after` in front
        of btio.
        """
        folder = self.run_program(name, before, after, str(BTIO), "--class", self.letter, *words, **settings)
        assert "SUCCESSFUL" in (folder / "output").read_text()
        return folder

    def run_program(
        self, name: str, before: Sequence[str], after: Sequence[str], *program: str, **settings: str
    ) -> Path:
        folder = self.out / name
        folder.mkdir(parents=True)
        command = [*before, "mpirun", "-np", str(self.ranks), *after, *program]
        surroundings = {**os.environ, **SETTINGS, **settings}
        with open(folder / "output", "w") as output:
            subprocess.run(command, cwd=folder, env=surroundings, stdout=output, stderr=output, check=True)
        return folder

    def same(self, what: str, ours: float, theirs: float, who: str, within: float = 0.0) -> None:
        """Prints two numbers and counts a difference if `ours` is farther from `theirs` than the share `within`."""
        same = abs(ours - theirs) <= within * theirs
        self.differ += not same
        print(f"{what:46}{ours:>16,.0f}{theirs:>16,.0f}  {who:18}{'same' if same else 'DIFFERENT'}")


def hold_to_arithmetic(trial: WitnessTrial, job: Job, dumps: int) -> None:
    calls = job.private["mpi_calls"].groupby(["rank", "function"])[["calls", "bytes_sent"]].sum()
    points, _ = CLASSES[trial.letter]
    for rank in range(trial.ranks):
        wanted = messages_of(rank, trial.ranks, CLASSES[trial.letter])
        for function in ("MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Sendrecv"):
            row = calls.loc[(rank, function)]
            trial.same(f"rank {rank} {function} calls", row["calls"], wanted.calls[function], "arithmetic")
            if function in wanted.sent:
                trial.same(f"rank {rank} {function} bytes", row["bytes_sent"], wanted.sent[function], "arithmetic")
    collective = job.frames["MPI-IO"].sum(numeric_only=True)
    moved = dumps * points**3 * COMPONENTS * DOUBLE
    for kind, done in (("WRITE", "WRITTEN"), ("READ", "READ")):
        trial.same(
            f"MPI-IO collective {kind.lower()}s", collective[f"MPIIO_COLL_{kind}S"], dumps * trial.ranks, "arithmetic"
        )
        trial.same(f"MPI-IO bytes {done.lower()}", collective[f"MPIIO_BYTES_{done}"], moved, "arithmetic")


def hold_to_monitoring(trial: WitnessTrial, job: Job) -> None:
    watch = ["--mca", *MONITORING.split()]
    folder = trial.run("monitored", [], watch, "--method", "none")
    seen: Counter[tuple[int, int, str]] = Counter()
    for line in (line.split() for path in folder.glob("seen.*.prof") for line in path.read_text().splitlines()):
        if line[0] == "E":
            seen[int(line[1]), int(line[2]), "messages"] += int(line[5])
            seen[int(line[1]), int(line[2]), "bytes"] += int(line[3])
    peers = job.private["mpi_peers"].set_index(["rank", "peer"])
    assert {(rank, peer) for rank, peer, _ in seen} == set(peers.index)
    for (rank, peer, what), count in sorted(seen.items()):
        trial.same(f"rank {rank} to {peer} {what}", peers.loc[(rank, peer), what], count, "pml_monitoring")
    received = job.private["mpi_peers"].set_index(["peer", "rank"])
    for (rank, peer, what), count in sorted(seen.items()):
        trial.same(
            f"rank {peer} from {rank} {what}", received.loc[(rank, peer), f"received_{what}"], count, "pml_monitoring"
        )


def hold_to_strace(trial: WitnessTrial, job: Job) -> None:
    watch = (
        "exec strace -f -y --seccomp-bpf -qq -e trace=read,write,pread64,pwrite64,readv,writev,preadv,pwritev,openat"
    )
    folder = trial.run("straced", [], ["sh", "-c", watch + ' -o calls.$OMPI_COMM_WORLD_RANK "$@"', "sh"])
    pattern = re.compile(r"\b(openat|p?read(?:64|v)?|p?write(?:64|v)?)\((.*)\) = (\d+)(<[^>]*>)?$")
    seen: Counter[str] = Counter()
    for line in (line for path in folder.glob("calls.*") for line in path.read_text(errors="replace").splitlines()):
        found = pattern.search(line)
        if not found or not (found[4] or found[2].split(",")[0]).endswith("/btio.full.out>"):
            continue
        kind = "OPENS" if found[1] == "openat" else "WRITES" if "write" in found[1] else "READS"
        seen[kind] += 1
        if kind != "OPENS":
            seen[{"WRITES": "BYTES_WRITTEN", "READS": "BYTES_READ"}[kind]] += int(found[3])
    posix = job.frames["POSIX"].sum(numeric_only=True)
    for what in ("OPENS", "WRITES", "BYTES_WRITTEN", "READS", "BYTES_READ"):
        trial.same(f"POSIX {what.lower()}", posix[f"POSIX_{what}"], seen[what], "strace")


def hold_to_mpip(trial: WitnessTrial, job: Job, library: str) -> None:
    folder = trial.run("mpip", [], ["env", f"LD_PRELOAD={library}", "MPIP=-k 1"])
    (report,) = folder.glob("*.mpiP")
    calls: Counter[tuple[str, int]] = Counter()
    sent: Counter[tuple[str, int]] = Counter()
    into = None
    for line in report.read_text().splitlines():
        if line.startswith("@---"):
            into = calls if "Callsite Time statistics" in line else sent if "Message Sent statistics" in line else None
        words = line.split()
        if into is not None and len(words) > 5 and words[2].isdigit():
            into[words[0], int(words[2])] += int(words[3]) if into is calls else int(float(words[-1]))
    ours = job.private["mpi_calls"].groupby(["function", "rank"])[["calls", "bytes_sent"]].sum()
    for (name, rank), count in sorted(calls.items()):
        if name.startswith("File_") or (f"MPI_{name}", rank) not in ours.index:
            continue
        trial.same(f"rank {rank} MPI_{name} calls", ours.loc[(f"MPI_{name}", rank), "calls"], count, "mpiP")
    for (name, rank), count in sorted(sent.items()):
        if name in ("Isend", "Sendrecv"):
            exact = ours.loc[(f"MPI_{name}", rank), "bytes_sent"]
            trial.same(f"rank {rank} MPI_{name} bytes", exact, count, "mpiP, 4 digits", within=0.001)


def hold_to_darshan(trial: WitnessTrial, job: Job, log: Path) -> None:
    done = subprocess.run([sys.executable, "-c", DARSHAN, str(log)], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    calls = job.private["mpi_calls"].groupby("function")[["calls", "bytes_sent", "bytes_received"]].sum()
    trial.same("processes", trial.ranks, said["nprocs"], "PyDarshan")
    for name, columns in (("Isend", ["bytes_sent"]), ("Sendrecv", ["bytes_sent", "bytes_received"])):
        row = calls.loc[f"MPI_{name}"]
        trial.same(f"MPI_{name} calls of all ranks", row["calls"], said[f"{name.upper()} calls"], "PyDarshan, APMPI")
        trial.same(
            f"MPI_{name} {' + '.join(columns)}", row[columns].sum(), said[f"{name.upper()} bytes"], "PyDarshan, APMPI"
        )
    for module in ("POSIX", "MPI-IO"):
        for name in ("BYTES_WRITTEN", "BYTES_READ"):
            ours = job.frames[module][f"{module.replace('-', '')}_{name}"].sum()
            trial.same(f"{module} {name.lower()}", ours, said[f"{module} {name}"], "PyDarshan")
    subprocess.run(
        [sys.executable, "-m", "darshan", "summary", str(log)], cwd=log.parent, check=True, capture_output=True
    )
    if parser := os.environ.get("DARSHAN_PARSER"):
        text = subprocess.run([parser, str(log)], capture_output=True, text=True, check=True).stdout
        words = [line.split("\t") for line in text.splitlines() if not line.startswith("#") and "\t" in line]
        for name in ("POSIX_BYTES_WRITTEN", "POSIX_BYTES_READ", "MPIIO_BYTES_WRITTEN", "MPIIO_BYTES_READ"):
            module = "POSIX" if name.startswith("POSIX") else "MPI-IO"
            theirs = sum(int(word[4]) for word in words if word[3] == name)
            trial.same(name, job.frames[module][name].sum(), theirs, "darshan-parser")


def hold_to_book(trial: WitnessTrial, job: Job, folder: Path) -> Counter[tuple[int, str]]:
    """Compares the log with the expectations that the program printed; returns the counts of calls by rank and
    function.
    """
    lines = [line.split() for path in sorted(folder.glob("expected.*")) for line in path.read_text().splitlines()]
    wanted = {(kind, int(rank), what): tuple(map(int, counts)) for kind, rank, what, *counts in lines}
    calls = job.private["mpi_calls"].groupby(["rank", "function"])[list(BOOK)].sum()
    peers = job.private["mpi_peers"].set_index(["rank", "peer"])[list(PEERS)]
    found = {("CALL", rank, function): tuple(map(int, row)) for (rank, function), *row in calls.itertuples(name=None)}
    found |= {("PEER", rank, str(peer)): tuple(map(int, row)) for (rank, peer), *row in peers.itertuples(name=None)}
    for key in sorted(set(wanted) | set(found)):
        if wanted.get(key) != found.get(key):
            print(*key, "the log:", found.get(key), "the book:", wanted.get(key))
    same = sum(found.get(key) == counts for key, counts in wanted.items())
    trial.same("rows by rank and function, by rank and peer", len(found), len(wanted), "its own book")
    trial.same("of them the same in all columns", same, len(wanted), "its own book")
    return Counter({(rank, what): counts[0] for (kind, rank, what), counts in wanted.items() if kind == "CALL"})


def hold_apmpi_to_book(trial: WitnessTrial, log: Path, wanted: Counter[tuple[int, str]]) -> None:
    done = subprocess.run([sys.executable, "-c", APMPI, str(log)], capture_output=True, text=True, check=True)
    ranks = json.loads(done.stdout)
    for rank, counters in enumerate(ranks):
        ours = {name.removesuffix("_CALL_COUNT"): value for name, value in counters.items() if "CALL_COUNT" in name}
        booked = {name: wanted[rank, "MPI_" + name[4:].capitalize()] for name in ours}
        trial.same(f"rank {rank}: APMPI's calls", sum(ours.values()), sum(booked.values()), "its own book")
        trial.same(
            f"rank {rank}: operations that agree", sum(ours[n] == booked[n] for n in ours), len(ours), "its own book"
        )


def hold_to_foreign_program(trial: WitnessTrial, before: Sequence[str]) -> None:
    if not shutil.which("mpifort") or trial.ranks % 2:
        print("the program by mpi_f08 is left out: no mpifort, or ranks odd in number")
        return
    program = trial.out / "mpi_book"
    subprocess.run(["mpifort", "-O1", "-g", "-o", program, ROOT / "tests/c/mpi_book.f90"], cwd=trial.out, check=True)
    # Open MPI 4's component `rdma` for one-sided calls crashes in MPI_Compare_and_swap, with and without the profiler.
    folder = trial.run_program("booked", before, [], str(program), OMPI_MCA_osc="^rdma")
    (log,) = folder.glob("*.darshan")
    job = read_log(log)
    hold_apmpi_to_book(trial, log, hold_to_book(trial, job, folder))
    make_everything(trial, job, log)


def printed(*words: str) -> str:
    """Returns the output of an iolens command that must succeed."""
    with redirect_stdout(io.StringIO()) as out:
        assert command(list(words)) == 0, words
    return out.getvalue()


def make_everything(trial: WitnessTrial, job: Job, log: Path) -> None:
    """Makes every table, report and export of the log, and prints how many rows and files there are."""
    names = [line.split()[0] for line in printed("table", "--list").splitlines()]
    made = [line.split()[0] for line in printed("table", "--list", str(log)).splitlines()]
    for name in made:
        assert printed("table", name, str(log))
        rows = json.loads(printed("table", name, str(log), "--json"))
        frame = pd.read_csv(io.StringIO(printed("table", name, str(log), "--csv")))
        assert len(rows["rows"] if isinstance(rows, dict) else rows) == len(frame), name
    print(f"tables: {len(made)} of {len(names)}; this log has nothing for {', '.join(sorted(set(names) - set(made)))}")
    for suffix in ("pdf", "html"):
        printed("report", str(log), "-o", str(log.parent / f"report.{suffix}"))
        print(f"report.{suffix}: {(log.parent / f'report.{suffix}').stat().st_size:,} bytes")
    for kind in EXPORTS:
        printed("export", str(log), "--format", kind, "-o", str(log.parent / f"export.{kind}"))
        print(f"export.{kind}: {(log.parent / f'export.{kind}').stat().st_size:,} bytes")
    collapsed = (log.parent / "export.collapsed").read_text().splitlines()
    counted = sum(int(line.rpartition(" ")[2]) for line in collapsed)
    trial.same("samples", job.private["samples"]["count"].sum(), counted, "collapsed")
    shown = json.loads((log.parent / "export.chrome").read_text())["traceEvents"]
    trial.same(
        "MPI calls one by one", len(job.private["mpi_events"]), sum(e.get("cat") == "MPI" for e in shown), "chrome"
    )
    trial.same(
        "MPI calls one by one", len(job.private["mpi_events"]), job.private["mpi_calls"]["calls"].sum(), "mpi_calls"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--class", dest="letter", choices=CLASSES, default="S")
    parser.add_argument("--ranks", type=int, choices=[4, 9, 16], default=4)
    parser.add_argument("--out", type=Path, help="default: a new folder, which is named")
    asked = parser.parse_args()
    trial = WitnessTrial(
        asked.letter, asked.ranks, (asked.out or Path(tempfile.mkdtemp(prefix="witnesses-"))).resolve()
    )
    before = [str(SCRIPTS / "iolens"), "run", "--trace", "mpi,io", "--sample", "--timeline", "300000", "--"]
    folder = trial.run("recorded", before, [])
    (log,) = folder.glob("*.darshan")
    job = read_log(log)
    print(f"{log}: {log.stat().st_size:,} bytes\n{'':46}{'the log':>16}{'the witness':>16}")
    hold_to_arithmetic(trial, job, -(-CLASSES[asked.letter][1] // INTERVAL))
    hold_to_monitoring(trial, job)
    hold_to_strace(trial, job)
    if library := os.environ.get("MPIP_LIB"):
        hold_to_mpip(trial, job, library)
    hold_to_darshan(trial, job, log)
    make_everything(trial, job, log)
    hold_to_foreign_program(trial, before)
    print(f"{trial.differ} differ")
    return int(trial.differ > 0)


if __name__ == "__main__":
    sys.exit(main())
