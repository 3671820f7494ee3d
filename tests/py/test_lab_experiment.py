"""Tests experiment.yaml: the texts that are accepted, those that are refused, and the order of the runs."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from iolens.errors import IolensError, UsageError
from iolens.lab.predict.model import read_model
from iolens.lab.sizes import parse_size, short_size
from iolens.lab.storage.emulated import EMULATED
from iolens.lab.storage.plain import PLAIN
from iolens.lab.sweep.define.classes import Choices, class_experiment, default_experiment, fitting_stripe
from iolens.lab.sweep.define.experiment_file import load_experiment, to_yaml
from iolens.lab.sweep.define.matrix import matrix_points, schedule
from iolens.lab.sweep.define.spec import spec_of
from iolens.lab.sweep.perform.collect import effective_hints
from iolens.lab.sweep.plan.preview import plan
from iolens.lab.sweep.plan.specify import check_configuration, check_space, check_workload, needed_bytes
from iolens.lab.sweep.sweep import full
from iolens.lab.workloads.btio import BTIO, CLASSES, data_bytes
from iolens.metrics.comparison.settings import NamedLevel, sorted_levels

GOOD = """name: small
workload:
  program: btio
  arguments: [--class, S]
  ranks: 4
matrix:
  stripe_count: [1, 2]
  cb_buffer_size: [1M, 16M]
repetitions: 2
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "experiment.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_is_read_with_its_defaults(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    assert experiment.matrix == {"stripe_count": (1, 2), "cb_buffer_size": (2**20, 2**24)}
    assert (experiment.title, experiment.storage, experiment.stripe_size) == ("small", "emulated", 2**20)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("ranks: 4", "rnks: 4", ":5: unknown key workload.rnks; did you mean workload.ranks?"),
        ("matrix:", "matrixx:", ":6: unknown key matrixx; did you mean matrix?"),
        ("repetitions: 2", "repetitions: 0", ":9: repetitions: 0 is not a whole number of at least 1"),
        ("[1M, 16M]", "[1M, 16X]", ":8: matrix.cb_buffer_size: '16X' is not a size"),
        ("[1, 2]", "[1, 1]", ":7: matrix.stripe_count: [1, 1] must be a list of different values"),
        ("repetitions: 2", "repetitions:", ":9: repetitions: None is not a whole number of at least 1"),
        ("name: small", "name: small\nname: large", ":2: the key name occurs twice"),
        ("  ranks: 4\n", "", "the key workload.ranks is missing"),
        ("[--class, S]", "[--class, S", ":5: expected ',' or ']'"),
        (
            "matrix:",
            "matrix:\n  driver: {a: {}, b: {}}",
            ":7: matrix.driver: driver is already a property of every run; give the factor another name",
        ),
        ("repetitions: 2", "storage: {kind: tape}", "storage.kind: 'tape' is not one of emulated, lustre, beegfs"),
    ],
)
def test_an_error_names_line_and_key(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_experiment(write(tmp_path, GOOD.replace(old, new)))
    assert problem in str(caught.value)
    assert caught.value.exit_code == 2


def test_keys_can_be_set_from_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    changed = load_experiment(path, ["repetitions=7", "matrix.aggregators=[1, 2]", "storage.stripe_size=64k"])
    assert (changed.repetitions, changed.matrix["aggregators"], changed.stripe_size) == (7, (1, 2), 65536)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("repititions=7", "--set repititions=7: unknown key repititions; did you mean repetitions?"),
        ("repetitions=none", "--set repetitions=none: repetitions: 'none' is not a whole number"),
        ("repetitions", "--set repetitions: write KEY=VALUE"),
        ("repetitions=", "--set repetitions=: repetitions: None is not a whole number"),
        ("matrix.stripe_count=[1", "--set matrix.stripe_count=[1: expected"),
    ],
)
def test_a_wrong_change_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_experiment(write(tmp_path, GOOD), [text])
    assert problem in str(caught.value)


@pytest.mark.parametrize("letter", list(CLASSES))
def test_a_class_survives_being_written_and_read(tmp_path: Path, letter: str) -> None:
    experiment = class_experiment(letter, Choices(repetitions=4, directory=Path("/somewhere")))
    assert load_experiment(write(tmp_path, to_yaml(experiment))) == experiment


