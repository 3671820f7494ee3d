"""Runs the foreign cases: builds, compares fault and twin, times both, and stores what `iolens advise` says of each.

    IOLENS=.venv/bin/iolens .venv/bin/python tests/foreign/run_cases.py --results results/foreign [NAME ...]

Each variant runs in a new folder with new input files, first without the profiler for its wall time, then under
`$IOLENS run`. One JSON file for each case goes into the folder of results, and a case that has one is left out.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
MAX_LOGS = 40  # logs of one run that are given to advise together


def environment():
    """Returns the environment of all runs: few threads, and mpirun that starts more ranks than processors."""
    return dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        OMPI_MCA_mpi_yield_when_idle="1",
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
    )


def run(command, folder, seconds=180, stdin=None):
    """Runs a shell command in a folder; returns its exit code, output, errors and wall time."""
    begin = time.monotonic()
    source = None
    if stdin:
        source = subprocess.Popen(stdin, shell=True, cwd=folder, stdout=subprocess.PIPE, env=environment())
    process = subprocess.Popen(
        command,
        shell=True,
        cwd=folder,
        stdin=source.stdout if source else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, errors = process.communicate()
    if source:
        source.stdout.close()
        source.wait()
    wall = time.monotonic() - begin
    return process.returncode, out.decode(errors="replace"), errors.decode(errors="replace"), wall


def evict(path):
    """Removes a file from the page cache."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def digest(path):
    """Returns the SHA-256 of a file, or None if it is missing."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


class Case:
    """A case with the folders of one call of the runner."""

    def __init__(self, case, work):
        self.case = case
        self.name = case["name"]
        self.source = HERE / "cases" / self.name
        self.work = work / self.name
        self.bin = self.work / "bin"

    def fill(self, command, variant="fault"):
        """Puts folders and programs into a command."""
        for key, value in {
            "{src}": self.source,
            "{bin}": self.bin,
            "{cases}": HERE / "cases",
            "{python}": sys.executable,
        }.items():
            command = command.replace(key, str(value))
        return command.replace("MODE", variant)

    def build(self):
        """Builds the program; raises RuntimeError if that fails."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.bin.mkdir(parents=True)
        if "build" in self.case:
            code, _, errors, _ = run(self.fill(self.case["build"]), self.bin)
            if code:
                raise RuntimeError(f"{self.name}: {errors}")

    def prepare(self, label):
        """Makes a new folder with the input files, which are written back and, where asked, out of memory."""
        folder = self.work / label
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for command in self.case.get("setup", []):
            code, _, errors, _ = run(self.fill(command), folder)
            if code:
                raise RuntimeError(f"{self.name}: {errors}")
        os.sync()
        for name in self.case.get("evict", []):
            evict(folder / name)
        return folder

    def once(self, variant, command, label, iolens=None):
        """Runs a variant, plainly or under the profiler; returns what came of it."""
        folder = self.prepare(label)
        command = self.fill(command, variant)
        stdin = self.case.get("stdin")
        if iolens:
            command = f"{iolens} run --output {self.work / label}-logs -- {command}"
        code, out, errors, wall = run(command, folder, stdin=self.fill(stdin, variant) if stdin else None)
        result = {"code": code, "wall_s": round(wall, 3)}
        if code:
            result["errors"] = errors[-1500:]
        if not iolens:
            compare = self.case.get("compare", "stdout")
            result["output"] = out.strip()[:300] if compare == "stdout" else digest(folder / compare)
        else:
            result["messages"] = [line for line in errors.splitlines() if line.startswith("iolens:")][:12]
            result.update(self.advise(Path(f"{self.work / label}-logs"), iolens))
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def advise(self, folder, iolens):
        """Asks advise of the logs of a run, the largest ones if there are many."""
        logs = sorted(folder.rglob("*.darshan"), key=lambda path: -path.stat().st_size)
        kept = logs[:MAX_LOGS]
        answer = {"logs": len(logs)}
        if not kept:
            return answer
        names = " ".join(shlex.quote(str(path)) for path in kept)
        code, out, errors, wall = run(f"{iolens} advise --json {names}", folder)
        answer["advise_code"] = code
        answer["advise_s"] = round(wall, 2)
        if errors.strip():
            answer["advise_errors"] = errors[-600:]
        answer["advise"] = []
        for line in out.splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                answer.setdefault("advise_not_json", line[:300])
                continue
            answer["advise"].extend(value if isinstance(value, list) else [value])
        if len(kept) == 1:
            answer["text"] = run(f"{iolens} advise {names}", folder)[1]
        return answer


def main():
    """Runs the cases that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases to run; regular expressions; default: all")
    parser.add_argument("--results", default="results/foreign", help="folder for one JSON file for each case")
    parser.add_argument("--work", default=os.environ.get("TMPDIR", "/tmp") + "/foreign-work", help="scratch folder")
    parser.add_argument("--plain", action="store_true", help="only check that fault and twin do the same; no profiler")
    parser.add_argument("--again", action="store_true", help="run cases that have a result, too")
    parser.add_argument("--repeat", type=int, default=1, help="plain runs of each variant; the fastest counts")
    arguments = parser.parse_args()
    iolens = None if arguments.plain else os.environ.get("IOLENS", "iolens")
    if iolens and "/" in iolens:
        iolens = str(Path(iolens).resolve())
    results = Path(arguments.results)
    results.mkdir(parents=True, exist_ok=True)
    failed = 0
    for entry in yaml.safe_load((HERE / "cases.yaml").read_text())["cases"]:
        if arguments.names and not any(re.fullmatch(name, entry["name"]) for name in arguments.names):
            continue
        target = results / f"{entry['name']}.json"
        if target.exists() and not arguments.again:
            continue
        case = Case(entry, Path(arguments.work).resolve())
        variants = {"run": entry["run"]} if entry.get("healthy") else {"fault": entry["fault"], "twin": entry["twin"]}
        record = {"name": entry["name"], "tag": entry["tag"], "plain": {}, "profiled": {}}
        try:
            case.build()
            for variant, command in variants.items():
                runs = [case.once(variant, command, f"{variant}-plain") for _ in range(arguments.repeat)]
                record["plain"][variant] = min(runs, key=lambda one: (one["code"] != 0, one["wall_s"]))
                if iolens:
                    record["profiled"][variant] = case.once(variant, command, variant, iolens)
        except RuntimeError as error:
            record["error"] = str(error)
        plain = record["plain"]
        if len(plain) == 2:
            record["same_work"] = plain["fault"]["output"] == plain["twin"]["output"] and plain["fault"][
                "output"
            ] not in (None, "")
            record["gain"] = round(1 - plain["twin"]["wall_s"] / plain["fault"]["wall_s"], 4)
        bad = "error" in record or record.get("same_work") is False or any(one["code"] for one in plain.values())
        failed += bad
        target.write_text(json.dumps(record, indent=1) + "\n")
        walls = " ".join(f"{variant} {one['wall_s']:.2f} s" for variant, one in plain.items())
        print(f"{entry['name']:28s} {walls} {'FAILED ' + record.get('error', '')[:300] if bad else ''}", flush=True)
        shutil.rmtree(case.work, ignore_errors=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
