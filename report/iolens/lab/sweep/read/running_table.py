"""Write the table of finished runs, which other programs may read while a sweep continues."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from iolens.lab.files import write_aside
from iolens.lab.sweep.read.results import load_results
from iolens.lazy import pd

_RUNS, _SAME = "runs.csv", "runs.parquet"
"""File names below the folder of the sweep; the second file is written if pyarrow is installed."""


def write_runs(folder: Path) -> None:
    """Writes one row per run with the columns of `Results.runs`; a list becomes words in one cell."""
    results = load_results(folder)
    table = pd.concat([results.runs, results.fresh], ignore_index=True)
    for name in table.columns:
        table[name] = [" ".join(map(str, value)) if isinstance(value, tuple | list) else value for value in table[name]]
    write_aside(folder / _RUNS, table.to_csv(index=False))
    if find_spec("pyarrow"):
        mixed = [name for name in table.columns if table[name].dtype == object]
        words = {name: table[name].map(str, na_action="ignore") for name in mixed}
        aside = folder / f"{_SAME}.new"
        try:
            table.assign(**words).to_parquet(aside, index=False)
            aside.replace(folder / _SAME)
        finally:
            aside.unlink(missing_ok=True)
