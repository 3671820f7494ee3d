"""Imports 6000 tiny modules, or one module with the same contents."""

import importlib
import sys

sys.path.insert(0, ".")
sys.dont_write_bytecode = True
cured = sys.argv[1:] == ["twin"]
total = 0
if cured:
    module = importlib.import_module("plugins_one")
    total = sum(getattr(module, f"value{number}") for number in range(6000))
else:
    for number in range(6000):
        total += getattr(importlib.import_module(f"plugins.part{number:05d}"), f"value{number}")
print("total", total)
