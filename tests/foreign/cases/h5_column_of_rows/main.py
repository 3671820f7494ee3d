"""Reads columns of a dataset whose chunks are whole rows, one column at a time, or all rows at once."""

import sys

import h5py
import numpy as np

cured = sys.argv[1:] == ["twin"]
with h5py.File("rows.h5", "r") as file:
    data = file["rows"]
    if cured:
        sums = np.zeros(24)
        for start in range(0, data.shape[0], 512):
            sums += data[start : start + 512][:, :24].sum(axis=0)
    else:
        sums = np.array([data[:, column].sum() for column in range(24)])
print("sums", sums.tolist())
