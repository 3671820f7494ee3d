"""Sums numbers from standard input."""

import sys

print("total", sum(int(line) for line in sys.stdin))
