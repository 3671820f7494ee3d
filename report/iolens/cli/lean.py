"""What libraries do while they are imported, and a command has no use for.

Only a command's own process may leave it out: a program that imports iolens finds its libraries whole.
"""

from __future__ import annotations

import sys
import warnings

WITHOUT_ARROW = {"report", "show", "table", "advise", "rank-order", "export", "listing", "compare", "diff"}
"""Commands that read their tables with pandas alone."""
DRAWING = {"report", "compare"}
"""Commands that draw whatever they are asked for."""


def lean(command: str, parquet: bool) -> None:
    """Prepare the import of pandas and matplotlib for a command; `parquet`: whether it writes such files."""
    if command in WITHOUT_ARROW and not parquet:
        leave_arrow()
    if command in DRAWING:
        leave_documentation()


def leave_arrow() -> None:
    """Keep pandas from loading pyarrow where that is installed, not in a program that has pandas already.

    It is a quarter of pandas' own import, and names of columns are found more slowly with it. Pandas has no setting
    for this: it takes pyarrow for absent when its import fails, which an entry of None makes it do.
    """
    if "pandas" not in sys.modules:
        sys.modules.setdefault("pyarrow", None)  # type: ignore[arg-type]


def leave_documentation() -> None:
    """Import the part of matplotlib that all figures need, without what it makes for readers of its manual.

    It writes the properties of each of its 100 classes into their docstrings, which takes a third of the import, and
    looks whether its axes in three dimensions are there.
    """
    import matplotlib.artist

    matplotlib.artist.kwdoc = lambda artist: ""
    absent = "mpl_toolkits.mplot3d"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unable to import Axes3D")
        sys.modules.setdefault(absent, None)  # type: ignore[arg-type]
        import matplotlib.projections
