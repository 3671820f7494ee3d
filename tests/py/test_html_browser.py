"""HTML pages in a browser: the script runs without an error, sorts, searches, points, enlarges, and the page prints."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iolens.figures.activity import activity_map
from iolens.pages.blocks import About, Cells, FigureBlock, Page, Table, Text
from iolens.pages.document import write_document

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-extensions --allow-file-access-from-files "
    "--disable-web-security --enable-logging=stderr"
).split()

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

DRIVER = """<!DOCTYPE html><iframe src="page.html" width="1200" height="900"></iframe><pre id="said"></pre><script>
onload = async () => {
  const page = document.querySelector("iframe").contentDocument, said = {};
  const rows = () => [...page.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
  const first = () => rows()[0].cells[1].textContent;
  const heads = page.querySelectorAll("thead button");
  heads[1].click(); said.most = first();
  heads[1].click(); said.least = first();
  heads[0].click(); heads[0].click(); said.names = rows()[0].cells[0].textContent;
  const field = page.querySelector("input[type=search]");
  field.value = "FILE-7 kib"; field.dispatchEvent(new Event("input")); said.found = rows().length;
  page.querySelector(".code button").click();
  await new Promise((done) => setTimeout(done, 300));
  said.copy = page.querySelector(".code button").textContent;
  const map = page.querySelector("figure[data-cells]"), place = map.querySelector(".scroll");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) place.dispatchEvent(new KeyboardEvent("keydown", { key }));
  said.keys = map.querySelector("output").textContent;
  const box = map.querySelector("image").getBoundingClientRect();
  const at = { clientX: box.left + 0.95 * box.width, clientY: box.top + 0.1 * box.height };
  map.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", at));
  said.pointer = map.querySelector("output").textContent;
  const wide = map.querySelector("svg").clientWidth;
  map.querySelector("button").click();
  said.larger = map.querySelector("svg").clientWidth > 1.2 * wide;
  said.links = [...page.querySelectorAll("a")].every((link) => page.getElementById(link.hash.slice(1)));
  document.getElementById("said").textContent = JSON.stringify(said);
};
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of sizes, a map of three ranks, text to paste, and a finding about the map."""
    path = tmp_path_factory.mktemp("browser") / "page.html"
    sizes = ["1.5 GiB", "900 MiB", "12 KiB", "n/a", "2 min 5 s", "99 s", *["7 KiB"] * 6]
    rows = [[f"file-{n}", size] for n, size in enumerate(sizes)]
    written = np.arange(1.0, 13.0).reshape(3, 4) * (1 << 20)
    read = np.zeros((3, 4))
    cells = Cells({"written": written, "read": read}, [f"rank {n}" for n in range(3)], 0.5)
    about = About("activity", "Bytes over time", "Bytes per bin.")
    blocks = [
        Text("1. One rank is slow: at most 5 %", "finding", "activity"),
        Text("lfs setstripe -c 4 FOLDER", "code"),
        FigureBlock(activity_map(written, read, 0.5, 3), title="POSIX: bytes over time", about=about, cells=cells),
        Table("Files", ["file", "size"], rows),
    ]
    write_document(path, "A job", "and more", [Page("Job summary", blocks)])
    return path


def browse(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    profile = f"--user-data-dir={page.parent / 'profile'}"
    return subprocess.run([str(BROWSER), *QUIET, profile, *options], capture_output=True, text=True, timeout=300)


def test_the_page_works(page: Path) -> None:
    driver = page.with_name("driver.html")
    driver.write_text(DRIVER, encoding="utf-8")
    done = browse(page, "--virtual-time-budget=10000", "--dump-dom", f"file://{driver}")
    assert "CONSOLE" not in done.stderr, done.stderr
    said: dict[str, Any] = json.loads(html.unescape(done.stdout.split('<pre id="said">')[1].split("</pre>")[0]))
    assert said.pop("copy") in ("Copied", "Selected")
    assert said == {
        "most": "1.5 GiB",
        "least": "99 s",
        "names": "file-11",
        "found": 1,
        "keys": "rank 1, 1 to 1.5 s: 7.00 MiB written, 0 B read",
        "pointer": "rank 2, 1.5 to 2 s: 12.0 MiB written, 0 B read",
        "larger": True,
        "links": True,
    }


def test_the_page_prints(page: Path) -> None:
    pdf = page.with_suffix(".pdf")
    browse(page, f"--print-to-pdf={pdf}", "--no-pdf-header-footer", f"file://{page}")
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], check=True, capture_output=True, text=True).stdout
    assert "file-11" in text
    assert "lfs setstripe -c 4 FOLDER" in text
    assert "Copy" not in text
