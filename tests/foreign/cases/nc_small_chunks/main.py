"""Writes a netCDF variable with chunks of eight values, or of 32768."""

import sys

import netCDF4
import numpy as np

cured = sys.argv[1:] == ["twin"]
values = np.arange(6144 * 64, dtype="f8").reshape(6144, 64)
with netCDF4.Dataset("field.nc", "w") as file:
    file.createDimension("y", values.shape[0])
    file.createDimension("x", values.shape[1])
    field = file.createVariable("field", "f8", ("y", "x"), chunksizes=(512, 64) if cured else (1, 8))
    field[:] = values
print("sum", float(values.sum()))
