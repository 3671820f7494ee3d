"""A running sweep in the terminal: every point with its runs and its typical value so far, the best first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iolens.lab.sweep.perform.progress import Lines, Progress
from iolens.metrics.comparison.settings import three_digits
from iolens.pages.base.blocks import Table
from iolens.pages.base.words import duration, speed
from iolens.pages.text.lines import table_text

if TYPE_CHECKING:
    from rich.live import Live

    from iolens.lab.sweep.read.results import Results

_AROUND = 7
"""Number of lines on the screen that are not rows of the table."""

_BAR = 24
"""Maximum length of a bar in characters."""


@contextmanager
def shown(folder: Path, total: int, done: int) -> Iterator[Progress]:
    """Yields a table that is redrawn in place if the output is a terminal, else one line per run."""
    if not sys.stdout.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.live import Live

    from iolens.pages.job.job_screen import screen

    here = screen()
    console = Console(width=here.width, highlight=False, no_color=not here.styled)
    with Live(console=console, auto_refresh=False) as view:
        yield Screenful(view, folder, total, done, here.width)


class Screenful(Progress):
    """The table of points, with the progress of the sweep below it."""

    def __init__(self, view: Live, folder: Path, total: int, done: int, width: int) -> None:
        self.view, self.folder, self.width = view, folder, width
        self.total, self.done, self.left = total, done, 0.0
        self.running = self.last = ""
        self.table: list[str] = []

    def begun(self, run: str) -> None:
        """Shows the name of the run that has begun."""
        self.running = run
        self.draw()

    def __call__(self, done: int, total: int, line: str, left: float) -> None:
        """Reads the results so far and shows them."""
        self.done, self.total, self.last, self.left = done, total, line, left
        if line.partition(":")[0] == self.running:
            self.running = ""
        rows = max(1, self.view.console.height - _AROUND)
        self.table = standing_lines(self.folder, self.width, rows)
        self.draw()

    def draw(self) -> None:
        """Draws the table and the state on the screen."""
        from rich.text import Text

        state = [f"{self.done} of {self.total} runs" if self.total else ""]
        state += [f"{duration(self.left)} left" if self.left else "", f"now {self.running}" if self.running else ""]
        lines = [*self.table, "", ", ".join(filter(None, state)), f"last: {self.last}" if self.last else ""]
        self.view.update(Text("\n".join(line[: self.width] for line in lines), no_wrap=True), refresh=True)


def standing_lines(folder: Path, width: int, most: int) -> list[str]:
    """Returns the table of points that have a run, in at most `most` rows; nothing before the first run."""
    from iolens.errors import IolensError
    from iolens.lab.sweep.read.results import load_results

    try:
        results = load_results(folder)
    except IolensError:
        return []
    table = _typical_so_far(results, most)
    return table_text(table, width) if table else []


def _typical_so_far(results: Results, most: int) -> Table | None:
    """Returns every point's typical value so far (`metrics/comparison/results.py`), the best first; None if no value
    is compared.
    """
    from iolens.metrics.comparison.results import compare
    from iolens.metrics.comparison.settings import BANDWIDTH

    points = compare(results.runs, results.settings, results.measure).points
    points = points[points["count"] > 0].sort_values("value", ascending=results.measure.less_is_better, kind="stable")
    if points.empty:
        return None
    longest, say = float(points["value"].max()), speed if results.measure.unit == BANDWIDTH.unit else seconds
    rows = [
        [
            row["label"],
            str(row["count"]),
            say(row["value"]),
            _interval_words(row, say),
            _bar(row["value"] / longest),
        ]
        for row in points.head(most).to_dict("records")
    ]
    rest = len(points) - len(rows)
    note = f"The {rest} slowest points are not shown." if rest else ""
    return Table(results.title, ["setting", "runs", "typical", "95 % interval", ""], rows, note)


def _interval_words(row: Mapping[Hashable, Any], say: Callable[[float], str]) -> str:
    """Returns a point's interval in words; empty before it has three runs, because fewer say little about the
    spread.
    """
    return f"{say(row['low'])} to {say(row['high'])}" if row["count"] >= 3 else ""


def seconds(value: float) -> str:
    """Returns a time with three digits."""
    return f"{three_digits(value)} s"


def _bar(share: float) -> str:
    """Returns a bar whose length is this share of the longest bar."""
    return "█" * max(1, round(_BAR * share))
