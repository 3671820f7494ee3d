"""Try the readers of all kinds of output one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from iolens.errors import IolensError
from iolens.foreign import printable_text
from iolens.lab.outputs.btio import read_btio
from iolens.lab.outputs.e3sm import read_e3sm
from iolens.lab.outputs.ior import read_ior, read_ior_csv, read_ior_json
from iolens.lab.outputs.mapl import read_mapl
from iolens.lab.outputs.mdtest import read_mdtest
from iolens.lab.outputs.npb import read_npb
from iolens.lab.outputs.osu import read_osu
from iolens.lab.outputs.result import read_result
from iolens.metrics.subjects.subject import Output

READERS: Mapping[str, Callable[[str], Output | None]] = {
    "NPB and its BT-IO": read_npb,
    "BTIO": read_btio,
    "E3SM-IO": read_e3sm,
    "IOR": read_ior,
    "IOR's JSON": read_ior_json,
    "IOR's CSV": read_ior_csv,
    "mdtest": read_mdtest,
    "MAPL's simulators": read_mapl,
    "OSU micro-benchmarks": read_osu,
    "the toolkit's result JSON": read_result,
}
"""Readers by the kind of output; each returns None for other texts."""

_MOST = 64 * 2**20
"""Maximum number of bytes of a text that are read; outputs are far shorter."""


def _read_text(path: Path) -> str:
    """Returns the text of a file, whatever bytes it contains."""
    try:
        with path.open("rb") as file:
            return printable_text(file.read(_MOST).decode("utf-8", errors="replace"), keep="\n\r\t")
    except OSError as error:
        raise IolensError(f"{path}: cannot be read ({error.strerror})") from error


def read_output(path: Path) -> Output | None:
    """Returns the values that a benchmark printed into this file; None if no reader knows its form."""
    text = _read_text(path)
    return next((found for read in READERS.values() if (found := read(text)) is not None), None)
