"""Saves a large array as a whole, and reads it back."""

import sys

import numpy as np

np.save(sys.argv[1] + "/array.npy", np.ones(32 << 20))
print(np.load(sys.argv[1] + "/array.npy").sum())
