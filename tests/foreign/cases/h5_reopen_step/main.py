"""Opens the file, writes one row and closes the file for each step, or keeps it open."""

import sys

import h5py
import numpy as np

cured = sys.argv[1:] == ["twin"]
steps = 1200
with h5py.File("steps.h5", "w") as file:
    file.create_dataset("steps", (steps, 64), dtype="f8")
kept = h5py.File("steps.h5", "r+") if cured else None
for step in range(steps):
    file = kept or h5py.File("steps.h5", "r+")
    file["steps"][step] = np.full(64, step, dtype="f8")
    if not cured:
        file.close()
if kept:
    kept.close()
with h5py.File("steps.h5") as file:
    print("sum", float(file["steps"][:].sum()))
