"""Writes records to a binary file that was opened without a buffer, or with one."""

import struct
import sys

cured = sys.argv[1:] == ["twin"]
with open("records.bin", "wb", buffering=-1 if cured else 0) as stream:
    for number in range(500000):
        stream.write(struct.pack("<qd", number, number * 0.5))
print("records 500000")
