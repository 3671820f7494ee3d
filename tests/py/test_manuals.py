"""Manual pages and shell completions agree with the parsers."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.cli.described import commands
from iolens.cli.examples import EXAMPLES
from iolens.cli.main import COMMANDS, main, parse_arguments

ROOT = Path(__file__).parents[2]
TRY = """
source "$1"; shift
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _iolens; echo "${COMPREPLY[@]}"; }
try "$@"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "iolens.bash"
    with pytest.MonkeyPatch.context() as patch, path.open("w", encoding="utf-8") as file:
        patch.setattr(sys, "stdout", file)
        assert main(["completion", "bash"]) == 0
    return path


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["re"], "report recover"),
        (["sweep", "--dr"], "--driver --dry-run"),
        (["sweep", "x.yaml", "--driver", ""], "lustre generic lustre-like"),
        (["completion", ""], "bash zsh fish"),
        (["table", "load_b"], "load_balance"),
        (["advise", "--rules", "few-a"], "few-aggregators"),
        (["show", "some"], ""),
    ],
)
def test_bash_offers_what_the_command_takes(script: Path, words: list[str], offered: str) -> None:
    done = subprocess.run(
        ["bash", "-c", TRY, "-", script, "iolens", *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_script(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    for command in commands():
        assert command.name in text
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine, so its script was not read by it")
    path = tmp_path / "script"
    path.write_text(text, encoding="utf-8")
    subprocess.run([shell, "--no-execute" if shell == "fish" else "-n", path], check=True)


def test_every_option_of_every_command_has_help() -> None:
    missing = [
        f"{command.name} {option.flags or option.value}"
        for command in commands()
        for option in command.options
        if not option.about and not option.choices
    ]
    assert not missing


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_are_taken_by_its_parser(name: str) -> None:
    for line in EXAMPLES[name]:
        words = shlex.split(line.removeprefix('eval "$(').removesuffix(')"'))
        assert words[:2] == ["iolens", name]
        assert parse_arguments(words[1:]).subcommand == name


def test_help_shows_the_eight_common_commands_before_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    common, others = capsys.readouterr().out.split("Other commands")
    listed = [re.findall(r"^  ([a-z][\w-]*)  +\w", part, re.MULTILINE) for part in (common, others)]
    assert listed[0] == ["run", "report", "show", "advise", "table", "diff", "compare", "sweep"]
    assert sorted(listed[0] + listed[1]) == sorted(COMMANDS)


def test_actions_and_notes_of_a_command_are_described() -> None:
    known = {command.name: command for command in commands()}
    assert {"stripe set", "stripe get", "stripe mount"} <= {action.name for action in known["stripe"].actions}
    assert "0.95 % of the total" in known["table"].notes
    assert not [command.name for command in known.values() if "%%" in command.notes]


def test_the_manual_pages_have_every_option_and_read_well(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "packaging/man.py", tmp_path, "2026-01-01"], check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"iolens.1", *(f"iolens-{name}.1" for name in COMMANDS)}
    for command in commands():
        text = (tmp_path / f"iolens-{command.name}.1").read_text(encoding="ascii").replace(r"\-", "-")
        described = [command, *command.actions]
        for flag in [flag for each in described for option in each.options for flag in option.flags]:
            assert re.search(rf"^\\fB{flag}\\fR|, \\fB{flag}\\fR", text, re.MULTILINE), (command.name, flag)
        assert re.search(r"^\.SH DESCRIPTION\n[A-Z].*\.$", text, re.MULTILINE), command.name
        assert f".SH EXAMPLES\n.EX\n{command.examples[0].partition(' ')[0]}" in text
        assert ("The exit code of the program" in text) is (command.name == "run")
    if shutil.which("groff") is None:
        pytest.skip("groff is not on this machine, so the pages were not set")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-z", *tmp_path.glob("*.1")], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
