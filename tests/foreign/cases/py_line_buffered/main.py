"""Logs each item to a file that is open with line buffering, or with the default buffer."""

import sys

cured = sys.argv[1:] == ["twin"]
with open("run.log", "a", buffering=-1 if cured else 1) as log:
    for number in range(500000):
        log.write(f"item {number} done\n")
print("messages 500000")