def test_class_c_writes_what_npb_says() -> None:
    experiment = class_experiment("C", Choices())
    assert data_bytes(experiment.first or ()) == 6_802_444_800
    assert data_bytes(experiment.arguments) == 850_305_600  # These are the bytes of five dumps.
    assert data_bytes(class_experiment("C", Choices(full=True)).arguments) == 6_802_444_800
    assert "--io-only" in experiment.arguments
    assert "--io-only" not in (experiment.first or ())
    assert data_bytes(default_experiment(Choices()).arguments) == 104_857_600


def test_small_dumps_get_small_stripes() -> None:
    assert fitting_stripe(CLASSES["A"].dump_bytes, 4) == 2**20
    assert fitting_stripe(CLASSES["S"].dump_bytes, 4) * 4 <= CLASSES["S"].dump_bytes
    assert "stripes of" in class_experiment("W", Choices()).title


def test_every_block_holds_every_point_once_in_a_shuffled_but_repeatable_order() -> None:
    experiment = default_experiment(Choices(repetitions=5))
    runs, wanted = schedule(experiment), [point.id for point in matrix_points(experiment)]
    blocks = [runs[begin : begin + len(wanted)] for begin in range(0, len(runs), len(wanted))]
    for number, block in enumerate(blocks, 1):
        assert sorted(run.point.id for run in block) == sorted(wanted)
        assert {run.repetition for run in block} == {number}
    first, second, third, fourth, fifth = ([run.point.id for run in block] for block in blocks)
    assert (second, fourth) == (first[::-1], third[::-1])
    assert first != third != fifth != wanted
    assert schedule(experiment) == runs


def test_too_little_space_is_said_beforehand(tmp_path: Path) -> None:
    experiment = class_experiment("E", Choices())
    runs = [spec_of(experiment, schedule(experiment)[0], EMULATED)]
    with pytest.raises(IolensError, match=r"data needs 89\.\d\d GB below .* are free"):
        check_space(needed_bytes(runs), tmp_path)


def test_numbers_of_the_emulated_targets_need_such_storage_and_a_file(tmp_path: Path) -> None:
    text = GOOD + f"storage: {{configuration: {tmp_path / 'ost.yaml'}}}\n"
    configuration = load_experiment(write(tmp_path, text)).configuration
    assert configuration == tmp_path / "ost.yaml"
    with pytest.raises(UsageError, match=r"storage\.configuration: .*/ost\.yaml is not a file"):
        check_configuration(configuration, EMULATED)
    with pytest.raises(UsageError, match=r"/slow-links is not a file"):
        check_configuration(
            load_experiment(write(tmp_path, text.replace("ost.yaml", "slow-links"))).configuration, EMULATED
        )
    named = load_experiment(write(tmp_path, GOOD + "storage: {configuration: fat-links}\n")).configuration
    assert named is not None
    assert read_model(named).values["link_mb_per_s"] == 20 * read_model(named).values["ost_mb_per_s"]
    configuration.touch()
    check_configuration(configuration, EMULATED)
    with pytest.raises(UsageError, match="plain storage has no configuration file"):
        check_configuration(configuration, PLAIN)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("ranks: 4", "ranks: 6", r"ranks: 6: btio needs a square number of ranks, such as 4 or 9 \(run sc"),
        ("repetitions: 2", "report: {metric: latency}", "btio has no latency; it has write_bandwidth, read_bandwidth"),
    ],
)
def test_what_the_workload_cannot_do_is_said_beforehand(tmp_path: Path, old: str, new: str, problem: str) -> None:
    experiment = load_experiment(write(tmp_path, GOOD.replace(old, new)))
    with pytest.raises(UsageError, match=problem):
        check_workload(experiment, BTIO, [spec_of(experiment, run, EMULATED) for run in schedule(experiment)])


def test_the_metric_is_what_the_workload_measures_unless_one_is_named(tmp_path: Path) -> None:
    assert load_experiment(write(tmp_path, GOOD)).metric == "write_bandwidth"
    assert load_experiment(write(tmp_path, GOOD.replace("btio", "collectives"))).metric == "latency"


@pytest.mark.parametrize(("text", "size"), [("16M", 2**24), ("1MiB", 2**20), ("4k", 4096), (7, 7), ("2 GB", 2**31)])
def test_sizes(text: str | int, size: int) -> None:
    assert parse_size(text) == size
    assert parse_size(short_size(size)) == size


def test_romio_prints_are_grouped_by_open_and_the_job_wide_one_counts() -> None:
    alone = "key = cb_nodes                  value = 1\nkey = cb_buffer_size            value = 16777216\n"
    job = "key = cb_nodes                  value = 4\nkey = cb_buffer_size            value = 1048576\n"
    assert effective_hints(f"text\n{alone}\nmore\n{job}{alone}") == {"cb_nodes": "4", "cb_buffer_size": "1048576"}


