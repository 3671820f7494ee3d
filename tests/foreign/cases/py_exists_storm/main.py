"""Looks for an override file for each key, or lists the folder once."""

import os
import sys

cured = sys.argv[1:] == ["twin"]
present = set(os.listdir("items")) if cured else None
found = 0
for number in range(250000):
    name = f"item{number % 4000:06d}"
    if cured:
        found += name in present
    else:
        found += os.path.exists("items/" + name)
print("found", found)
