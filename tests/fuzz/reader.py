"""Gives damaged logs to the reader: it must return a Job or raise a LogError, within limits of time and memory.

    python tests/fuzz/reader.py [--count N] [--seed S] [--pages K]

Number S + i makes the i-th damage, so that `--seed X --count 1` repeats a failure X. For every K-th readable log, all
tables and pages of the report are made. The exit code is 1 if anything else happened; each place in the code at which
it happened is printed once.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from iolens.log import LogError, read_log, reader
from iolens.log.format import container
from iolens.log.rewrite import Contents, put_together, split_log
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.job.job_document import write_job
from mutate import mutate, mutate_json

LOGS = sorted((Path(__file__).parents[1] / "data").rglob("*.darshan"))
LARGEST = 40_000
"""Largest size in bytes of the logs that are damaged; larger ones only take longer."""

MEMORY, SECONDS, PAGES_SECONDS = 4 << 30, 10, 60


class TooSlow(Exception):
    """Raised when reading a log has taken too much time."""


@dataclasses.dataclass
class Tally:
    """Results of reading the logs; `failures` by place in the code, with the number of the first log that failed."""

    read: int = 0
    refused: int = 0
    pages: int = 0
    failures: Counter[str] = dataclasses.field(default_factory=Counter)
    first: dict[str, int] = dataclasses.field(default_factory=dict)

    def fail(self, number: int, error: BaseException) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/iolens/" in frame.filename] or frames
        where = f"{type(error).__name__}: {str(error)[:100]} in {Path(ours[-1].filename).name}:{ours[-1].lineno}"
        key = f"{type(error).__name__} {Path(ours[-1].filename).name}:{ours[-1].lineno}"
        if key not in self.first:
            self.first[key] = number
            print(f"number {number}: {where}", flush=True)
        self.failures[key] += 1


def damaged(number: int, seeds: list[tuple[container.Container, Contents]]) -> bytes:
    """Returns a log with damage in the file, in its header or directory, or in the contents of a region."""
    chance = random.Random(number)
    log, contents = chance.choice(seeds)
    kind = chance.random()
    if kind < 0.2:
        return mutate(log.data, chance)
    if kind < 0.35:
        return mutate(log.data[: log.job.offset], chance).ljust(log.job.offset, b"\0") + log.data[log.job.offset :]
    return put_together(log, changed(contents, chance))


def changed(contents: Contents, chance: random.Random) -> Contents:
    """Returns the log with one region damaged, or replaced by the contents of another region."""
    if contents.private and chance.random() < 0.3:
        which = chance.randrange(len(contents.private))
        region = contents.private[which]
        part = chance.randrange(len(region.chunks))
        chunks = tuple(mutate_part(one, chance) if i == part else one for i, one in enumerate(region.chunks))
        regions = tuple(
            dataclasses.replace(region, chunks=chunks) if i == which else one for i, one in enumerate(contents.private)
        )
        return dataclasses.replace(contents, private=regions)
    if chance.random() < 0.2:
        return dataclasses.replace(contents, job=mutate(contents.job, chance))
    if chance.random() < 0.2 or not contents.modules:
        return dataclasses.replace(contents, names=mutate(contents.names, chance))
    name, other = chance.choice([*contents.modules]), chance.choice([*contents.modules])
    payload = mutate(contents.modules[name if chance.random() < 0.9 else other], chance)
    return dataclasses.replace(contents, modules={**contents.modules, name: payload})


def mutate_part(chunk: bytes, chance: random.Random) -> bytes:
    """Returns a chunk of a private region with damaged bytes, or with valid JSON whose meaning is wrong."""
    if chance.random() < 0.4:
        return mutate(chunk, chance)
    head, newline, body = chunk.partition(b"\n")
    return mutate_json(head, chance) + newline + body


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises TooSlow if the body takes more processor time than `seconds`. Processor time does not depend on other
    programs.
    """

    def ring(signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds} s")

    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def attempt(number: int, path: Path, tally: Tally, with_pages: bool) -> None:
    """Reads one damaged log, and makes its report if it can be read."""
    try:
        with within(SECONDS):
            job = read_log(path)
        tally.read += 1
        if with_pages:
            tally.pages += 1
            with within(PAGES_SECONDS):
                for exhibit in JOB_EXHIBITS:
                    exhibit.table(job)
                write_job(job, path.with_suffix(".pdf"))
    except LogError as error:
        tally.refused += 1
        if not str(error).startswith(f"{path}: ") or len(str(error)) > 1000 + len(str(path)):
            tally.fail(number, AssertionError(f"a message that helps nobody: {str(error)[:200]!r}"))
    except Exception as error:
        tally.fail(number, error)


def fuzz(count: int, seed: int, pages: int) -> Tally:
    """Damages and reads `count` logs."""
    opened = [container.open_container(path) for path in LOGS if path.stat().st_size <= LARGEST]
    seeds = [(log, split_log(log)) for log in opened]
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.darshan"
        for number in range(seed, seed + count):
            path.write_bytes(damaged(number, seeds))
            attempt(number, path, tally, bool(pages) and number % pages == 0)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pages", type=int, default=50)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    begin = time.monotonic()
    tally = fuzz(args.count, args.seed, args.pages)
    print(
        f"{args.count} damaged logs in {time.monotonic() - begin:.0f} s: {tally.read} read, {tally.refused} refused, "
        f"{tally.pages} reports made, {sum(tally.failures.values())} failures in {len(tally.failures)} places; "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB at most"
    )
    return int(bool(tally.failures))


if __name__ == "__main__":
    # Faults of libdarshan-util are not reported, so modules that only libdarshan-util reads count as unread.
    reader.read_with_darshan = lambda path, module: (None, "it is left out here")
    sys.exit(main())
