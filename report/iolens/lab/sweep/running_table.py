"""The table of the runs that are done so far, which others may read while a sweep goes on."""

from __future__ import annotations

from pathlib import Path

from iolens.lab.files import write_aside
from iolens.lab.sweep.results import load_results

RUNS = "runs.csv"
"""Below the folder of the sweep."""


def write_runs(folder: Path) -> None:
    """One row a run, with the columns of `Results.runs`; lists are words in one cell."""
    import pandas as pd

    results = load_results(folder)
    table = pd.concat([results.runs, results.fresh], ignore_index=True)
    for name in table.columns:
        table[name] = [" ".join(map(str, value)) if isinstance(value, tuple | list) else value for value in table[name]]
    write_aside(folder / RUNS, table.to_csv(index=False))
