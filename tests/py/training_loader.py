"""A training job with planted times: workers that read and decode batches, and a main process that takes steps.

`python training_loader.py KIND READ DECODE STEP AHEAD FOLDER FORMAT`: KIND is the way to start workers (fork, spawn,
forkserver), `pool`, or `torch`, PyTorch's DataLoader. READ, DECODE and STEP are seconds for each batch. The library
that is built from `SLOW_READS` sleeps for READ seconds inside the calls that read from FOLDER. With AHEAD 0, workers
other than those of pool and torch load one batch at a time.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training_formats import FORMATS

WORKERS, BATCHES = int(os.environ.get("WORKERS", "2")), 60

SLOW_READS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
enum { BATCH = 1 << 20 };
static void wait_for(int fd, size_t bytes) {
    char link[32], path[4096] = "";
    const char *folder = getenv("SLOW_FOLDER");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    double seconds = atof(getenv("SLOW_READ")) * (double)(bytes < BATCH ? bytes : BATCH) / BATCH;
    if (!folder || readlink(link, path, sizeof path - 1) < 0 || strncmp(path, folder, strlen(folder)) != 0)
        return;
    struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    while (syscall(SYS_nanosleep, &time, &time)) {}
}
ssize_t pread64(int fd, void *memory, size_t bytes, off_t offset) {
    ssize_t done = syscall(SYS_pread64, fd, memory, bytes, offset);
    wait_for(fd, done > 0 ? (size_t)done : 0);
    return done;
}
ssize_t pread(int fd, void *memory, size_t bytes, off_t offset) { return pread64(fd, memory, bytes, offset); }
ssize_t read(int fd, void *memory, size_t bytes) {
    ssize_t done = syscall(SYS_read, fd, memory, bytes);
    wait_for(fd, done > 0 ? (size_t)done : 0);
    return done;
}
size_t fread(void *memory, size_t size, size_t count, FILE *stream) {
    static size_t (*real)(void *, size_t, size_t, FILE *);
    if (!real) real = (size_t (*)(void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fread");
    size_t done = real(memory, size, count, stream);
    wait_for(fileno(stream), done * size);
    return done;
}
"""


def sleep(seconds: float) -> None:
    """Sleeps. Before Python 3.11, time.sleep waits in select, as for a queue."""
    ctypes.CDLL(None).usleep(round(1e6 * seconds))


def load(path: str, format: str, seconds: float) -> bytes:
    """Reads a batch, sleeps `seconds` seconds as if it decoded the batch, and returns every 64th byte."""
    batch = FORMATS[format][1](Path(path))
    sleep(seconds)
    return batch[::64]


def serve(tasks: Any, batches: Any, path: str, format: str, seconds: float) -> None:
    """Loads a batch for each task until the queue of tasks ends."""
    while tasks.get() is not None:
        batches.put(load(path, format, seconds))


class Batches:
    """A data set as PyTorch's DataLoader takes it."""

    def __init__(self, path: str, format: str, seconds: float) -> None:
        self.path, self.format, self.seconds = path, format, seconds

    def __len__(self) -> int:
        return BATCHES

    def __getitem__(self, _: int) -> bytes:
        return load(self.path, self.format, self.seconds)


def queued(kind: str, path: str, format: str, seconds: float, ahead: int) -> Iterator[bytes]:
    """Yields batches of workers that take tasks from a queue, `ahead` of which are under way."""
    context: Any = multiprocessing.get_context(kind)
    tasks, batches = context.Queue(), context.Queue()
    workers = [context.Process(target=serve, args=(tasks, batches, path, format, seconds)) for _ in range(WORKERS)]
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


def pooled(path: str, format: str, seconds: float) -> Iterator[bytes]:
    """Yields the batches that a multiprocessing pool loads."""
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        for task in [pool.apply_async(load, (path, format, seconds)) for _ in range(BATCHES)]:
            yield task.get()
        pool.close()
        pool.join()


def main() -> None:
    kind, read, decode, step, ahead, path, format = sys.argv[1:]
    # The packages of the format are imported here, so that forked workers have them, too.
    for prepare in FORMATS[format]:
        prepare(Path(path))
    os.environ |= {"SLOW_READ": read, "SLOW_FOLDER": path}
    depth = 3 * WORKERS if int(ahead) else 1
    batches: Any
    if kind == "torch":
        from torch.utils.data import DataLoader

        batches = DataLoader(Batches(path, format, float(decode)), batch_size=None, num_workers=WORKERS)
    elif kind == "pool":
        batches = pooled(path, format, float(decode))
    else:
        batches = queued(kind, path, format, float(decode), depth)
    for _ in batches:
        sleep(float(step))


if __name__ == "__main__":
    main()
