#!/usr/bin/env python3
"""Feed samples to a training, as data loaders do: worker processes read files and pass their contents on.

First the samples are written into the given folder. Then the workers read them, each sample by the same worker in every
epoch. With --keep a worker reads a sample's file only once; without it, in every epoch.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

SAMPLES: dict[Path, bytes] = {}
"""Samples that a worker has read before, in the worker's own memory."""


def write_samples(folder: Path, count: int, size: int) -> list[Path]:
    """Writes `count` files of `size` bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"sample-{number:04d}" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes([number % 256]) * size)
    return paths


def deliver(paths: list[Path], keep: bool) -> int:
    """Returns the number of bytes of these samples, read from their files or found in the memory of this process."""
    total = 0
    for path in paths:
        sample = SAMPLES.get(path) or path.read_bytes()
        if keep:
            SAMPLES[path] = sample
        total += len(sample)
    return total


def serve(pipe: Connection, paths: list[Path], keep: bool) -> None:
    """Runs a worker, which reports that it is ready and then delivers its samples once for each request."""
    pipe.send(0)
    while pipe.recv() == "epoch":
        pipe.send(deliver(paths, keep))


def train(paths: list[Path], workers: int, epochs: int, keep: bool) -> tuple[int, float]:
    """Lets every worker deliver its share of the samples in each epoch. Returns the bytes of all epochs, and their
    seconds without the start of the workers.
    """
    pipes, processes = [], []
    for number in range(workers):
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=serve, args=(theirs, paths[number::workers], keep))
        process.start()
        pipes.append(ours)
        processes.append(process)
    total = sum(pipe.recv() for pipe in pipes)
    begin = time.perf_counter()
    for _ in range(epochs):
        for pipe in pipes:
            pipe.send("epoch")
        total += sum(pipe.recv() for pipe in pipes)
    seconds = time.perf_counter() - begin
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send("end")
        process.join()
    return total, seconds


def main() -> None:
    """Writes and reads the samples, and prints a result JSON with the times (workloads/RESULT.md)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--size", type=int, default=65536, help="bytes of a sample")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="a worker keeps the samples that it has read")
    parser.add_argument("--json", type=Path, required=True, help="where the result goes")
    parser.add_argument("folder", type=Path, help="where the samples go")
    args = parser.parse_args()
    begin = time.perf_counter()
    paths = write_samples(args.folder, args.samples, args.size)
    writing = time.perf_counter() - begin
    delivered, reading = train(paths, args.workers, args.epochs, args.keep)
    phases = [
        {"operation": name, "bytes": size, "seconds": dict.fromkeys(("min", "mean", "max"), seconds)}
        for name, size, seconds in (("write", args.samples * args.size, writing), ("read", delivered, reading))
    ]
    aside = args.json.with_name(f"{args.json.name}.{os.getpid()}")
    aside.write_text(json.dumps({"schema": 1, "workload": "loader", "ranks": 1, "phases": phases}) + "\n")
    aside.rename(args.json)


if __name__ == "__main__":
    main()
