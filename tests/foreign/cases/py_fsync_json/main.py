"""Saves its state after each step with fsync and rename, or only at the end."""

import json
import os
import sys

cured = sys.argv[1:] == ["twin"]
state = {"step": 0, "values": list(range(200))}
for step in range(450):
    state["step"] = step
    state["values"][step % 200] += step
    if cured and step < 449:
        continue
    with open("state.tmp", "w") as stream:
        json.dump(state, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace("state.tmp", "state.json")
print("sum", sum(json.load(open("state.json"))["values"]))
