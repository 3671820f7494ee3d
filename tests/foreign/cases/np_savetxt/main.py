"""Saves an array as text, or as an array."""

import sys

import numpy as np

cured = sys.argv[1:] == ["twin"]
values = np.arange(700000, dtype=float).reshape(-1, 8) * 1.37e-3
if cured:
    np.save("values.npy", values)
else:
    np.savetxt("values.txt", values)
print("sum", values.sum())
