"""Tests the advice on labelled logs (tests/advice): findings that must appear, findings that may appear, and no finding
on healthy jobs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from iolens.advise import Finding, Verdict, diagnosis, rules
from iolens.advise.finding import SEVERITIES
from iolens.advise.rule import Rule
from iolens.advise.table import RULES
from iolens.log import read_log
from iolens.pages.wording.job_lists import advice_json, advice_text

TESTS = Path(__file__).parents[1]
KNOWN = {rule.id for rule in RULES}
BEFORE = {rule.id: rule.before for rule in RULES}
LOGS = {path.stem: path for folder in ("advice/logs", "data") for path in (TESTS / folder).rglob("*.darshan")}


def test_every_rule_has_its_place_in_the_order() -> None:
    """A rule that is missing in the table of rules is never applied, which nobody would notice."""
    modules = [
        import_module(f"{rules.__name__}.{path.stem}") for path in Path(rules.__file__).parent.glob("*_rules.py")
    ]
    written = [value for module in modules for value in vars(module).values() if isinstance(value, Rule)]
    assert {rule.id for rule in written} == KNOWN
    assert len(RULES) == len(KNOWN) == len(written)


@dataclass(frozen=True)
class Judged:
    """A labelled log and the advice on it."""

    name: str
    must: frozenset[str]
    may: frozenset[str]
    healthy: bool
    verdict: Verdict
    findings: tuple[Finding, ...]
    text: str
    json: str

    @property
    def said(self) -> frozenset[str]:
        """Returns the ids of the rules that found something."""
        return frozenset(one.id for one in self.findings)


@cache
def judged(corpus: str) -> tuple[Judged, ...]:
    """Returns the labelled logs of a set, with the advice on each."""
    found = []
    for row in yaml.safe_load((TESTS / "advice" / corpus).read_text(encoding="utf-8")):
        job = read_log(LOGS[row.get("log", row["name"])])
        found_of = diagnosis(job)
        labels = (frozenset(row.get("must", [])), frozenset(row.get("may", [])), bool(row.get("healthy")))
        texts = advice_text(job, found_of), advice_json(job, found_of)
        found.append(Judged(row["name"], *labels, found_of.verdict, found_of.findings, *texts))
    return tuple(found)


def scores(corpus: str) -> tuple[float, float, list[str]]:
    """Returns precision, recall, and each error as a sentence."""
    right, wrong, missed, errors = 0, 0, 0, []
    for one in judged(corpus):
        more, less = one.said - one.must - one.may, one.must - one.said
        right, wrong, missed = right + len(one.said & one.must), wrong + len(more), missed + len(less)
        errors += [f"{one.name}: {rule} was said" for rule in sorted(more)]
        errors += [f"{one.name}: {rule} was not said" for rule in sorted(less)]
    return right / max(1, right + wrong), right / max(1, right + missed), errors


def test_labels_are_rules() -> None:
    everything = (*judged("corpus.yaml"), *judged("heldout.yaml"))
    assert all(one.must | one.may <= KNOWN for one in everything)
    assert not [one.name for one in everything if one.healthy and one.must | one.may]
    assert len({one.name for one in everything}) == len(everything)


def test_precision_and_recall_on_the_corpus() -> None:
    assert len(judged("corpus.yaml")) >= 60
    precision, recall, errors = scores("corpus.yaml")
    assert precision >= 0.95, errors
    assert recall >= 0.90, errors


def test_precision_and_recall_on_logs_that_the_rules_were_not_made_with() -> None:
    precision, recall, errors = scores("heldout.yaml")
    assert precision >= 0.90, errors
    assert recall >= 0.90, errors


def test_healthy_jobs_get_no_advice() -> None:
    healthy = [one for corpus in ("corpus.yaml", "heldout.yaml") for one in judged(corpus) if one.healthy]
    assert len(healthy) >= 10
    assert {one.name: set(one.said) for one in healthy if one.said} == {}
    assert {one.verdict.kind for one in healthy} <= {"nothing", "transfers", "compute", "asleep", "mpi"}


def test_findings_are_bounded_and_most_gain_comes_first() -> None:
    for one in judged("corpus.yaml"):
        causes = {key for each in one.findings for key in BEFORE[each.id]}
        gains = [each.gain for each in one.findings if each.gain is not None and each.id not in causes]
        if not any(BEFORE[each.id] for each in one.findings):
            assert gains == sorted(gains, reverse=True), one.name
        assert all(0 < gain <= 1 for gain in gains), one.name
        assert one.verdict.share is None or 0 <= one.verdict.share <= 1
        for each in one.findings:
            assert each.severity in SEVERITIES
            assert each.evidence
            assert each.remedy
            assert each.read_more
            assert (each.gain is None) == (each.derivation == ""), each.id


def test_advice_fits_a_terminal() -> None:
    for one in judged("corpus.yaml"):
        assert [line for line in one.text.splitlines() if len(line) > 80] == [], one.name
        assert "nan" not in one.text.lower().split()
        assert "NaN" not in one.json


@pytest.mark.parametrize(("corpus", "least"), [("corpus.yaml", 0.95), ("heldout.yaml", 0.9)])
def test_the_planted_fault_comes_first(corpus: str, least: float) -> None:
    planted = [one for one in judged(corpus) if len(one.must) == 1]
    said = {one.name: (one.findings[0], one.must) for one in planted if one.findings and one.findings[0].worth_it}
    wrong = {name: first.id for name, (first, must) in said.items() if first.id not in must}
    assert len(wrong) <= (1 - least) * len(planted), wrong