OWN = """name: own
workload: {program: btio, ranks: 4, environment: {COLOUR: red}, volume: 10M}
matrix:
  variant:
    plain: {}
    "epio, own files": {arguments: [--method, epio], environment: {COLOUR: blue}, hints: {cb_nodes: 2}}
  stripe_count: [1, 4]
repetitions: 1
"""


def test_an_own_factor_changes_arguments_environment_and_hints(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, OWN))
    assert experiment.matrix == {"variant": ("plain", "epio, own files"), "stripe_count": (1, 4)}
    assert load_experiment(write(tmp_path, to_yaml(experiment))) == experiment
    run = next(run for run in schedule(experiment) if run.point.settings["variant"] != "plain")
    assert run.point.id.startswith("variant-epio-own-files_sc")
    asked = spec_of(experiment, run, EMULATED)
    assert (asked.arguments, asked.environment) == (("--method", "epio"), {"COLOUR": "blue"})
    assert asked.hints["cb_nodes"] == "2"
    assert asked.requested.keys() == {"stripe_count", "stripe_size"}
    plain = next(run for run in schedule(experiment) if run.point.settings["variant"] == "plain")
    asked = spec_of(experiment, plain, EMULATED)
    assert (asked.arguments, asked.environment) == ((), {"COLOUR": "red"})


def test_levels_of_a_factor_may_be_hdf5_settings(tmp_path: Path) -> None:
    text = OWN.replace("plain: {}", 'aligned: {hdf5: "*.h5:alignment=1M"}')
    experiment = load_experiment(write(tmp_path, text))
    assert load_experiment(write(tmp_path, to_yaml(experiment))) == experiment
    run = next(run for run in schedule(experiment) if run.point.settings["variant"] == "aligned")
    asked = spec_of(experiment, run, EMULATED)
    assert asked.environment == {"COLOUR": "red", "IOLENS_HDF5": "*.h5:alignment=1048576"}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("    plain: {}\n", "    plain: {hdf5: '*:size=1'}\n", "plain: size is none of alignment"),
        ("    plain: {}\n", "    plain: {argument: [a]}\n", "plain: unknown key argument"),
        ("    plain: {}\n", "    'epio own files': {}\n", "must differ in more than blanks"),
        ("    plain: {}\n", "    plain: [a]\n", "plain: ['a'] is not a table"),
        ("stripe_count", "strip_count", "unknown key matrix.strip_count; did you mean matrix.stripe_count?"),
    ],
)
def test_a_bad_own_factor_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_experiment(write(tmp_path, OWN.replace(old, new)))
    assert problem in str(caught.value)


def test_own_levels_keep_the_order_of_the_experiment() -> None:
    assert sorted_levels([NamedLevel("b", 0), NamedLevel("a", 1), NamedLevel("b", 0)]) == ["b", "a"]
    assert sorted_levels(["x", 3, 1, NamedLevel("b", 0)]) == [1, 3, "b", "x"]


TOGETHER = GOOD + "together: [[stripe_count, cb_buffer_size]]\n"
EXCLUDE = GOOD + "exclude: [cb_buffer_size > 1048576 and stripe_count == 1]\n"
LAST = "together: [[stripe_count, cb_buffer_size]]"


def test_factors_that_go_together_take_their_levels_side_by_side(tmp_path: Path) -> None:
    text = TOGETHER.replace("matrix:\n", "matrix:\n  aggregators: {from: 1, to: 8, times: 2}\n")
    experiment = load_experiment(write(tmp_path, text))
    found = [tuple(point.settings.values()) for point in matrix_points(experiment)]
    assert found == [(n, *pair) for n in (1, 2, 4, 8) for pair in ((1, 2**20), (2, 2**24))]
    assert load_experiment(write(tmp_path, to_yaml(experiment))) == experiment


