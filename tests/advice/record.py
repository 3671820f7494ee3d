"""Makes the logs of a corpus again: runs the command `run` of each entry under the profiler, and keeps the log as
logs/NAME.darshan.

usage: python tests/advice/record.py CORPUS.yaml [NAME ...]      (after `make build`; some minutes for all)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from iolens.lab.run.mpi_launch import openmpi

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = ROOT / "build/bin"
IOLENS = Path(sys.executable).with_name("iolens")
INPUTS = ("small-reads", "random-reads", "large-reads", "sieving-reads", "one-reader", "read-again", "all-read")


def main(corpus: str, *names: str) -> None:
    """Records the runs of these names, or all."""
    runs = [row for row in yaml.safe_load(Path(corpus).read_text()) if "run" in row]
    with tempfile.TemporaryDirectory(prefix="iolens-advice-") as work:
        program = Path(work) / "faults"
        subprocess.run(["mpicc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", program, HERE / "faults.c"], check=True)
        for script in HERE.glob("*.py"):
            shutil.copy(script, work)
        for row in runs:
            if not names or row["name"] in names:
                record(Path(work), row["name"], row["run"])


def record(work: Path, name: str, run: dict[str, Any]) -> None:
    """Performs one run in a fresh folder, and stores its log in logs/ without the names of this machine."""
    data, output = work / "data", work / "output"
    for folder in (data, output):
        shutil.rmtree(folder, ignore_errors=True)
    data.mkdir()
    options = ["--output", "output", "--profiler", run.get("profiler", "iolens")]
    if run["storage"] == "emulated":
        iolens(work, "stripe", "mount", "data")
        options += ["--storage-mount", "data"]
    if "stripes" in run:
        count, size = run["stripes"].split()
        iolens(work, "stripe", "set", "-c", count, "-S", size, "data")
    if "hints" in run:
        options += ["--hints", run["hints"]]
    if "trace" in run:
        options += ["--trace", run["trace"]]
    words, ranks = words_of(run), run["ranks"]
    launcher = ["mpirun", "--oversubscribe", "-np", str(ranks)] if ranks > 1 or "faults" in words[0] else []
    if any(mode in words for mode in INPUTS):
        prepare = options[4:6] if run["storage"] == "emulated" else []
        make = [*launcher, "./faults", "make-input", "data"]
        iolens(work, "run", "--profiler", "none", "--output", "made", *prepare, "--", *make)
        shutil.rmtree(work / "made")
    killer = ["timeout", "--signal=KILL", str(run["kill"])] if "kill" in run else []
    iolens(
        work,
        "run",
        *options,
        "--",
        *launcher,
        *killer,
        *words,
        environment=run.get("environment"),
        good="kill" not in run,
    )
    (log,) = output.glob("*.darshan")
    target = HERE / "logs" / f"{name}.darshan"
    target.unlink(missing_ok=True)
    iolens(work, "anonymize", str(log), "--key", "advice", "--keep", "extensions,mounts,program", "-o", str(target))
    target.chmod(0o644)
    print(f"{name}: {target.stat().st_size} bytes", flush=True)


def words_of(run: dict[str, Any]) -> list[str]:
    """Returns the command: programs and scripts of the corpus come from the working folder, workloads from
    build/bin.
    """
    words = [word.replace("DIR", "data") for word in run["command"].split()]
    if words[0] == "faults":
        return ["./faults", words[1], "data", str(run.get("scale", 1))]
    if words[0] == "python":
        return [sys.executable, *words[1:], "data"]
    if (BIN / words[0]).exists():
        return [str(BIN / words[0]), *words[1:], *([] if "-o" in words else ["--directory", "data"])]
    return words


def iolens(work: Path, *words: str, environment: dict[str, str] | None = None, good: bool = True) -> None:
    """Runs iolens in the working folder."""
    as_root = {**openmpi.openmpi_variables(["as root"], None), "OMPI_MCA_io": "romio321"}
    more = {key: value.replace("DIR", str(work / "data")) for key, value in (environment or {}).items()}
    done = subprocess.run([IOLENS, *words], cwd=work, env=os.environ | as_root | more, capture_output=True, text=True)
    if good and done.returncode:
        sys.exit(f"iolens {' '.join(words)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
