"""Loads records from one file each, or from one file with a record in each line."""

import json
import os
import sys

cured = sys.argv[1:] == ["twin"]
total = 0
if cured:
    with open("records.jsonl") as stream:
        for line in stream:
            total += json.loads(line)["value"]
else:
    for name in sorted(os.listdir("records")):
        with open("records/" + name) as stream:
            total += json.load(stream)["value"]
print("total", total)
