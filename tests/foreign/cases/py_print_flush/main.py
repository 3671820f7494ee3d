"""Prints each result to a file and flushes it, or leaves that to the end."""

import sys

cured = sys.argv[1:] == ["twin"]
with open("results.txt", "w") as stream:
    for number in range(400000):
        print(number, number * 7 % 1013, file=stream, flush=not cured)
print("lines 400000")