def test_excluded_points_are_not_run(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, EXCLUDE))
    assert [point.id for point in matrix_points(experiment)] == ["sc1_cb1M", "sc2_cb1M", "sc2_cb16M"]
    assert load_experiment(write(tmp_path, to_yaml(experiment))) == experiment


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "[[stripe_count",
            "[[stripe_cont",
            ":10: together: stripe_cont is no factor; the matrix has stripe_count, cb_b",
        ),
        ("[[stripe_count", "[[cb_buffer_size", ":10: together: cb_buffer_size is in two groups"),
        (
            "[1, 2]",
            "[1, 2, 4]",
            ":10: together: factors in one group must have equally many levels: stripe_count has 3",
        ),
        (
            "[[stripe_count, cb_buffer_size]]",
            "[stripe_count]",
            ":10: together: ['stripe_count'] is not a list of groups",
        ),
        (LAST, "exclude: [a > 1]", ":10: exclude: a > 1: a is no factor"),
        (LAST, "exclude: ['stripe_count >']", "is not a condition"),
        (LAST, "exclude: ['open(1)']", "a condition may contain settings, numbers"),
        (LAST, "exclude: ['stripe_count < 9']", "these conditions exclude every point of the matrix"),
        (LAST, "exclude: [stripe_count < None]", "neither a number nor a word"),
        (LAST, "exclude: ['stripe_count < \"x\"']", "cannot be evaluated for"),
        (LAST, "exclude: ['1 / (stripe_count - 1) > 0']", "division by zero"),
        (LAST, "until: {interval: 0}", ":10: until.interval: 0 is not between 0 and 100 %"),
        (LAST, "until: {interval: much}", ":10: until.interval: 'much' is not a percentage, such as 5%"),
        ("[1, 2]", "{from: 1}", ":7: matrix.stripe_count: {'from': 1} is not a range"),
        ("[1, 2]", "{from: 4, to: 1}", "a range from 4 to 1 has no level"),
        ("[1, 2]", "{from: 1, to: 4, step: 0}", "0 is not a whole number of at least 1"),
        ("[1, 2]", "{from: 1, to: 100000000}", "a range of more than 10000 levels"),
        (LAST, "until: {interval: 5%, ci: 5%}", ":10: until.ci: another key already sets this"),
        ("[1, 2]", "{from: 1, to: 4, times: 1}", "a range with the factor 1 does not grow"),
    ],
)
def test_groups_conditions_ranges_and_parts_that_cannot_be(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_experiment(write(tmp_path, TOGETHER.replace(old, new)))
    assert problem in str(caught.value)


def test_more_points_than_any_sweep_can_run_are_refused(tmp_path: Path) -> None:
    changes = [f"matrix.{factor}={{from: 1, to: 9999}}" for factor in ("ranks", "stripe_count")]
    with pytest.raises(UsageError, match="199960002 points exceed the limit of 100000 points for a sweep"):
        load_experiment(write(tmp_path, GOOD), changes)


def test_levels_have_names_in_any_language(tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text("name: x\nworkload: {program: ior, ranks: 1}\nmatrix: {größe: {}, 日本: {小: {}, 大_きい: {}}}\n")
    with pytest.raises(UsageError, match="a factor of your own must be a table"):
        load_experiment(path)
    path.write_text(path.read_text().replace("größe: {}", "größe: {é: {}, è: {}}"))
    assert [point.id for point in matrix_points(load_experiment(path))][:2] == [
        "größe-é_日本-小",
        "größe-é_日本-大-きい",
    ]


def test_a_dry_run_refuses_what_the_sweep_would(tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text("name: x\nworkload: {program: btio, ranks: 4}\nmatrix: {nodes: [1, 2]}\n")
    with pytest.raises(UsageError, match="the launcher local cannot choose nodes"):
        plan(load_experiment(path), tmp_path)
    with pytest.raises(UsageError, match=r"workload\.ranks: 3"):
        plan(load_experiment(path, ["matrix.ranks=[3]", "matrix.nodes=[1]", "launcher=slurm"]), tmp_path)


def test_a_full_disk_is_said_in_words_of_the_sweep(tmp_path: Path) -> None:
    problem = full(OSError(errno.ENOSPC, "Error writing bytes to file"), tmp_path)
    assert isinstance(problem, IolensError)
    assert f"the results in {tmp_path} cannot be written (No space left on device); finished runs" in str(problem)
    other = OSError(errno.EACCES, "no")
    assert full(other, tmp_path) is other


def test_a_program_is_looked_for_beside_the_experiment(tmp_path: Path) -> None:
    beside, away = tmp_path / "mine", tmp_path / "away"
    beside.write_text("#!/bin/sh\n")
    for given, found in (("./mine", str(beside)), ("./other", "./other"), ("ior", "ior"), (str(away), str(away))):
        path = tmp_path / "experiment.yaml"
        path.write_text(f"name: x\nworkload: {{program: {given}, ranks: 1}}\nmatrix: {{stripe_count: [1]}}\n")
        assert load_experiment(path).program == found
