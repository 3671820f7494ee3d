"""What a command leaves out of its libraries' import comes back when a figure or a page needs it."""

import subprocess
import sys

import pytest
from iolens.cli import lean

COMMAND = """
import sys
from iolens.cli.lean import lean
from iolens.cli.stand_in import StandIn

lean("report", parquet=False)
assert all(isinstance(sys.modules[name], StandIn) for name in ("pyparsing", "matplotlib.mathtext", "PIL.ExifTags"))
"""

FORMULA = """
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from iolens.pages.html.svg import svg

figure = Figure()
figure.text(0.5, 0.5, "$10^{3}$ accesses")
drawn = svg(figure, "key", "title")
assert "<text" not in drawn and drawn.count("<path") == 2
assert FontProperties("sans:bold").get_weight() == "bold"
assert not isinstance(sys.modules["pyparsing"], StandIn)
"""

PHOTOGRAPH = """
import PIL.ExifTags

assert PIL.ExifTags.TAGS[0x010F] == "Make"
"""

OTHERWISE = """
import sys
from iolens.cli import lean
from iolens.cli.stand_in import StandIn, StandIns

lean.NEW_ENOUGH = "1.0"
lean.lean("report", parquet=False)
assert not any(isinstance(one, StandIns) for one in sys.meta_path)
left = [name for name, one in sys.modules.items() if isinstance(one, StandIn) or name.startswith("matplotlib")]
assert not left, left
"""


def test_a_library_that_is_made_otherwise_comes_whole() -> None:
    found = subprocess.run([sys.executable, "-c", OTHERWISE + FORMULA + PHOTOGRAPH], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_a_matplotlib_that_insists_on_three_dimensions_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def insisting(name: str) -> None:
        raise ImportError(name)

    monkeypatch.delitem(sys.modules, "mpl_toolkits.mplot3d", raising=False)
    monkeypatch.setattr(lean, "import_module", insisting)
    lean.leave_three_dimensions()
    assert "mpl_toolkits.mplot3d" not in sys.modules


def test_what_was_left_out_is_there_when_it_is_used() -> None:
    found = subprocess.run([sys.executable, "-c", COMMAND + FORMULA + PHOTOGRAPH], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
