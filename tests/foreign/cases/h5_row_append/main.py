"""Extends a dataset by a row, writes it and flushes, for each step; or collects 512 rows first."""

import sys

import h5py
import numpy as np

cured = sys.argv[1:] == ["twin"]
steps = 4096
with h5py.File("series.h5", "w") as file:
    series = file.create_dataset("series", (0, 16), maxshape=(None, 16), dtype="f8", chunks=(512, 16))
    kept = []
    for step in range(steps):
        row = np.full(16, step, dtype="f8")
        if not cured:
            series.resize(step + 1, axis=0)
            series[step] = row
            file.flush()
            continue
        kept.append(row)
        if len(kept) == 512:
            series.resize(step + 1, axis=0)
            series[step - 511 :] = kept
            kept = []
    print("sum", float(series[:].sum()))
