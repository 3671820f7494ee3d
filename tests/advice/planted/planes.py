"""Writes an HDF5 dataset plane by plane, without a chunk cache; the command line gives the number of planes in a
chunk.
"""

import sys

import h5py
import numpy as np

PLANES, SIDE = 1100, 128
with h5py.File(sys.argv[1] + "/planes.h5", "w", rdcc_nbytes=0) as file:
    data = file.create_dataset("data", (PLANES, SIDE, SIDE), "f8", chunks=(int(sys.argv[2]), SIDE, SIDE))
    for plane in range(PLANES):
        data[plane] = np.full((SIDE, SIDE), plane, "f8")
