"""The JSON Schema of experiment.yaml agrees with what `iolens sweep` takes, on files changed at random."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.lab.sweep.define.experiment_file import load_experiment

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed; `make setup-test` does it")

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "report" / "experiment.schema.json"
EXPERIMENTS = sorted(
    path
    for folder in ("workloads", "course")
    for path in (ROOT / folder).glob("*/*.yaml")
    if "\nmatrix:" in path.read_text(encoding="utf-8")
)
VALUES: tuple[Any, ...] = (
    *(0, 1, 7, -3, 2.5, 0.05, True, None, "", "word", "a/b", "16M", "16X", "5%", "150%", "00:10:00"),
    *([], [1, 2], [1, 1], ["--class", "A"], [["a", "b"]], [["a"]], {}, {"a": "b"}, {"a": {"hints": {"k": 1}}}),
    *({"a": None}, {"a": {"what": 1}}, {"from": 1, "to": 8, "times": 2}, {"from": 1}, "emulated", "slurm", "ompio"),
)
BEYOND = (
    *("together", "exclude", "is not between", "different values", "must differ", "not a range", "cannot be the name"),
    *("is not a condition", "not a time", "does not grow"),
)
"""Words of error messages about faults that a JSON Schema cannot describe: relations between keys, and the contents of
texts.
"""


def places(node: Any, at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Returns the places of all values in a tree of tables."""
    inner = (
        [place for key, value in node.items() for place in places(value, (*at, key))] if isinstance(node, dict) else []
    )
    return [at, *inner] if at else inner


def changed(tree: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Returns a copy with one value replaced, one key removed, or one key added."""
    found = copy.deepcopy(tree)
    *way, last = chance.choice(places(found))
    table = found
    for key in way:
        table = table[key]
    action = chance.randrange(6)
    if action == 0:
        del table[last]
    elif action == 1:
        table[chance.choice(("ranks", "stripe_count", "slurm", "minutes", "odd", "exclude"))] = chance.choice(VALUES)
    else:
        table[last] = chance.choice(VALUES)
    return found


def refusal(path: Path, tree: dict[str, Any]) -> str:
    """Returns the reason why `iolens sweep` refuses an experiment; empty if it accepts it."""
    path.write_text(yaml.safe_dump(tree), encoding="utf-8")
    try:
        load_experiment(path)
    except UsageError as error:
        return str(error)
    return ""


def test_the_shipped_schema_is_the_one_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--schema"]) == 0
    assert capsys.readouterr().out == SHIPPED.read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(SHIPPED.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_experiment_of_ours_names_the_schema_and_follows_it(path: Path) -> None:
    first, _, text = path.read_text(encoding="utf-8").partition("\n")
    named = path.parent / first.removeprefix("# yaml-language-server: $schema=")
    assert named.resolve() == SHIPPED
    jsonschema.validate(yaml.safe_load(text), json.loads(SHIPPED.read_text(encoding="utf-8")))


def test_schema_and_command_agree_on_files_changed_at_random(tmp_path: Path) -> None:
    checker = jsonschema.Draft202012Validator(json.loads(SHIPPED.read_text(encoding="utf-8")))
    trees = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in EXPERIMENTS]
    chance = random.Random(5)
    judged = {True: 0, False: 0}
    for _ in range(500):
        tree = changed(chance.choice(trees), chance)
        marked, said = not checker.is_valid(tree), refusal(tmp_path / "experiment.yaml", tree)
        judged[marked] += 1
        if marked:
            assert said, f"marked in the editor, and taken by the command: {tree}"
        elif said:
            assert any(words in said for words in BEYOND), f"{said}: not marked in the editor: {tree}"
    assert min(judged.values()) > 100
