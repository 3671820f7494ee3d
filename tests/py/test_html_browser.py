"""Tests HTML pages in a browser: the script runs without an error, sorts, searches, points, enlarges, and the page
prints.
"""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from iolens.figures.job_times import activity_map
from iolens.log import read_log
from iolens.pages.base.blocks import About, Cells, FigureBlock, Page, Ranks, Table, Text
from iolens.pages.exhibits.timelines import activity_figure
from iolens.pages.html import parts
from iolens.pages.html.parts import is_installed
from iolens.pages.output.document import write_document
from patience import PATIENCE

DATA = Path(__file__).parents[1] / "data"

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
  field.value = ""; field.dispatchEvent(new Event("input"));
  const ranks = page.querySelector("figure.rows label").lastElementChild;
  const only = (text) => {
    ranks.value = text; ranks.dispatchEvent(new Event("input"));
    return rows().map((row) => row.cells[0].textContent).sort();
  };
  said.ranks = only("1, 3-4"); said.ofRanks = ranks.closest(".tools").querySelector("output").textContent;
  said.noRank = only("77").length + ranks.getAttribute("aria-invalid"); said.allRanks = only("").length;
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
    """Makes a page with a table of sizes, a map of three ranks, text to paste, and a finding about the map."""
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
        Table(
            "Files", ["file", "size"], rows, ranks=lambda most: Ranks(["0-2,5", "all", *map(str, range(2, most))], 16)
        ),
    ]
    write_document(path, "A job", "and more", [Page("Job summary", blocks)])
    return path


TIMELINE_DRIVER = """<!DOCTYPE html><iframe src="timeline.html" width="1200" height="900"></iframe><pre id="said"></pre>
<script>
onload = async () => {
  const page = document.querySelector("iframe").contentDocument, said = {};
  const pause = () => new Promise((done) => setTimeout(done, 300));
  while (!page.querySelector(".explore[data-view]")) await pause();
  const place = page.querySelector(".explore");
  const [kind, ranks, file] = ["Show", "Ranks", "File"].map((name) =>
    [...place.querySelectorAll("label")].find((label) => label.textContent.startsWith(name)).lastElementChild);
  const set = async (field, value, event) => {
    field.value = value;
    field.dispatchEvent(new Event(event));
    await pause();
  };
  const drawn = () => place.querySelectorAll("canvas")[1].toDataURL();
  const shown = () => place.querySelector(".shown").textContent;
  const view = () => place.dataset.view.split(" ").map(Number);
  const lines = () => [...place.querySelectorAll(".listed tbody tr")].map((row) => row.cells[0].textContent);
  const charts = place.querySelector(".charts");
  const key = (name) => charts.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
  said.still = getComputedStyle(page.querySelector("figure > .scroll")).display;
  said.whole = shown();
  const settled = async () => {
    let last;
    do { last = drawn(); await pause(); } while (drawn() !== last);
    return last;
  };
  const before = await settled();
  await set(ranks, "0-1", "input");
  said.fewer = shown(); said.drawnAnew = drawn() !== before;
  await set(ranks, "77", "input");
  said.invalid = ranks.getAttribute("aria-invalid") + " " + place.querySelector("output").textContent;
  await set(ranks, "", "input");
  for (let waits = 0; waits < 10 && drawn() !== before; waits++) await pause();
  said.same = drawn() === before;
  await set(file, "0", "change");
  said.file = shown();
  await set(file, "-1", "change");
  await set(kind, "2", "change");
  said.read = shown();
  await set(kind, "0", "change");
  said.files = lines();
  place.querySelector(".listed thead button").click(); await pause();
  said.sorted = lines(); said.order = place.querySelector(".listed thead th").getAttribute("aria-sort");
  place.querySelector("button[aria-label='Zoom in']").click(); await pause();
  said.zoomed = view();
  for (const name of ["ArrowRight", "ArrowUp"]) key(name);
  said.keys = place.querySelector("output").textContent;
  key("0"); await pause();
  said.back = view();
  const over = place.querySelectorAll(".u-over")[1], box = over.getBoundingClientRect();
  const at = (part) =>
    ({ clientX: box.left + part * box.width, clientY: box.top + 5, button: 0, bubbles: true, movementX: 9 });
  over.dispatchEvent(new MouseEvent("mousemove", at(0.2)));
  over.dispatchEvent(new MouseEvent("mousedown", at(0.2)));
  over.dispatchEvent(new MouseEvent("mousemove", at(0.4)));
  page.dispatchEvent(new MouseEvent("mouseup", at(0.4))); await pause();
  said.dragged = view().map(Math.round);
  said.labels = [...place.querySelectorAll("button, canvas, select, input")].every((one) =>
    one.textContent.length > 1 || one.ariaLabel || one.labels?.length);
  document.getElementById("said").textContent = JSON.stringify(said);
};
</script>"""


