"""Compresses a table at the highest level, or at the lowest."""

import gzip
import sys

cured = sys.argv[1:] == ["twin"]
lines = "".join(f"{number} {number * 7919 % 100003} {number * 31 % 977}\n" for number in range(500000)).encode()
with gzip.open("table.gz", "wb", compresslevel=1 if cured else 9) as stream:
    for _ in range(1):
        stream.write(lines)
print("bytes", len(lines))
