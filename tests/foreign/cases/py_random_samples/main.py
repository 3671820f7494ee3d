"""An epoch of training reads 25000 samples in random order: each from its place, or in order with a shuffle in memory."""

import os
import random
import sys
import zlib

cured = sys.argv[1:] == ["twin"]
size, number = 4096, 25000
order = list(range(number))
random.Random(5).shuffle(order)
file = os.open("input.bin", os.O_RDONLY)
if cured:
    samples = []
    for start in range(0, number, 256):
        block = os.pread(file, 256 * size, start * size)
        samples.extend(block[at : at + size] for at in range(0, len(block), size))
    fetch = samples.__getitem__
else:

    def fetch(sample):
        return os.pread(file, size, sample * size)


check = 0
for sample in order:
    check = zlib.crc32(fetch(sample)[:64], check)
print("check", check)
