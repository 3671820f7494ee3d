"""The table of published measurements in storage/README.md is the one that its program prints, and the counts in words
are those of the table.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_published_measurements_is_what_the_model_gives() -> None:
    program = [sys.executable, str(ROOT / "tests/bench/published.py")]
    printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert printed in (ROOT / "storage/README.md").read_text(encoding="utf-8")
    assert printed.count("\n") == 27
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines()[2:]]
    right, near = (sum(row[place] == "yes" for row in rows) for place in (4, 5))
    known = sum(row[5] != "" for row in rows)
    for page in ("storage/README.md", "paper/paper.md"):
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert f"{right} of {len(rows)} r" in text, page
        assert re.search(rf"\b{near} of (the )?{known}\b", text), page
