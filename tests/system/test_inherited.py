"""A program under `iolens run` inherits what it would have inherited without it, as the kernel tells the program."""

from __future__ import annotations

import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import inherited_caller
import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
IOLENS = str(Path(sys.executable).parent / "iolens")
CALLER = Path(inherited_caller.__file__)

ADDED = ("LD_PRELOAD", "IOLENS_RUN", "IOLENS_RUN_LOGS", "ASAN_OPTIONS", "TSAN_OPTIONS")
"""Variables that `iolens run` adds for the program (profiler/manual/inherited.md)."""
DOCUMENTED = {f"environment.{name}" for name in (*ADDED, "_")}
"""Facts that differ; a shell sets `_` to the command that it starts, which is `iolens`."""

Facts = dict[str, str]


@pytest.fixture(scope="module", autouse=True)
def command_notes_signals() -> None:
    """Skips the tests where the command is Python's own script, which finds the caller's signals changed already."""
    if Path(IOLENS).read_bytes()[:4] != b"\x7fELF":
        pytest.skip("make build has not put the command into the environment of Python")


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the program that prints what it inherited."""
    program = tmp_path_factory.mktemp("probe") / "probe"
    source = ROOT / "tests" / "c" / "inherited_state.c"
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-o", program, source], check=True)
    return program


def facts_of(path: Path) -> Facts:
    """Returns what the program printed, by name."""
    lines = path.read_text(errors="surrogateescape").splitlines()
    facts = {}
    for line in lines:
        name, _, value = line.partition(" ")
        if name == "environment.":
            variable, _, value = value.partition("=")
            name += variable
        facts[name] = value
    return facts


def normalized(facts: Facts, led_by: int) -> Facts:
    """Returns the facts with groups and sessions named by their leader's place among the program's ancestors. Position
    `led_by` counts as the program itself: a program that would lead its group finds `iolens run` there.
    """
    own, *ancestors = facts["ancestors"].split()
    places = {own: "own"} | {number: str(place) for place, number in enumerate(ancestors[led_by:], 1)}
    places |= dict.fromkeys(ancestors[:led_by], "own")
    named = {name: places.get(facts[name], facts[name]) for name in ("group", "session", "foreground") if name in facts}
    terminals = {name: re.sub(r"/dev/pts/\d+$", "/dev/pts/N", value) for name, value in facts.items()}
    return {name: value for name, value in (terminals | named).items() if name != "ancestors"}


def differences(alone: Facts, under: Facts) -> dict[str, tuple[str | None, str | None]]:
    """Returns the facts that differ and that are not documented: the values without and with `iolens run`."""
    names = sorted({*alone, *under})
    found = {name: (alone.get(name), under.get(name)) for name in names if alone.get(name) != under.get(name)}
    return {name: pair for name, pair in found.items() if name not in DOCUMENTED}


Surrounding = Callable[[Sequence[str]], Sequence[str]]


def in_shell(template: str) -> Surrounding:
    """Returns a surrounding that runs a shell command, in which {} is the program with its arguments."""
    return lambda words: ["bash", "-c", template.format(shlex.join(words))]


SURROUNDINGS: Mapping[str, Surrounding] = {
    "plain": lambda words: words,
    "shell": in_shell("{}; :"),
    "pipe": in_shell("echo text | {} | cat"),
    "background": in_shell("{} & wait"),
    "job-control": in_shell("set -m; {} & wait"),
    "subshell": in_shell("(trap '' PIPE; {}; :)"),
    "dash": lambda words: ["dash", "-c", f"trap '' PIPE XFSZ; {shlex.join(words)}"],
    "env-ignore": lambda words: ["env", "--ignore-signal=PIPE", "--ignore-signal=USR1", *words],
    "nohup": lambda words: ["nohup", *words],
    "setsid": lambda words: ["setsid", "--wait", *words],
    "timeout": lambda words: ["timeout", "500", *words],
    "timeout-foreground": lambda words: ["timeout", "--foreground", "500", *words],
    "xargs": in_shell("echo x | xargs -P 2 -I% {}"),
    "make": lambda words: make_words(words),
    "env -i": lambda words: ["env", "-i", *words],
    "nice": lambda words: ["nice", "-n", "3", *words],
    "python": lambda words: [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])", *words],
    "python-keeps": lambda words: [
        *(sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:], restore_signals=False)"),
        *words,
    ],
}


def make_words(words: Sequence[str]) -> Sequence[str]:
    """Returns a command that has make run the words in a recipe."""
    recipe = shlex.join(words).replace("$", "$$")
    return ["bash", "-c", f"printf 'all:\\n\\t%s\\n' {shlex.quote(recipe)} | make -s -j2 -f -"]


def start(words: Sequence[str], folder: Path, terminal: bool) -> str:
    """Runs a command to its end, in a session with a terminal of its own or without any; returns its messages."""
    environment = {**os.environ, "STATE_FOLDER": str(folder)}
    if not terminal:
        with (folder / "in").open("w+b") as stdin, (folder / "out").open("wb") as output:
            streams = {"stdin": stdin, "stdout": output, "stderr": subprocess.PIPE}
            return subprocess.run(words, cwd=folder, env=environment, text=True, timeout=PATIENCE, **streams).stderr
    child, master = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(words[0], list(words), environment)
    said = b""
    with suppress(OSError):  # The terminal is closed when its last process ends.
        while read := os.read(master, 4096):
            said += read
    os.waitpid(child, 0)
    os.close(master)
    return said.decode()


def compared(
    probe: Path,
    folder: Path,
    around: Surrounding,
    terminal: bool = False,
    state: str | None = None,
    command: Sequence[str] = (IOLENS, "run", "--"),
) -> dict[str, tuple[str | None, str | None]]:
    """Runs the program with and without `iolens run` in these surroundings; returns the differences."""
    results = []
    for name, ahead in (("alone", ()), ("under", command)):
        result = folder / name
        caller = [sys.executable, str(CALLER), state] if state else []
        words = [*caller, *ahead, str(probe), str(result)]
        said = start(around(words), folder, terminal)
        assert result.exists(), said
        results.append(normalized(facts_of(result), led_by=int(bool(ahead))))
    return differences(*results)


def surrounding(name: str) -> Surrounding:
    """Returns a surrounding; skips the test if its command is not installed."""
    around = SURROUNDINGS[name]
    command = around(["true"])[0]
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not installed")
    return around


@pytest.mark.parametrize("terminal", [False, True], ids=["no-terminal", "terminal"])
@pytest.mark.parametrize("name", SURROUNDINGS)
def test_a_program_inherits_the_same_in_these_surroundings(
    name: str, terminal: bool, probe: Path, tmp_path: Path
) -> None:
    assert compared(probe, tmp_path, surrounding(name), terminal) == {}


@pytest.mark.parametrize("state", inherited_caller.states())
def test_a_program_inherits_this_state_of_its_caller(state: str, probe: Path, tmp_path: Path) -> None:
    assert compared(probe, tmp_path, SURROUNDINGS["plain"], state=state) == {}


@pytest.mark.parametrize(
    "options", [("--dxt",), ("--sample",), ("--trace", "pthreads"), ("--why",), ("--output", "folder")]
)
def test_recording_more_changes_nothing_else(options: Sequence[str], probe: Path, tmp_path: Path) -> None:
    found = compared(probe, tmp_path, SURROUNDINGS["plain"], command=(IOLENS, "run", *options, "--"))
    settings = {name for name in found if name.startswith(("environment.IOLENS_", "environment.DXT_"))}
    streams = {"descriptor.1", "descriptor.2"} if "--output" in options else set()
    # A timer's signal interrupts the threads of a program that is sampled, and is held back while it reads a file.
    samples = {name for name, pair in found.items() if name.startswith("signal.") and pair == (None, "caught")}
    samples.add("status.SigBlk")
    assert {*found} - settings - streams - (samples if "--sample" in options else set()) == set()


def is_of_launcher(name: str) -> bool:
    """Returns True for facts that differ in every job: the launcher's variables, such as the job's name, and processes.
    Beside them `iolens run` sets variables of Open MPI that a machine needs (profiler/manual/inherited.md).
    """
    variables = tuple(f"environment.{name}" for name in ("OMPI_", "PMIX_", "PRTE_", "HFI_", "OPAL_"))
    return name.startswith(variables) or name in ("ancestors", "group", "session")


@pytest.mark.mpi
def test_a_launcher_gives_its_ranks_the_same(probe: Path, tmp_path: Path) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")
    results = []
    root = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    for name, ahead in (("alone", []), ("under", [IOLENS, "run", "--"])):
        result = tmp_path / name
        said = start([*root, *ahead, "mpirun", "-np", "1", str(probe), str(result)], tmp_path, terminal=False)
        assert result.exists(), said
        # The launcher gives each rank a terminal, whose number depends on what else runs.
        facts = {fact: re.sub(r"/dev/pts/\d+", "/dev/pts/N", value) for fact, value in facts_of(result).items()}
        results.append({fact: value for fact, value in facts.items() if not is_of_launcher(fact)})
    assert differences(*results) == {}


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 7", 7), ("exit 0", 0), ("kill -KILL $$", 137), ("kill -PIPE $$", 141), ("kill -SEGV $$", 139)],
)
@pytest.mark.parametrize("state", ["nothing", "ignores_chld", "blocks_some"])
def test_the_exit_code_is_the_programs(state: str, script: str, code: int, tmp_path: Path) -> None:
    words = [sys.executable, str(CALLER), state, IOLENS, "run", "--", "sh", "-c", script]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=PATIENCE)
    blocked = state == "blocks_some" and "PIPE" in script
    assert done.returncode == (0 if blocked else code)


@pytest.mark.parametrize("name", ["PIPE", "XFSZ", "USR1", "USR2", "HUP", "CHLD"])
def test_a_program_survives_a_signal_that_its_caller_ignores(name: str, tmp_path: Path) -> None:
    script = f"(trap '' {name}; '{IOLENS}' run -- sh -c 'kill -{name} $$; echo alive')"
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "alive\n"


def test_a_write_beyond_the_limit_fails_as_it_would(tmp_path: Path) -> None:
    """dd prints the error of a write above the limit if its caller ignores SIGXFSZ, and is killed otherwise."""
    write = f"ulimit -f 8; '{IOLENS}' run -- dd if=/dev/zero of=big bs=1M count=1"
    for trap, code in (("trap '' XFSZ", 1), (":", 128 + signal.SIGXFSZ)):
        done = subprocess.run(["sh", "-c", f"{trap}; {write}"], cwd=tmp_path, capture_output=True, timeout=PATIENCE)
        assert done.returncode == code, done.stderr


@pytest.mark.parametrize("name", ["PIPE", "XFSZ"])
def test_without_the_note_the_parents_own_signals_tell(name: str, tmp_path: Path) -> None:
    """A shell that ignores a signal itself is believed; of Python, which ignores both, programs get the default."""
    python = f"'{sys.executable}' -m iolens run -- sh -c 'kill -{name} $$; echo alive'"
    done = subprocess.run(
        ["sh", "-c", f"trap '' {name}; {python}; :"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout == "alive\n"
    words = [sys.executable, "-m", "iolens", "run", "--", "sh", "-c", f"kill -{name} $$; echo alive"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE).stdout == ""


def test_a_timer_of_the_caller_ends_the_program_and_leaves_a_log(tmp_path: Path) -> None:
    """`perl -e 'alarm 3; exec @ARGV'` is an old way to limit the time of a command."""
    waits = "import time; open('read').read(); open('began', 'w').close(); time.sleep(1000)"
    (tmp_path / "read").write_text("text")
    limit = "import os, signal, sys; signal.setitimer(signal.ITIMER_REAL, 20); os.execvp(sys.argv[1], sys.argv[1:])"
    words = [sys.executable, "-c", limit, IOLENS, "run", "--", sys.executable, "-c", waits]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    if not (tmp_path / "began").exists():
        pytest.skip("the machine was too busy to start the program before its time was over")
    assert done.returncode == 128 + signal.SIGALRM
    assert len(list(tmp_path.glob("*.darshan"))) == 1
