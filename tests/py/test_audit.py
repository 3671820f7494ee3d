"""Tests the audit of a comparison: each rule on runs that keep it, that break it, and that do not show it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from comparison_example import write_run
from iolens.cli.main import main
from iolens.lab.run.machine import machine
from iolens.lab.subjects.subjects import read_subjects
from iolens.lab.sweep.perform.collect import page_cache
from iolens.metrics.audit.evidence import BROKEN, KEPT, UNKNOWN, Evidence, frame_of
from iolens.metrics.audit.rules import RULES, audit
from iolens.metrics.audit.sources import sources_of_subjects

RUN: Mapping[str, Any] = {
    "started": "2026-11-21T10:00:00+00:00",
    "load_before": 0.2,
    "cpu": "EPYC",
    "cpus": 8,
    "memory": 2**34,
    "kernel": "Linux 6.1",
    "cached": 2**30,
    "mpi": "MPICH",
    "hosts": ("n1", "n2"),
    "file_system": "ext4",
    "storage": "plain",
    "launcher": "local",
    "program": "ior",
    "nprocs": 4,
    "syncs": 4,
    "bytes_read": 0.0,
    "bytes_written": 2.0**40,
    "write_seconds": 400.0,
    "pages_written": "synced",
    "pages_read": None,
}


def evidence(changes: Sequence[Mapping[str, Any]] = (), **fields: Any) -> Evidence:
    """Returns six runs, of settings A and B in turn, that keep every rule; `changes[n]` replaces fields of run n."""
    rows = [dict(RUN) | {"group": "AB"[n % 2], "started": f"2026-11-21T10:0{n}:00+00:00"} for n in range(6)]
    for row, change in zip(rows, changes, strict=False):
        row |= change
    usual: dict[str, Any] = {
        "groups": {"A": [10.0, 10.1, 10.2], "B": [20.0, 20.1, 20.2]},
        "rate": True,
        "base": "A, 10 MiB/s",
        "bounded": 2,
        "swept": True,
    }
    return Evidence(runs=frame_of(rows), **(usual | fields))


def state(found: Evidence, rule: str) -> str:
    rows = audit(found)
    (said,) = rows.loc[rows["rule"].str.startswith(rule), "state"]
    return str(said)


def test_all_twelve_and_all_of_io500_are_there() -> None:
    assert [rule.number for rule in RULES if rule.source == "Hoefler and Belli"] == [str(n) for n in range(1, 13)]
    assert sum(rule.source == "IO500" for rule in RULES) == 7


def test_careful_runs_keep_nearly_all() -> None:
    rows = audit(evidence())
    broken = set(rows.loc[rows["state"] != KEPT, "rule"])
    assert broken == {
        "Do not assume a normal distribution without a check",
        "Decide if the centre or a percentile matters",
    }
    assert all(rows["evidence"].str.len() > 3)


SIX = {"A": [10.0 + n / 10 for n in range(6)], "B": [20.0 + n / 10 for n in range(6)]}


@pytest.mark.parametrize(
    ("rule", "changes", "fields", "expected"),
    [
        ("Name the base", [], {"base": ""}, BROKEN),
        ("Give the reason", [], {"left_out": [("C", "")]}, BROKEN),
        ("Give the reason", [], {"left_out": [("C", "lost")]}, KEPT),
        ("Arithmetic mean", [], {"groups": {"A": [1.0, 2.0, 4.0], "B": [1.0, 1.0, 1.0]}}, BROKEN),
        ("Say if a value", [], {"groups": {"A": [1.0], "B": [1.0, 2.0]}}, BROKEN),
        ("Do not assume", [], {"groups": SIX}, BROKEN),
        ("Compare by a sound", [], {"groups": {"A": [1.0], "B": [2.0]}}, BROKEN),
        ("Report all", [{"cpu": None}], {}, BROKEN),
        ("Explain how time", [], {"swept": False}, UNKNOWN),
        ("Show bounds", [], {"bounded": 0}, BROKEN),
        ("Use helpful plots", [], {"joined": "variant"}, BROKEN),
        ("At least 300 s", [{"write_seconds": 299.0}], {}, BROKEN),
        ("Data is read", [{"bytes_read": 1.0}], {}, UNKNOWN),
        ("Data is read", [{"hosts": ("n1",), "bytes_read": 1.0}] * 6, {}, BROKEN),
        ("Data reaches the storage", [{"syncs": 0}], {}, BROKEN),
        ("Data reaches the storage", [{"syncs": None}] * 6, {}, UNKNOWN),
        ("No files are", [], {"swept": False}, UNKNOWN),
        ("One storage", [{"file_system": "xfs"}], {}, BROKEN),
        ("No changes", [{"program": "other"}], {}, BROKEN),
        ("No data reduction", [{"file_system": "zfs"}], {}, UNKNOWN),
        ("Same processor", [{"cpu": "Xeon"}], {}, BROKEN),
        ("Same memory", [{"memory": 2**33}], {}, BROKEN),
        ("Same kernel", [{"kernel": None}], {}, UNKNOWN),
        ("Made within", [{"started": "2026-11-01T10:00:00+00:00"}], {}, BROKEN),
        ("Quiet machine", [{"load_before": 7.0}], {}, BROKEN),
        ("Quiet machine", [{"cpus": None}] * 6, {}, UNKNOWN),
        ("Order of runs", [{"group": name} for name in "AAABBB"], {}, BROKEN),
        ("Caches are cold", [{"bytes_read": 1.0}] * 6, {}, BROKEN),
        ("Caches are cold", [{"bytes_read": 1.0, "cached_before_read": 0.0}] * 6, {}, KEPT),
        ("Caches are cold", [{"bytes_read": 1.0, "cached_before_read": 0.5}] * 6, {}, BROKEN),
        ("Caches are cold", [{"bytes_read": 1.0, "cached_before_read": 0.0}, {"bytes_read": 1.0}], {}, BROKEN),
        ("Caches are cold", [{"bytes_read": 1.0, "pages_read": "modelled"}] * 6, {}, KEPT),
        ("Writes reach", [{"pages_written": "modelled"}, {"pages_written": "bypassed"}], {}, KEPT),
        ("Writes reach", [{"pages_written": "not synced"}], {}, BROKEN),
        ("Writes reach", [{"pages_written": "n/a: no log shows"}], {}, UNKNOWN),
        ("Writes reach", [{"pages_written": None}], {}, UNKNOWN),
        ("Writes reach", [{"pages_written": None, "syncs": 0}] * 6, {}, BROKEN),
        ("Writes reach", [{"pages_written": None}] * 6, {}, UNKNOWN),
        ("Writes reach", [{"bytes_written": 0.0, "pages_written": None}] * 6, {}, KEPT),
        ("Enough", [], {"groups": {"A": [1.0, 2.0], "B": [1.0, 2.0]}}, BROKEN),
    ],
)
def test_a_rule_finds_what_breaks_it(
    rule: str, changes: list[dict[str, Any]], fields: dict[str, Any], expected: str
) -> None:
    assert state(evidence(changes, **fields), rule) == expected


READS: Sequence[Mapping[str, str]] = [{"operation": "write"}, {"operation": "read"}]


@pytest.mark.parametrize(
    ("result", "seen", "modelled", "expected"),
    [
        ({"parameters": {"fsync": True}, "phases": READS[:1]}, {"syncs": 4}, False, {"written": "synced"}),
        ({"parameters": {"fsync": False}, "phases": READS[:1]}, {}, False, {"written": "not synced"}),
        ({"parameters": {"coldRead": False}, "phases": READS[1:]}, {}, False, {"read": "not dropped"}),
        (
            {"parameters": {"coldRead": True}, "extra": {"cached_before_read": 0.5}, "phases": READS[1:]},
            {},
            False,
            {"read": "dropped"},
        ),
        (
            {"parameters": {"useO_DIRECT": True}, "phases": READS},
            {},
            False,
            dict.fromkeys(("written", "read"), "bypassed"),
        ),
        ({}, {"syncs": 3}, True, dict.fromkeys(("written", "read"), "modelled")),
    ],
)
def test_what_is_known_of_the_page_cache_is_said(
    result: Mapping[str, Any], seen: Mapping[str, int], modelled: bool, expected: Mapping[str, str]
) -> None:
    assert page_cache(result, seen, modelled) == expected


@pytest.mark.parametrize(
    ("parameters", "syncs", "reason"),
    [
        ({}, None, "n/a: no log shows"),
        ({}, 2, "n/a: the data was synced, but it is unknown if"),
        ({"fsync": True}, 0, "n/a: a flush was requested, but the log has no such call"),
        ({"fsync": False}, 2, "n/a: the data was synced, but it is unknown if"),
    ],
)
def test_what_is_not_known_of_the_page_cache_has_its_reason(
    parameters: Mapping[str, bool], syncs: int | None, reason: str
) -> None:
    assert page_cache({"parameters": parameters}, {"syncs": syncs}, False)["written"].startswith(reason)


def test_the_machine_is_read_from_the_system() -> None:
    found = machine()
    assert set(found) == {"host", "cpu", "cpus", "memory", "kernel", "cached", "dirty"}
    assert found["cpus"] >= 1
    assert found["memory"] > 2**20
    assert found["kernel"].startswith("Linux ")


def test_what_run_json_records_is_audited(tmp_path: Path) -> None:
    for name in ("one", "two"):
        for n in range(3):
            extra = {"machine": machine(), "load_before": 0.0, "started": f"2026-11-21T10:{n}{len(name)}:00+00:00"}
            write_run(tmp_path / name / f"rep-{n}", {"stripe_count": 4}, n, 100.0 + n, **extra)
    found = sources_of_subjects(read_subjects([tmp_path / "one", tmp_path / "two"]))
    for rule in ("Same processor", "Same memory", "Same kernel", "Same MPI", "Made within", "Quiet", "Enough"):
        assert state(found, rule) == KEPT, rule
    assert state(found, "Order of runs") == BROKEN or len(set(found.runs["started"])) < 6


def test_every_comparison_ends_with_the_audit(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_run(tmp_path / name / "rep-1", {"stripe_count": 4}, 1, 100.0)
    out = tmp_path / "both.html"
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "two"), "-o", str(out), "--json", str(tmp_path)]) == 0
    assert "What these numbers are worth" in out.read_text()
    rows = json.loads((tmp_path / "comparison-audit.json").read_text())
    assert len(rows) == len(RULES)
    assert {row["state"] for row in rows} <= {KEPT, BROKEN, UNKNOWN}
