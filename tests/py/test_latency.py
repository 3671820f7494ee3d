"""Tests latencies of a sweep: improvement over the baseline, by hand and in the PDF."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pandas as pd
import pytest
import yaml
from comparison_example import write_run
from iolens.errors import IolensError
from iolens.lab.sweep.read.results import load_results
from iolens.log import read_log
from iolens.metrics.comparison.latency import LatencyComparison, choices, compare_latencies, over_sizes
from iolens.pages.base.blocks import FigureBlock, Table, Text
from iolens.pages.comparison.latency_document import latency_pages, latency_verdict
from iolens.pages.comparison.sweep_document import write_comparison
from iolens.pages.exhibits.sweep_latency import CHOICES, Latencies

SIZES = (1, 1024, 4 * 2**20)
SPEED = {"default": 1.0, "flat": 2.0, "quick": 0.5}
"""Latency of each variant as a multiple of that of the variant `default`."""


def rows(noise: tuple[float, ...] = (0.99, 1.0, 1.01)) -> pd.DataFrame:
    """Returns latencies of Allreduce and Bcast at three sizes, with three repetitions."""
    return pd.DataFrame(
        [
            {
                "variant": variant,
                "repetition": i,
                "operation": operation,
                "bytes": size,
                "seconds": 1e-6 * size * times * f,
            }
            for operation in ("Allreduce", "Bcast")
            for variant, times in SPEED.items()
            for size in SIZES
            for i, f in enumerate(noise)
        ]
    )


def test_improvement_is_the_share_of_the_baselines_time() -> None:
    found = compare_latencies(rows(), list(SPEED))
    cells = found.cells[found.cells["operation"] == "Bcast"].set_index(["variant", "bytes"])
    assert cells.loc[("flat", 1024), "improvement"] == pytest.approx(-100)
    assert cells.loc[("quick", 1024), "improvement"] == pytest.approx(50)
    assert cells.loc[("default", 1024), "improvement"] == 0
    low, high = cells.loc[("quick", 1), ["improvement_low", "improvement_high"]]
    assert low < 50 < high
    assert cells.loc[("quick", 1), "clear"]
    assert not cells.loc[("default", 1), "clear"]
    overall = found.overall.set_index(["operation", "variant"])
    assert overall.loc[("Allreduce", "quick"), "ratio"] == pytest.approx(2)
    assert overall.loc[("Allreduce", "flat"), "sizes"] == 3


def test_a_run_counts_once_however_many_sizes_it_timed() -> None:
    """A slow run is slow at every size, so ten sizes of three runs are not thirty independent values."""
    generator = random.Random(8)
    trials, hits = 150, 0
    for _ in range(trials):
        pace = {(v, i): math.exp(generator.gauss(0, 0.1)) for v in ("default", "other") for i in range(3)}
        frame = pd.DataFrame(
            [
                {"variant": v, "repetition": i, "operation": "Bcast", "bytes": 2**k, "seconds": pace[v, i] * 1e-6}
                for v, i in pace
                for k in range(10)
            ]
        )
        line = over_sizes(frame, "Bcast", "default", "other")[0]
        hits += line["low"] <= 1 <= line["high"]
    assert hits / trials >= 0.95 - 3.5 * math.sqrt(0.05 * 0.95 / trials)


def test_a_size_that_one_run_lacks_is_in_no_mean() -> None:
    frame = rows()
    frame = frame[~((frame["variant"] == "quick") & (frame["bytes"] == 1) & (frame["repetition"] == 0))]
    overall = compare_latencies(frame, list(SPEED)).overall.set_index(["operation", "variant"])
    assert overall.loc[("Bcast", "quick"), "sizes"] == 2
    assert overall.loc[("Bcast", "flat"), "sizes"] == 3


def files() -> LatencyComparison:
    """Returns latencies of operations on files, which have no message sizes."""
    names = {"Allreduce": "File creation", "Bcast": "File removal"}
    frame = rows()
    frame = frame[frame["bytes"] == 1024].assign(bytes=3901).replace({"operation": names})
    return compare_latencies(frame, list(SPEED))


def test_operations_without_sizes_speak_of_none() -> None:
    found = files()
    assert not found.by_size
    chose = pd.DataFrame(columns=["variant", "selected", "eager_observed", "oversubscribed"])
    pages = latency_pages(Latencies(found, chose, rows()), [])
    blocks = [block for page in pages for block in page.blocks]
    words = [page.title for page in pages]
    words += [part for b in blocks if isinstance(b, Table) for part in (b.title, b.note, *b.columns)]
    words += [block.text for block in blocks if isinstance(block, Text)]
    words += [block.caption for block in blocks if isinstance(block, FigureBlock)]
    assert not [text for text in words if "size" in text or "message" in text]
    assert "quick: faster than default at 2, slower at 0 of 2 operations" in latency_verdict(found)
    spoken = [block.says for block in blocks if isinstance(block, FigureBlock)]
    assert all(text.startswith("most: ") and "least: " in text for text in spoken)
    assert "quick" in spoken[0].partition(";")[0]
    figures = [block.figure for block in blocks if isinstance(block, FigureBlock)]
    assert len(figures) == 2
    for figure in figures:
        names = [label.get_text() for label in figure.axes[0].get_xticklabels()]
        assert [name.replace("\n", " ") for name in names] == ["File creation", "File removal"]
        assert figure.axes[0].has_data()


def test_one_repetition_proves_nothing() -> None:
    cells = compare_latencies(rows(noise=(1.0,)), list(SPEED)).cells
    assert not cells["clear"].any()
    assert cells["improvement_low"].isna().all()


def write_sweep(folder: Path, with_latency: bool = True) -> None:
    """Writes a sweep whose results hold latencies."""
    experiment = {
        "name": "coll",
        "title": "Collectives",
        "workload": {"program": "collectives", "ranks": 2},
        "matrix": {"variant": {name: {} for name in SPEED}},
        "report": {"metric": "latency"},
    }
    folder.mkdir(parents=True)
    (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment, sort_keys=False), encoding="utf-8")
    table = rows()
    for (variant, repetition), part in table.groupby(["variant", "repetition"]):
        run = folder / "points" / f"variant-{variant}" / f"rep-{repetition + 1}"
        write_run(run, {"variant": variant}, repetition + 1, 100.0)
        result = json.loads((run / "result.json").read_text(encoding="utf-8"))
        entries = [{"operation": r.operation, "bytes": r.bytes, "t_avg": r.seconds} for r in part.itertuples()]
        result["extra"] = {"latency": entries if with_latency else []}
        (run / "result.json").write_text(json.dumps(result), encoding="utf-8")


def test_the_pdf_names_who_is_faster(tmp_path: Path) -> None:
    write_sweep(tmp_path / "coll")
    summary = write_comparison(load_results(tmp_path / "coll"), tmp_path / "c.pdf", read_log)
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF")
    assert "flat: faster than default at 0, slower at 6 of 6 sizes" in summary.verdict
    assert "quick: faster than default at 6, slower at 0 of 6 sizes" in summary.verdict
    assert next(row[:2] for row in summary.points.rows) == ["Allreduce", "flat"]


@pytest.mark.parametrize(("lost", "proven"), [("quick", ["flat"]), ("default", [])])
def test_a_variant_that_lost_a_run_is_proven_nothing(tmp_path: Path, lost: str, proven: list[str]) -> None:
    write_sweep(tmp_path / "coll")
    run = tmp_path / "coll" / "points" / f"variant-{lost}" / "rep-1" / "run.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | {"status": "invalid", "reason": "slow disk"}))
    summary = write_comparison(load_results(tmp_path / "coll"), tmp_path / "c.pdf", read_log)
    cells = summary.frames["latency"]
    assert sorted(set(cells.loc[cells["clear"], "variant"])) == proven
    assert (
        f"{lost} lost 1 of 3 runs: slow disk. The remaining runs may look faster than the variant is."
        in summary.cautions
    )


def test_what_the_library_did_is_shown_where_it_is_known() -> None:
    columns = {"variant": ["a", "b"], "oversubscribed": [None, False], "same_as": [None, None]}
    unknown = pd.DataFrame(columns | {"selected": [None, None], "eager_observed": [None, None]}, dtype=object)
    known = pd.DataFrame(columns | {"selected": [None, "tuned"], "eager_observed": [None, None]}, dtype=object)
    found = compare_latencies(rows(), list(SPEED))
    silent, telling = (Latencies(found, chose, rows()) for chose in (unknown, known))
    titles = [
        [block.title for block in latency_pages(each, [])[0].blocks if isinstance(block, Table)]
        for each in (silent, telling)
    ]
    assert titles == [["Over all sizes"], ["Over all sizes", "What the MPI library did"]]
    assert CHOICES.table(telling).rows == [["a", "n/a", "n/a", "n/a"], ["b", "tuned", "n/a", ""]]


def test_a_variant_that_ran_as_an_earlier_one_is_named(tmp_path: Path) -> None:
    variants = {
        "default": (["tuned", "basic"], {"coll_han_priority": "0", "btl_vader_eager_limit": "4096"}),
        "han": (["tuned", "basic"], {"coll_han_priority": "90", "btl_vader_eager_limit": "4096"}),
        "sm": (["sm", "tuned", "basic"], {"coll_han_priority": "0", "btl_vader_eager_limit": "4096"}),
        "tcp": (["tuned", "basic"], {"coll_han_priority": "0"}),
        "unknown": ([], {}),
        "unknown too": ([], {}),
    }
    found = []
    for name, (components, variables) in variants.items():
        extra = {"components": [{"name": one} for one in components], "variables": variables, "oversubscribed": False}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"extra": extra}))
        found.append({"usable": True, "result": str(path), "variant": name})
    chosen = choices(pd.DataFrame(found), ["variant"]).set_index("variant")["same_as"]
    assert {name: same for name, same in chosen.items() if same is not None} == {"han": "default"}
    rest = {
        "variant": ["a", "b"],
        "selected": ["tuned"] * 2,
        "eager_observed": [None] * 2,
        "oversubscribed": [True, False],
    }
    chosen = pd.DataFrame(rest | {"same_as": [None, "a"]}, dtype=object)
    table = CHOICES.table(Latencies(compare_latencies(rows(), list(SPEED)), chosen, rows()))
    assert [row[-1] for row in table.rows] == ["more ranks than processors", "ran as a did"]


def test_a_sweep_without_latencies_says_so(tmp_path: Path) -> None:
    write_sweep(tmp_path / "coll", with_latency=False)
    with pytest.raises(IolensError, match="has latencies"):
        write_comparison(load_results(tmp_path / "coll"), tmp_path / "c.pdf", read_log)
