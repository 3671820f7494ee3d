"""Every activity of the course runs at a small scale, where its numbers mean nothing, and answers all its claims."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from iolens.cli.main import main
from iolens.course.words import SAID
from lustre_driver import build

pytestmark = pytest.mark.mpi

COURSE = Path(__file__).resolve().parents[2] / "course"
FILES = ["workload.ranks=1", "storage.stripe_size=64K"]
BTIO = ["workload.arguments=[--class, S, --steps, 5, --io-only]", *FILES]
IOR = "workload.arguments=[-a, MPIIO, -w, -b, 64k, -t, 64k"
GRID = "workload.arguments=[--nx, '1', --ny, '1', --im_world, '6', --lm, '2', --ntrials, '1', --write_binary]"
SMALL = {
    1: BTIO,
    2: [*BTIO, "exclude=[stripe_count == 1]"],
    3: [*BTIO, "exclude=[aggregators > 1]"],
    4: [*BTIO, "exclude=[aggregators != stripe_count]"],
    5: [*BTIO, "exclude=[writers == 'on two nodes' or stripe_count < 4]"],
    6: [*FILES, f"{IOR}, -r]", "exclude=[hints != 'B' or stripe_count == 4]"],
    7: [*FILES, "workload.arguments=[--segments, 1]", "exclude=[\"domains != 'even, 1 MiB'\"]"],
    8: [*FILES, f"{IOR}]", "exclude=[\"calls != 'collective, 47008 B'\"]"],
    9: [*FILES, f"{IOR}]", "exclude=[\"transfers != 'collective, cb_node 4'\"]"],
    10: [GRID, "exclude=[writers != 'six files' or stripe_count == 1]"],
    11: [*FILES, f"{IOR}, -V, -S]", "exclude=[program != 'with one hint']"],
    12: ["exclude=[loader != '4 workers']"],
    13: ["workload.arguments=[--steps, '2', --compute, '0.01']", "exclude=[forcing == 'ahead' or stripe_count == 2]"],
}
"""Changes that make an activity's experiment small; they may remove points."""


def test_all_activities_have_a_small_scale() -> None:
    assert {path.name for path in COURSE.glob("activity-*")} == {f"activity-{number}" for number in SMALL}


@pytest.mark.parametrize("number", SMALL)
def test_an_activity_answers_its_claims(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = COURSE / f"activity-{number}"
    experiment = yaml.safe_load((folder / "experiment.yaml").read_text())
    claims = yaml.safe_load((folder / "activity.yaml").read_text())["claims"]
    if experiment["mpi"].get("io_component") == "lustre":
        build()
    sets = [word for change in ("repetitions=1", *SMALL[number]) for word in ("--set", change)]
    code = main(["activity", str(number), *sets, "--no-report", "--language", "pt", "--results", str(tmp_path)])
    said = " ".join(capsys.readouterr().out.split())
    assert code == 0, said
    assert SAID["pt"]["together"] in said
    for place, claim in enumerate(claims, 1):
        assert f" {place}. {' '.join(claim['says']['pt'].split())}: " in said


def test_the_file_of_an_activity_stays_on_request_and_tells_its_targets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build()
    changes = ["repetitions=1", "keep.data=always", *SMALL[2]]
    words = [word for change in changes for word in ("--set", change)]
    assert main(["activity", "2", *words, "--no-report", "--results", str(tmp_path)]) == 0
    (file,) = (tmp_path / "activity-2" / "data").glob("sc10_*/btio.full.out")
    capsys.readouterr()
    assert main(["stripe", "get", str(file)]) == 0
    said = capsys.readouterr().out
    assert "stripe count 10" in said
    assert len(set(said.partition(", targets ")[2].split())) == 10
