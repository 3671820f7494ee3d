"""Writes a table of floating point numbers as CSV, or as an array."""

import array
import csv
import sys

cured = sys.argv[1:] == ["twin"]
values = array.array("d", ((number % 1013) * 1.37e-3 + number for number in range(1000000)))
if cured:
    with open("table.bin", "wb") as stream:
        values.tofile(stream)
else:
    with open("table.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        for start in range(0, len(values), 8):
            writer.writerow(values[start : start + 8])
print("values", len(values), sum(values))
