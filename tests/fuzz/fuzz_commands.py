"""Gives damaged logs to the commands that read logs: each must print a result, or a sentence with an exit code, and
nothing else.

    python tests/fuzz/fuzz_commands.py [--count N] [--seed S]

Number S + i makes the i-th damage, as in reader.py; half of the damages affect one column of a private table, because
most commands read those. Logs that the reader refuses are left out. The exit code is 1 if a command ended in another
way; each place in the code at which that happened is printed once.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import random
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from iolens.cli.main import main as iolens
from iolens.log import LogError, read_log, reader
from iolens.log.format import container
from iolens.log.rewrite import Contents, put_together, split_log
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from mutate import DOUBLES, INTEGERS
from reader import LOGS, MEMORY, SECONDS, Tally, damaged, within

Seed = tuple[container.Container, Contents]

ADVICE = sorted((Path(__file__).parents[1] / "advice" / "logs").glob("*.darshan"))
EVERY_TABLE = sorted((Path(__file__).parent / "logs").glob("*.darshan"))
"""Logs that together have rows in every private table."""

LARGEST = 400_000
"""Largest size in bytes of the logs that are damaged."""

FORMATS = ("collapsed", "speedscope", "pprof", "chrome", "hatchet")


def wrong_column(chunks: tuple[bytes, ...], chance: random.Random) -> tuple[bytes, ...]:
    """Returns the table with strange values in one of its columns. In a chunk the columns stand one after another."""
    columns = json.loads(chunks[0].partition(b"\n")[0])["columns"]
    which = chance.randrange(len(columns))
    kinds = [np.dtype(one["dtype"]) for one in columns]
    before = sum(kind.itemsize for kind in kinds[:which])
    found = []
    for chunk in chunks:
        head, newline, body = chunk.partition(b"\n")
        rows, changed = json.loads(head)["rows"], bytearray(body)
        for row in chance.sample(range(rows), min(rows, chance.choice([1, rows]))):
            at, size = before * rows + row * kinds[which].itemsize, kinds[which].itemsize
            changed[at : at + size] = strange(kinds[which], chance)
        found.append(head + newline + bytes(changed))
    return tuple(found)


def strange(kind: np.dtype[Any], chance: random.Random) -> bytes:
    """Returns a value of this type that often causes errors in programs."""
    if kind.kind == "f":
        return np.array([chance.choice(DOUBLES)], kind).tobytes()
    if kind.kind == "S":
        return chance.choice([b"", b"\x1b[31m\xff", b"x" * kind.itemsize]).ljust(kind.itemsize, b"\0")[: kind.itemsize]
    return (chance.choice(INTEGERS) & (2**64 - 1)).to_bytes(8, "little")[: kind.itemsize]


def tables_with_rows(contents: Contents) -> dict[str, int]:
    """Maps the names of a log's private tables that have rows to their places."""
    return {
        one.name: place
        for place, one in enumerate(contents.private or ())
        if one.kind == "table" and any(json.loads(chunk.partition(b"\n")[0])["rows"] for chunk in one.chunks)
    }


def with_wrong_column(number: int, tables: list[tuple[Seed, dict[str, int]]]) -> bytes:
    """Returns a log in which some values of one column of a table, or of two tables, are replaced by values that often
    cause errors. Every kind of table is as likely as every other; `tables` has the places of each log's tables.
    """
    chance = random.Random(number)
    first = chance.choice(sorted(set().union(*(places for _, places in tables))))
    (log, contents), places = chance.choice([one for one in tables if first in one[1]])
    private = list(contents.private or ())
    for place in {places[first], places[chance.choice([first, *places])]}:
        chunks = wrong_column(private[place].chunks, chance)
        private[place] = dataclasses.replace(private[place], chunks=chunks)
    return put_together(log, dataclasses.replace(contents, private=tuple(private)))


def commands_on(path: Path, other: Path, folder: Path, chance: random.Random) -> list[list[str]]:
    """Returns a command of each kind, on a damaged log, an undamaged log, and a folder for output. The command `ingest`
    collects the folder of the damaged log.
    """
    log, target, store = str(path), str(folder / "out"), str(folder / "store")
    table = chance.choice(JOB_EXHIBITS)
    by = ["--by", ",".join(chance.sample(table.levels, min(2, len(table.levels))))] if table.drilled else []
    shape = chance.choice([[], ["--csv"], ["--json"]])
    stripes = [str(chance.choice([1, 2, 4, 64])) for _ in range(2)]
    return [
        ["table", table.name, log, *by, *shape],
        ["advise", log, *chance.choice([[], ["--json"], ["--write-hints", target]])],
        ["predict", log, "--stripes", stripes[0], "--aggregators", stripes[1]],
        ["export", log, "--format", chance.choice(FORMATS), "-o", target],
        ["diff", *chance.choice([[log, str(other)], [str(other), log]]), *chance.choice([[], ["--json"]])],
        ["show", log],
        ["show", "--all", log],
        ["ingest", str(path.parent), "-o", store, "-j", "1", *chance.choice([[], ["--no-advice"]])],
        ["fleet", store, *chance.choice([[], ["--csv", target + ".csv"], ["--json", target + ".json"]])],
    ]


def attempt(number: int, words: list[str], tally: Tally) -> None:
    """Runs one command without showing its output, and counts how it ended."""
    said, complaint = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint), within(SECONDS):
            code = iolens(words)
        tally.read += 1
        if code not in (0, 1, 2, 3) or (code and code != 3 and not complaint.getvalue() and not said.getvalue()):
            tally.fail(number, AssertionError(f"{words[0]} ended with {code} and no word"))
    except Exception as error:
        tally.fail(number, error)


def fuzz(count: int, seed: int) -> Tally:
    """Damages `count` logs, and runs a command of each kind on those that can be read."""
    paths = [path for path in (*LOGS, *ADVICE, *EVERY_TABLE) if path.stat().st_size <= LARGEST]
    opened = [container.open_container(path) for path in paths]
    seeds = [(log, split_log(log)) for log in opened]
    tables = [(seed, tables_with_rows(seed[1])) for seed in seeds]
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "logs" / "damaged.darshan"
        path.parent.mkdir()
        for number in range(seed, seed + count):
            chance = random.Random(number)
            path.write_bytes(with_wrong_column(number, tables) if chance.random() < 0.5 else damaged(number, seeds))
            try:
                read_log(path)
            except (LogError, MemoryError):
                tally.refused += 1
                continue
            other = chance.choice(paths)
            shutil.copy(other, path.with_name("whole.darshan"))
            shutil.rmtree(Path(folder) / "store", ignore_errors=True)
            for words in commands_on(path, other, Path(folder), chance):
                attempt(number, words, tally)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    begin = time.monotonic()
    tally = fuzz(args.count, args.seed)
    print(
        f"{args.count} damaged logs in {time.monotonic() - begin:.0f} s: {tally.refused} refused; "
        f"{tally.read} commands ended well, {sum(tally.failures.values())} did not, in {len(tally.failures)} places"
    )
    return int(bool(tally.failures))


if __name__ == "__main__":
    reader.read_with_darshan = lambda path, module: (None, "it is left out here")
    sys.exit(main())
