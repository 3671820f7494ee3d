"""Imports modules through several folders, as in a large Python environment; then each rank writes an array.

usage: python imports.py DIR [modules=N] [folders=N]      after: python imports.py DIR make=N folders=N
"""

import sys
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI

words = dict(word.split("=") for word in sys.argv[2:])
folders = [Path(sys.argv[1], f"lib{number}") for number in range(int(words.get("folders", 0)))]
comm = MPI.COMM_WORLD
if "make" in words and comm.rank == 0:
    for folder in folders:
        folder.mkdir()
    for number in range(int(words["make"])):
        (folders[-1] / f"module{number}.py").write_text(f"number = {number}\n")
if "make" not in words:
    comm.Barrier()
    begin = time.monotonic()
    sys.path = [*map(str, folders), *sys.path]
    for number in range(int(words.get("modules", 0))):
        __import__(f"module{number}")
    with open(f"{sys.argv[1]}/array.{comm.rank}", "wb", buffering=0) as file:
        for _ in range(16):
            file.write(np.ones(2 << 20, "i1").data)
    comm.Barrier()
    if comm.rank == 0:
        print(f"seconds {time.monotonic() - begin:.6f}")
