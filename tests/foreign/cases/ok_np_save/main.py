"""Computes an array, saves it, loads it again and sums it."""

import numpy as np

values = np.sqrt(np.arange(12 << 20, dtype=float))
np.save("values.npy", values)
print("sum", float(np.load("values.npy").sum()))
