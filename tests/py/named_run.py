"""Checks that every output of a log has the same headline for the run."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.log import Job
from iolens.pages.job.time_bar import time_bar

UNCERTAIN = ("not attributed", "not on a core", "in OpenMP's library")
"""Parts of the time that may turn into other parts if a log has more data; they are not compared."""


def largest(sizes: Mapping[str, float]) -> str:
    """Returns the name of the largest part that is not in UNCERTAIN."""
    return max((name for name in sizes if name not in UNCERTAIN), key=lambda name: sizes[name])


def largest_of_bar(job: Job) -> str:
    """Returns the name of the widest segment in the bar on the first page."""
    (bar,) = time_bar(job)
    return largest({bars.get_label(): bars.patches[0].get_width() for bars in bar.figure.axes[0].containers})


def assert_outputs_name(log: Path, headlines: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Asserts that terminal, line, JSON, HTML and PDF have the same headline, which is one of these; returns what
    `show` printed. The PDF is left out where pdftotext is missing.
    """
    capsys.readouterr()
    said = {}
    for words in ("show", "show --all", "show --line", "advise", "show --json", "advise --json"):
        assert main([*words.split(), str(log)]) == 0
        said[words] = capsys.readouterr().out
    shown = said["show --all"]
    for words in ("show --json", "advise --json"):
        said[words] = json.loads(said[words])["verdict"]["sentence"]
    for suffix in (".html", ".pdf"):
        assert main(["report", str(log), "-o", str(folder / f"report{suffix}")]) == 0
    said["HTML"] = html.unescape(re.sub(r"<[^>]+>", " ", (folder / "report.html").read_text(encoding="utf-8")))
    if shutil.which("pdftotext"):
        words = ["pdftotext", str(folder / "report.pdf"), "-"]
        said["PDF"] = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    flat = {output: " ".join(text.split()) for output, text in said.items()}
    wanted = next((one for one in headlines if one in flat["advise --json"]), headlines[0])
    assert {output: text[:300] for output, text in flat.items() if wanted not in text} == {}
    assert flat["show"].count("Bound by") == flat["advise"].count("Bound by")
    return shown