@pytest.fixture(scope="module")
def timeline_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a page with the timeline of four ranks: each makes one call a second, to write one file and to read
    another.
    """
    if not is_installed():
        pytest.skip("uPlot is not installed: packaging/plotting.sh")
    path = tmp_path_factory.mktemp("timeline") / "timeline.html"
    seconds, ranks = np.arange(100), np.arange(100) % 4
    calls = {"id": 1 + seconds // 50, "rank": ranks, "op": np.where(seconds < 50, "write", "read").astype(object)}
    calls |= {"offset": 0, "length": 1 << 20, "start": seconds + 0.25, "end": seconds + 0.75}
    names = {1: "/scratch/written", 2: "/scratch/<b>read"}
    job = read_log(next(DATA.rglob("empty_log.darshan")))
    job = replace(job, frames={"DXT_POSIX": pd.DataFrame(calls)}, names=names, nprocs=4, run_time=100.0)
    write_document(path, "A job", "and more", [Page("When", [activity_figure(job, "POSIX")])])
    return path


def test_a_timeline_zooms_filters_and_sorts(timeline_page: Path) -> None:
    said = driven(timeline_page, TIMELINE_DRIVER)
    assert said == {
        "still": "none",
        "whole": "In view: 0 s to 100 s of 100 s, all ranks, 2 files: 50 MiB written, 50 MiB read in 100 calls.",
        "fewer": "In view: 0 s to 100 s of 100 s, ranks 0-1, 2 files: 26 MiB written, 24 MiB read in 50 calls.",
        "drawnAnew": True,
        "invalid": "true No such rank: 77; there are 0 to 3.",
        "same": True,
        "file": "In view: 0 s to 100 s of 100 s, all ranks, /scratch/written: 50 MiB written, 0 B read in 50 calls.",
        "read": "In view: 0 s to 100 s of 100 s, all ranks, one file: 0 B written, 50 MiB read in 50 calls.",
        "files": ["/scratch/written", "/scratch/<b>read"],
        "sorted": ["/scratch/<b>read", "/scratch/written"],
        "order": "ascending",
        "zoomed": [25, 75],
        "keys": "rank 1, 25.0 s to 25.1 s: 0 B written; 0 B read",
        "back": [0, 100],
        "dragged": [20, 40],
        "labels": True,
    }


def test_a_timeline_prints_still(timeline_page: Path) -> None:
    text = printed(timeline_page)
    assert "seconds since the start of the job" in text
    assert "Whole run" not in text
    assert "MIT licence" in text


def test_without_its_library_a_page_says_why_it_is_still(
    timeline_page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "FOLDER", tmp_path)
    job = read_log(next(DATA.rglob("treddy*.darshan")))
    write_document(tmp_path / "x.html", "t", "s", [Page("When", [activity_figure(job, "POSIX")])])
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "packaging/plotting.sh fetches it" in text
    assert "uPlot=" not in text
    assert "<svg " in text


def browse(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    profile = f"--user-data-dir={page.parent / 'profile'}"
    return subprocess.run([str(BROWSER), *QUIET, profile, *options], capture_output=True, text=True, timeout=PATIENCE)


def driven(page: Path, driver: str) -> dict[str, Any]:
    """Returns the findings of a script that operates the given page; fails if the console has any message."""
    path = page.with_name("driver.html")
    path.write_text(driver, encoding="utf-8")
    done = browse(page, "--virtual-time-budget=20000", "--dump-dom", f"file://{path}")
    assert "CONSOLE" not in done.stderr, done.stderr
    found: dict[str, Any] = json.loads(html.unescape(done.stdout.split('<pre id="said">')[1].split("</pre>")[0]))
    return found


def printed(page: Path) -> str:
    """Returns the text of a page as it is printed on paper."""
    pdf = page.with_suffix(".pdf")
    browse(page, f"--print-to-pdf={pdf}", "--no-pdf-header-footer", f"file://{page}")
    return subprocess.run(["pdftotext", "-layout", str(pdf), "-"], check=True, capture_output=True, text=True).stdout


def test_the_page_works(page: Path) -> None:
    said = driven(page, DRIVER)
    assert said.pop("copy") in ("Copied", "Selected")
    assert said == {
        "most": "1.5 GiB",
        "least": "99 s",
        "names": "file-11",
        "found": 1,
        "ranks": ["file-0", "file-1", "file-3", "file-4"],
        "ofRanks": "4 of 12 rows: 3 that these ranks used, 1 that all ranks used and the log has the sums of. "
        "Numbers are of all ranks of a row.",
        "noRank": "4true",
        "allRanks": 12,
        "keys": "rank 1, 1 to 1.5 s: 7 MiB written, 0 B read",
        "pointer": "rank 2, 1.5 to 2 s: 12 MiB written, 0 B read",
        "larger": True,
        "links": True,
    }


def test_the_page_prints(page: Path) -> None:
    text = printed(page)
    assert "file-11" in text
    assert "lfs setstripe -c 4 FOLDER" in text
    assert "Copy" not in text
