"""Running jobs in Prometheus's format, checked by a parser of another project."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from iolens.pages.job.running_job import Reading, Scrapes, exposition

parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")
openmetrics = pytest.importorskip("prometheus_client.openmetrics.parser")

HOSTILE = 'a"b\\c\nd{e="f"} 1'


def samples_of(families: Iterable[Any]) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def parsed(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Returns the samples. The parser of OpenMetrics, which is stricter than that of Prometheus's older format, must
    find the same samples. For it, the text gets OpenMetrics's two differences: families of counters without `_total`,
    and a last line that ends the text.
    """
    found = samples_of(parser.text_string_to_metric_families(text))
    newer = re.sub(r"^(# (?:HELP|TYPE) \w+)_total ", r"\1 ", text, flags=re.MULTILINE) + "# EOF\n"
    assert samples_of(openmetrics.text_string_to_metric_families(newer)) == found
    return found


def group(name: str, job: str, written: float, processes: int = 1) -> Reading:
    labels = (("job", job), ("user", "ann"), ("application", HOSTILE))
    counters = {("iolens_job_bytes", (("module", "POSIX"), ("direction", "write"))): written}
    return Reading(name, labels, counters, {"iolens_job_run_seconds": written, "iolens_job_processes": processes})


def bytes_of(text: str) -> dict[str, float]:
    moved = {labels: value for (name, labels), value in parsed(text).items() if name == "iolens_job_bytes_total"}
    return {dict(labels)["job"]: value for labels, value in moved.items()}


def test_hostile_labels_come_back_unharmed() -> None:
    text = exposition([group("1", "4711", 5), group("2", "4711", 7), group("3", "12", 1)])
    assert bytes_of(text) == {"4711": 12, "12": 1}
    assert {dict(labels)["application"] for name, labels in parsed(text)} == {HOSTILE}
    gauges = {(name, dict(labels)["job"]): value for (name, labels), value in parsed(text).items()}
    assert gauges["iolens_job_processes", "4711"] == 2
    assert gauges["iolens_job_run_seconds", "4711"] == 7


def scrapes_of_random_jobs(seed: int, count: int) -> Iterator[tuple[list[Reading], dict[str, float]]]:
    """Yields readings of processes that begin, write and end at random, and the true bytes of each job that still
    runs.
    """
    chance = random.Random(seed)
    running: dict[str, tuple[str, float]] = {}
    true: dict[str, float] = {}
    for moment in range(count):
        for name in list(running):
            job, written = running[name]
            more = chance.randrange(1000)
            running[name] = (job, written + more)
            true[job] += more
        true = {job: value for job, value in true.items() if any(job == one for one, _ in running.values())}
        yield [group(name, job, written) for name, (job, written) in running.items()], dict(true)
        for name in [name for name in running if chance.random() < 0.1]:
            del running[name]
        if chance.random() < 0.4:
            job = str(chance.randrange(4))
            running[f"{moment}"] = (job, 0.0)
            true.setdefault(job, 0.0)


def test_no_counter_falls_in_a_thousand_scrapes_while_its_job_runs() -> None:
    scrapes, last = Scrapes(), dict[str, float]()
    for readings, true in scrapes_of_random_jobs(12, 1000):
        found = bytes_of(exposition(scrapes.add(readings)))
        assert found == true
        assert all(found[job] >= value for job, value in last.items() if job in found)
        last = found


def test_a_group_whose_first_process_ended_does_not_count_less() -> None:
    scrapes = Scrapes()
    scrapes.add([group("1", "4711", 100)])
    assert bytes_of(exposition(scrapes.add([group("1", "4711", 40)]))) == {"4711": 100}
