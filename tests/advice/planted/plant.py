"""Records the runs that a generator draws, and writes beside each log which fault was planted in its run.

usage: python tests/advice/planted/plant.py SET [SEED] [WORKERS] [ONLY]      SET: thresholds, unseen or gains

The logs go to logs/SET/NAME.darshan, and when all are done to logs/SET.tar.xz; the labels go to SET.jsonl. Runs that
are there already are not repeated. The runs of a fault are recorded one after the other by one worker, so that a fault
and its healthy twin run on the machine in the same state.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from iolens.lab.run.mpi_launch import openmpi
from iolens.lab.storage import emulated
from iolens.lab.storage.layout import Layout
from iolens.log import read_log
from iolens.log.anonymize import anonymize
from iolens.log.format.container import open_container
from iolens.metrics.job.ranks import io_span_seconds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
IOLENS = Path(sys.executable).with_name("iolens")
KEEP = frozenset({"extensions", "mounts", "program"})
COMPILED = {
    "libslow.so": ["gcc", "-std=c11", "-O2", "-shared", "-fPIC", "slow.c", "-ldl"],
    "unseen": ["mpicxx", "-std=c++17", "-O2", "unseen.cc", "-lpthread"],
    "known": ["mpicc", "-std=c11", "-D_GNU_SOURCE", "-O2", "known.c", "-lpthread"],
}


def main(half: str, seed: str = "1", workers: str = "2", only: str = "") -> None:
    """Records all runs of a set that have no log yet."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(importlib.import_module(f"draw_{half}").draw(int(seed)), key=lambda row: row["name"]):
        groups.setdefault(row["fault"] + row["group"].partition(".")[0], []).append(row)
    labels, logs, lock = HERE / f"{half}.jsonl", HERE / "logs" / half, Lock()
    packed, archives = logs.with_name(f"{half}.tar.xz"), importlib.import_module("log_archives")
    archives.unpack(logs, packed)
    known = {row["name"] for row in map(json.loads, labels.read_text().splitlines())} if labels.exists() else set()
    with tempfile.TemporaryDirectory(prefix="iolens-planted-") as work:
        for name, (compiler, *words) in COMPILED.items():
            subprocess.run([compiler, "-o", f"{work}/{name}", *words], cwd=HERE, check=True)

        def one(row: dict[str, Any]) -> None:
            try:
                truth = record(Path(work), row, logs / f"{row['name']}.darshan")
            except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
                shutil.rmtree(Path(work) / row["name"])
                print(f"{row['name']}: {error}", flush=True)
                return
            with lock, labels.open("a") as file:
                file.write(json.dumps(row | truth) + "\n")
            print(f"{row['name']}: {truth}", flush=True)

        def in_turn(rows: list[dict[str, Any]]) -> None:
            for row in rows:
                if row["name"] not in known and only in row["name"]:
                    one(row)

        with ThreadPoolExecutor(int(workers)) as pool:
            list(pool.map(in_turn, groups.values()))
    archives.pack(logs, packed)


def record(work: Path, row: dict[str, Any], target: Path) -> dict[str, float]:
    """Runs one row in a fresh folder, keeps its log, and returns the seconds of its I/O and of the run, and the load of
    the machine, as the mean number of runnable processes in the last minute.
    """
    place = work / row["name"]
    data = place / "data"
    data.mkdir(parents=True)
    ranks, environment, options = row["ranks"], dict(row.get("environment", {})), ["--output", "output"]
    if "storage" in row:
        lines = [f"{key}: {value}" for key, value in row["storage"].items()]
        (place / "ost.yaml").write_text("\n".join([*_rest(row["storage"]), *lines]) + "\n")
        emulated.make_mount(data, place / "ost.yaml")
        options += ["--storage-mount", "data"]
    for folder, (count, size, start) in row.get("layouts", {}).items():
        (data / folder).mkdir(exist_ok=True)
        emulated.set_emulated_stripes(data / folder, Layout(count, size, start))
    if "slow" in row:
        environment |= {"SLOW": row["slow"], "SLOW_IN": row.get("slow_in", "")}
        environment["LD_PRELOAD"] = f"{work}/libslow.so"
    if "hints" in row:
        options += ["--hints", row["hints"]]
    options += row.get("options", [])
    launcher = ["mpirun", "--oversubscribe", "-np", str(ranks)] if ranks > 1 or row.get("mpi", True) else []
    launcher += ["--mca", "mpi_yield_when_idle", "1"] if launcher else []
    if "input" in row:
        _call(place, [*launcher, *_words(work, row["input"])], {})
    _call(place, [str(IOLENS), "run", *options, "--", *launcher, *_words(work, row["command"])], environment)
    if "storage" in row and "slow" not in row:
        (books,) = (data / ".ost/jobs").glob("*.json")
        if not emulated.job_status(data, books.stem).valid:
            raise RuntimeError("the machine was slower than the emulated storage; run it again")
    found = re.findall(r"^seconds ([\d.]+)$", (place / "output/stdout.txt").read_text(), re.M)
    (log,) = (place / "output").glob("*.darshan")
    target.write_bytes(anonymize(open_container(log), b"advice", KEEP).data)
    job = read_log(target)
    shutil.rmtree(place)
    spent = float(found[-1]) if found else io_span_seconds(job) or 0.0
    return {"seconds": round(spent, 4), "run_time": round(job.run_time, 4), "load": round(os.getloadavg()[0], 1)}


def _rest(given: dict[str, Any]) -> list[str]:
    """Returns, from the default configuration of emulated storage, the lines for all keys that `given` lacks."""
    text = (ROOT / "storage/ost.yaml").read_text()
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and line.partition(":")[0] not in given]


def _words(work: Path, command: str) -> list[str]:
    """Returns the words of a command with the full path of its program."""
    folders = (HERE, HERE.parent, ROOT / "build/bin", work)
    known = {path.name: str(path) for folder in folders for path in folder.glob("*")}
    words = command.replace("DIR", "data").split()
    return [sys.executable if word == "python" else known.get(word, word) for word in words]


def _call(place: Path, words: list[str], environment: dict[str, str]) -> None:
    """Runs a command in a folder; raises RuntimeError if it fails."""
    as_root = {
        **openmpi.openmpi_variables(["as root"], None),
        "OMPI_MCA_io": "romio321",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    done = subprocess.run(
        words, cwd=place, env=os.environ | as_root | environment, capture_output=True, text=True, timeout=180
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout[-500:]}{done.stderr[-500:]}")


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(ROOT / "tests/py")]
    main(*sys.argv[1:])
