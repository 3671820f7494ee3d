"""A training job with planted times: workers that read and decode batches, and a main process that takes steps.

`python training_loader.py KIND READ DECODE STEP AHEAD DATA`: KIND is the way to start workers (fork, spawn,
forkserver), `pool`, or `torch`, PyTorch's DataLoader. READ, DECODE and STEP are seconds a batch. READ is slept inside
pread, which the library of `SLOW_READS` replaces; without AHEAD, a single batch is under way at a time.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

WORKERS, BATCHES = 2, 60

SLOW_READS = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
ssize_t pread64(int fd, void *memory, size_t bytes, off_t offset) {
    double seconds = atof(getenv("SLOW_READ"));
    struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    while (syscall(SYS_nanosleep, &time, &time)) {}
    return syscall(SYS_pread64, fd, memory, bytes, offset);
}
"""


def load(path: str, seconds: float) -> bytes:
    """Reads a batch, and decodes it for so many seconds."""
    file = os.open(path, os.O_RDONLY)
    batch = os.pread(file, 1 << 14, 0)
    os.close(file)
    time.sleep(seconds)
    return batch


def serve(tasks: Any, batches: Any, path: str, seconds: float) -> None:
    """Loads a batch for each task until there is none."""
    while tasks.get() is not None:
        batches.put(load(path, seconds))


class Batches:
    """A data set as PyTorch's DataLoader takes it."""

    def __init__(self, path: str, seconds: float) -> None:
        self.path, self.seconds = path, seconds

    def __len__(self) -> int:
        return BATCHES

    def __getitem__(self, _: int) -> bytes:
        return load(self.path, self.seconds)


def queued(kind: str, path: str, seconds: float, ahead: int) -> Iterator[bytes]:
    """Yields batches of workers that take tasks from a queue, `ahead` of which are under way."""
    context: Any = multiprocessing.get_context(kind)
    tasks, batches = context.Queue(), context.Queue()
    workers = [context.Process(target=serve, args=(tasks, batches, path, seconds)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for number in range(ahead):
        tasks.put(number)
    for number in range(BATCHES):
        yield batches.get()
        tasks.put(number if number + ahead < BATCHES else None)
    for _ in range(WORKERS):
        tasks.put(None)
    for worker in workers:
        worker.join()


def pooled(path: str, seconds: float) -> Iterator[bytes]:
    """Yields batches of a pool."""
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        for task in [pool.apply_async(load, (path, seconds)) for _ in range(BATCHES)]:
            yield task.get()
        pool.close()
        pool.join()


def main() -> None:
    kind, read, decode, step, ahead, path = sys.argv[1:]
    os.environ["SLOW_READ"] = read
    depth = 3 * WORKERS if int(ahead) else 1
    batches: Any
    if kind == "torch":
        from torch.utils.data import DataLoader

        batches = DataLoader(Batches(path, float(decode)), batch_size=None, num_workers=WORKERS)
    elif kind == "pool":
        batches = pooled(path, float(decode))
    else:
        batches = queued(kind, path, float(decode), depth)
    for _ in batches:
        time.sleep(float(step))


if __name__ == "__main__":
    main()
