"""Documents name things that exist: relative links, the paths in the two guides, one version everywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import iolens
import pytest

if shutil.which("git") is None:
    pytest.skip("git is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
TRACKED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
).stdout.split("\n")
DOCUMENTS = [name for name in TRACKED if name.endswith(".md")]
GUIDES = ["ARCHITECTURE.md", "CONTRIBUTING.md"]
MADE = ("build/",)


def anchors(text: str) -> set[str]:
    """Returns the anchors that links may name in a document: its headings, lower case, words joined by hyphens."""
    heads = re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def broken_links(document: Path) -> list[str]:
    """Returns the relative links of a document whose file or heading does not exist."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    return broken


@pytest.mark.skipif(not DOCUMENTS, reason="not a git checkout: its documents are not known")
def test_links_lead_somewhere() -> None:
    assert len(DOCUMENTS) > 20
    broken = {name: found for name in DOCUMENTS if (found := broken_links(ROOT / name))}
    assert broken == {}


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One head\n[a](page.md#one-head) [b](page.md#two) [c](missing.md) [d](https://example.org)\n")
    assert broken_links(page) == ["page.md#two", "missing.md"]


def test_addresses_of_other_sites_are_well_formed() -> None:
    """Only the form is checked here; `make docs-links` asks the sites, which needs a network."""
    sources = [
        name for name in TRACKED if name.endswith((".md", ".py")) and name.startswith(("docs", "report", "README"))
    ]
    found = {
        address
        for name in sources
        for address in re.findall(r"https?://[^\s<>()\[\]\"'`|]+", (ROOT / name).read_text())
    }
    outside = [address.rstrip(".,;:") for address in found if "{" not in address and "…" not in address]
    assert len(outside) > 15
    assert [
        each for each in outside if not re.fullmatch(r"https://([\w-]+\.)+[a-z]{2,}(/[\w./%#?=&~+-]*)?", each)
    ] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_the_guides_name_paths_that_exist(guide: str) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / guide).read_text(encoding="utf-8"), flags=re.M | re.S)
    words = re.findall(r"`([^`\s]+)`", text)
    tops = {path.name for path in ROOT.iterdir()}
    paths = [word for word in words if "/" in word and word.split("/")[0] in tops and not word.startswith(MADE)]
    assert len(paths) > 3
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_folders_of_the_profiler_stand_in_their_order() -> None:
    makefile = (ROOT / "profiler/Makefile").read_text()
    (line,) = re.findall(r"^FOLDERS := (.+)$", makefile, re.M)
    text = " ".join((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split())
    assert " → ".join(f"`{name}`" for name in [*line.split(), "recover"]) in text


def test_there_is_one_version() -> None:
    """The version of the Python package must be that of packages, logs (`lib_ver`) and workloads; two documents repeat
    it.
    """
    said = {
        "CITATION.cff": r"^version: (.+)$",
        "CHANGELOG.md": r"^## (\d[\d.]*)",
    }
    found = {name: re.findall(row, (ROOT / name).read_text(), re.M)[:1] for name, row in said.items()}
    assert found == {name: [iolens.__version__] for name in said}
