"""Advice on labelled logs (tests/advice): what must be said, what may be, and silence on healthy jobs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from iolens.advise import findings, verdict
from iolens.advise.table import RULES
from iolens.log import read_log
from iolens.pages.advice import as_text

TESTS = Path(__file__).parents[1]
KNOWN = {rule.id for rule in RULES}
LOGS = {path.stem: path for folder in ("advice/logs", "data") for path in (TESTS / folder).rglob("*.darshan")}


@cache
def judged(corpus: str) -> dict[str, tuple[set[str], set[str], set[str]]]:
    """Of each log of a corpus: what was said, what must be, what may be."""
    rows = yaml.safe_load((TESTS / "advice" / corpus).read_text(encoding="utf-8"))
    found = {}
    for row in rows:
        must, may = set(row.get("must", [])), set(row.get("may", []))
        assert must | may <= KNOWN, row["name"]
        assert not (row.get("healthy") and must | may), row["name"]
        found[row["name"]] = ({one.id for one in findings(read_log(log_of(row)))}, must, may)
    return found


def log_of(row: dict[str, Any]) -> Path:
    """The log of a row: its own, or that of a real machine."""
    return LOGS[row.get("log", row["name"])]


def scores(corpus: str) -> tuple[float, float, list[str]]:
    """Precision, recall, and each error in words."""
    right, wrong, missed, errors = 0, 0, 0, []
    for name, (said, must, may) in judged(corpus).items():
        right, wrong, missed = right + len(said & must), wrong + len(said - must - may), missed + len(must - said)
        errors += [f"{name}: {rule} was said" for rule in sorted(said - must - may)]
        errors += [f"{name}: {rule} was not said" for rule in sorted(must - said)]
    return right / max(1, right + wrong), right / max(1, right + missed), errors


def test_precision_and_recall_on_the_corpus() -> None:
    assert len(judged("corpus.yaml")) >= 60
    precision, recall, errors = scores("corpus.yaml")
    print(f"precision {precision:.3f}, recall {recall:.3f}", *errors, sep="\n")
    assert precision >= 0.95, errors
    assert recall >= 0.90, errors


def test_healthy_jobs_get_no_advice() -> None:
    rows = yaml.safe_load((TESTS / "advice/corpus.yaml").read_text(encoding="utf-8"))
    healthy = [row for row in rows if row.get("healthy")]
    assert len(healthy) >= 10
    for row in healthy:
        said, _, _ = judged("corpus.yaml")[row["name"]]
        assert said == set(), row["name"]
        assert verdict(read_log(log_of(row))).kind in {"nothing", "transfers", "compute"}, row["name"]


@pytest.mark.parametrize("name", ["small-writes", "one-aggregator", "nfs", "e3sm", "bad-ost", "killed"])
def test_advice_fits_a_terminal(name: str) -> None:
    rows = yaml.safe_load((TESTS / "advice/corpus.yaml").read_text(encoding="utf-8"))
    job = read_log(log_of(next(row for row in rows if row["name"] == name)))
    text = as_text(job, verdict(job), findings(job))
    assert max(map(len, text.splitlines())) <= 80


def test_precision_and_recall_on_logs_that_the_rules_were_not_made_with() -> None:
    precision, recall, errors = scores("heldout.yaml")
    assert precision >= 0.90, errors
    assert recall >= 0.90, errors
