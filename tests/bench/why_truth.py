"""Compares the savings that `iolens run --why` reports for faster storage with runs on faster storage. Each program
runs on emulated targets; its log is asked for the run time on targets two and four times as fast and infinitely fast;
then it runs on targets that are two, four and a thousand times as fast. The lines give both run times and their
quotient.

python tests/bench/why_truth.py [--pairs N]
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IOLENS = [sys.executable, "-m", "iolens.cli.main"]

PROGRAMS = {
    "ior, a file each": (2, "{bin}/ior -a POSIX -F -w -r -b 4m -t 1m -o {data}/each"),
    "ior, a shared file": (2, "{bin}/ior -a MPIIO -w -r -b 4m -t 1m -o {data}/shared"),
    "ior, collective": (2, "{bin}/ior -a MPIIO -c -w -r -b 4m -t 256k -o {data}/together"),
    "ior, HDF5": (2, "{bin}/ior -a HDF5 -w -r -b 4m -t 1m -o {data}/file.h5"),
    "btio, collective": (4, "{bin}/btio --class S --steps 20 --directory {data}"),
    "btio, a file each": (4, "{bin}/btio --class S --steps 20 --method epio --directory {data}"),
    "checkpoint, one writer": (
        6,
        "{bin}/checkpoint_simulator --nx 1 --ny 1 --im_world 60 --lm 20 --num_arrays 2 "
        "--ntrials 1 --write_binary --directory {data}",
    ),
    "one reads for all": (2, "{python} {here}/why_programs.py reads_for_all {data}"),
    "writes while others compute": (2, "{python} {here}/why_programs.py writes_beside {data}"),
    "one writes, next waits": (3, "{python} {here}/why_programs.py chain {data}"),
    "uneven files": (2, "{python} {here}/why_programs.py uneven {data}"),
}
"""Number of ranks and command line of each program, by its property: bundled programs and those of `why_programs.py`.
"""

QUESTIONS = {2: "storage twice as fast", 4: "storage four times as fast", 1000: "storage infinitely fast"}
"""Questions about the run time, by the factor by which the storage is faster."""

SLOWER = {"ost_mb_per_s": 1, "link_mb_per_s": 1, "memory_mb_per_s": 1}
FASTER_WHEN_SMALL = {"ost_rpc_us": -1, "network_us": -1, "lock_us": -1}


def settings(speed: float) -> str:
    """Returns emulated targets that are this many times as fast as the slow targets of this comparison."""
    text = (ROOT / "storage/ost.yaml").read_text(encoding="utf-8")
    text = re.sub(r"^ost_mb_per_s: \d+", "ost_mb_per_s: 20", text, flags=re.MULTILINE)
    for key, power in (SLOWER | FASTER_WHEN_SMALL).items():

        def changed(found: re.Match[str], power: int = power) -> str:
            return f"{found[1]}{max(float(found[2]) * speed**power, 0.001):.9g}"

        text = re.sub(rf"^({key}: )([\d.]+)", changed, text, flags=re.MULTILINE)
    return text


def replays(ranks: int, command: str, speed: float, folder: Path) -> dict[str, float]:
    """Runs a program on storage of one speed. Returns the run times in its table `what_if`, as measured and with
    storage of other speeds, by question.
    """
    folder.mkdir()
    config, data = folder / "ost.yaml", folder / "data"
    config.write_text(settings(speed), encoding="utf-8")
    subprocess.run([*IOLENS, "stripe", "mount", "--config", config, data], check=True, stdout=subprocess.DEVNULL)
    words = command.format(bin=ROOT / "build/bin", python=sys.executable, here=ROOT / "tests/bench", data=data).split()
    run = ["run", "--why", "--storage-mount", str(data), "--", "mpirun", "--oversubscribe", "-np", str(ranks)]
    done = subprocess.run([*IOLENS, *run, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command} failed: {done.stderr}")
    (log,) = folder.glob("*.darshan")
    table = subprocess.run([*IOLENS, "table", "what_if", log, "--json"], check=True, capture_output=True, text=True)
    rows = json.loads(table.stdout)
    return {row["question"]: row["run_time"] for row in rows if row["rank"] < 0 and not row["file"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3, help="runs at each speed (default: 3)")
    pairs = parser.parse_args().pairs
    print(f"{'program':<28}{'storage':>10}{'was s':>9}{'said s':>9}{'ran s':>9}{'ran/said':>10}")
    for name, (ranks, command) in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as scratch:
            runs = {
                speed: [replays(ranks, command, speed, Path(scratch) / f"{speed}-{pair}") for pair in range(pairs)]
                for speed in (1, *QUESTIONS)
            }
        was = statistics.median(each["nothing changed"] for each in runs[1])
        for speed, question in QUESTIONS.items():
            said = statistics.median(each[question] for each in runs[1])
            ran = statistics.median(each["nothing changed"] for each in runs[speed])
            print(f"{name:<28}{speed:>9}x{was:>9.3f}{said:>9.3f}{ran:>9.3f}{ran / said:>10.3f}", flush=True)


if __name__ == "__main__":
    main()
