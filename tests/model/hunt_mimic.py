"""Runs random programs and their mini-apps (`iolens mimic`), and compares the counters of both logs.

hunt_mimic.py --build build -n 1000 --seed 1
hunt_mimic.py --build build -n 1000 --pnetcdf   # random programs of PnetCDF in several rounds, on 1 to 4 ranks
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "py"))

from generator import make_program  # noqa: E402
from hunt import HuntSetting, build_interpreter, scratch  # noqa: E402
from mimic_runs import differences, mimicked, record  # noqa: E402

BATCH = 50  # Number of programs that one mini-app repeats.


def run_batch(setting: HuntSetting, folder: Path, first: int, count: int, seed: int) -> list[str]:
    """Returns the differences between the log of these programs and that of their mini-app."""
    calls, work, log = folder / "calls", folder / "w", folder / "original.darshan"
    work.mkdir()
    numbers = range(first, first + count)
    programs = [make_program(i, seed) for i in numbers]
    calls.write_text("".join(program.text() for program in programs))
    env = setting.environment(work, log)
    words = setting.command(calls, folder / "journal", env)
    done = subprocess.run(words, cwd=work, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"the programs ended with {done.returncode}: {done.stderr[-500:]}"]
    return differences(log, mimicked(log, folder, 1, "--no-wait"))


def build_pnetcdf(folder: Path) -> Path:
    """Builds the random programs of PnetCDF; returns their one program."""
    program = folder / "pnetcdf_random"
    source = HERE.parent / "c" / "pnetcdf_random.c"
    subprocess.run(["mpicc", "-std=gnu11", "-o", str(program), str(source), "-lpnetcdf"], check=True)
    return program


def run_pnetcdf(program: Path, folder: Path, seed: int) -> list[str]:
    """Returns the differences between the log of one random program of PnetCDF and that of its mini-app."""
    ranks = 1 + seed % 4
    try:
        (folder / "original").mkdir()
        log = record(folder / "original", [program, ".", seed], ranks)
        return differences(log, mimicked(log, folder, ranks, "--no-wait"))
    except AssertionError as error:
        return [str(error)[-500:]]


def hunt_pnetcdf(top: Path, seeds: range) -> int:
    """Prints the differences of random programs of PnetCDF; returns 1 if there are any."""
    program, found = build_pnetcdf(top), 0
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="iolens-mimic-", dir=scratch()) as folder:
            for error in run_pnetcdf(program, Path(folder), seed):
                print(f"seed {seed}: {error}", flush=True)
                found += 1
    print(f"{found} differences in {len(seeds)} programs of PnetCDF")
    return int(found > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="folder with lib/libiolens.so")
    parser.add_argument("-n", type=int, default=1000, help="programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--pnetcdf", action="store_true", help="random programs of PnetCDF, one mini-app for each")
    options = parser.parse_args()
    core = str(options.build.resolve() / "lib" / "libiolens.so")
    found = []
    with tempfile.TemporaryDirectory() as top:
        if options.pnetcdf:
            return hunt_pnetcdf(Path(top), range(options.first, options.first + options.n))
        interpreter = build_interpreter(Path(top), mpi=False)
        setting = HuntSetting(interpreter, core, traces=True)
        for first in range(options.first, options.first + options.n, BATCH):
            count = min(BATCH, options.first + options.n - first)
            with tempfile.TemporaryDirectory(prefix="iolens-mimic-", dir=scratch()) as folder:
                errors = run_batch(setting, Path(folder), first, count, options.seed)
            found += [f"programs {first} to {first + count - 1}: {error}" for error in errors]
    print("\n".join(found) or f"nothing found in {options.n} programs of seed {options.seed}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
