"""Loads the same table for each of 90 queries, or once."""

import pickle
import sys

cured = sys.argv[1:] == ["twin"]
with open("table.pickle", "wb") as stream:
    pickle.dump([bytes(1 << 20) for _ in range(24)] + [list(range(50000))], stream, protocol=4)
table, total = None, 0
for query in range(90):
    if table is None or not cured:
        with open("table.pickle", "rb", buffering=0) as stream:
            table = pickle.load(stream)
    total += table[-1][query * 7] + len(table[query % 24])
print("total", total)
