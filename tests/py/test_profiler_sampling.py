"""Sampling: the unwinder is correct, programs behave the same, and no period of the timer is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import profiler_harness as harness
import pytest
from iolens.log.reader import read_log
from iolens.metrics.processor.ask import Ask
from iolens.metrics.processor.sampled.samples import profile
from iolens.symbols.chains import call_chains
from iolens.symbols.resolve import resolve

UNWINDER = [
    *sorted(str(path) for path in (harness.ROOT / "profiler/src/unwind").glob("*.c")),
    str(harness.ROOT / "profiler/src/system/system_call.c"),
]


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def sampled(folder: Path, name: str, *arguments: str, hz: int = 1000, **settings: str) -> list[Path]:
    """Runs a program of tests/c with samples, checks that it succeeds and prints nothing, and returns its logs."""
    done = harness.run(harness.build_program(name), *arguments, folder=folder, IOLENS_SAMPLE=str(hz), **settings)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return harness.logs(folder)


def table(log: Path, name: str) -> pd.DataFrame:
    found = read_log(log).private[name]
    assert isinstance(found, pd.DataFrame)
    return found


def test_a_handler_on_an_alternate_stack_is_left_alone(tmp_path: Path) -> None:
    """Two signals may not fit on a stack of 8 KiB; the program sees no signal that it did not block itself."""
    done = harness.run(harness.build_program("sampling_on_stack"), folder=tmp_path, IOLENS_SAMPLE="100")
    assert done.stdout.split("\n")[:3] == ["0 0", "1 0", "0 0"]
    assert done.returncode == 0


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_the_unwinder_finds_the_callers_that_functions_know(level: str, tmp_path: Path) -> None:
    source, program = harness.ROOT / "tests/c/unwind_units.c", tmp_path / "unwind_units"
    command = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-fno-builtin", level, str(source), *UNWINDER]
    subprocess.run([*command, "-o", str(program), "-ldl", "-lpthread", "-lrt"], check=True)
    for words in ([], ["remember"]):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is missing")
def test_a_debugger_is_not_stopped_by_samples(tmp_path: Path) -> None:
    """Under gdb no samples are taken, because the signal of each sample would stop the program."""
    program = harness.build_program("harm_descriptors")
    orders = [word for order in ("set startup-with-shell off", "run", "info threads") for word in ("-ex", order)]
    debugged = ("-q", "-nx", "-batch", *orders, "--args", str(program), "handed_over")
    done = harness.run("gdb", *debugged, folder=tmp_path, IOLENS_SAMPLE="1000")
    assert "exited normally" in done.stdout
    (log,) = [log for log in harness.logs(tmp_path) if "harm_descriptors" in log.name]
    assert any(
        "no samples were taken: the program ran under a debugger (gdb)" in text for text in read_log(log).remarks
    )


def test_no_wait_ends_early_and_signals_stay_the_programs_own(tmp_path: Path) -> None:
    """The largest log is that of the parent process, whose waits appear in the samples for their whole time."""
    log = max(sampled(tmp_path, "sampling_waits"), key=lambda path: path.stat().st_size)
    threads, samples = table(log, "sampling"), table(log, "samples")
    main = threads[threads["thread"] == 0].iloc[0]
    # For the rest of the time the thread had blocked all signals.
    assert main["samples"] >= 0.98 * (main["duration"] - 0.3) * 1000
    assert main["lost"] >= 90
    assert samples.loc[(samples["thread"] == 0) & (samples["kind"] == 1), "count"].sum() > 1300
    assert set(threads["thread"]) == {0, 1, 2}


def test_threads_are_interrupted_together(tmp_path: Path) -> None:
    """Timers of two threads that start at random would be less than a tenth of a period apart in one run of five; three
    times in a row in one of a hundred.
    """
    for run in range(3):
        folder = tmp_path / str(run)
        folder.mkdir()
        (log,) = sampled(folder, "sampling_together", hz=10, IOLENS_TIMELINE="1000")
        times = table(log, "sample_times")
        turns = [np.exp(2j * np.pi * 10 * part["time"]) for _, part in times[times["kind"] == 0].groupby("thread")]
        first, second = (np.mean(each) for each in turns)
        assert abs(np.angle(first / second)) / (2 * np.pi) < 0.1


def test_what_moves_as_a_whole_is_not_cut_by_the_timer(tmp_path: Path) -> None:
    """Writes that wait for a slow reader appear in the samples, as waiting."""
    log = max(sampled(tmp_path, "sampling_transfers"), key=lambda path: path.stat().st_size)
    private = read_log(log).private
    found = call_chains(resolve(private["call_nodes"], private["objects"]))
    rows = [(found[row.rank, row.node], row) for row in private["samples"].itertuples()]
    functions = {"write", "writev", "pwritev2", "send", "sendmsg"}
    waited = {frame.function for chain, row in rows if row.kind == 1 for frame in chain}
    assert waited >= functions, waited


def test_nothing_is_counted_while_recording_is_off(tmp_path: Path) -> None:
    (log,) = sampled(tmp_path, "sampling_paused")
    private = read_log(log).private
    met = set(resolve(private["call_nodes"], private["objects"])["function"])
    assert "seen" in met
    assert "unseen" not in met
    assert private["sampling"]["paused"].sum() > 0


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the program whose shares are known, with its library."""
    folder = tmp_path_factory.mktemp("shares")
    source = str(harness.ROOT / "tests/c/sampling_shares.c")
    gcc = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g"]
    subprocess.run([*gcc, "-DLIBRARY", "-shared", "-fPIC", "-o", "libshares.so", source], cwd=folder, check=True)
    link = ["-L.", "-lshares", f"-Wl,-rpath,{folder}", "-lpthread"]
    subprocess.run([*gcc, "-o", "shares", source, *link], cwd=folder, check=True)
    return folder / "shares"


def chains(log: Path) -> list[tuple[list[str], int]]:
    """Returns the functions of each chain from the outside in, and its periods."""
    job = read_log(log)
    found = call_chains(resolve(job.private["call_nodes"], job.private["objects"]))
    rows = job.private["samples"].itertuples()
    return [([place.function for place in found[row.rank, row.node]], row.count) for row in rows]


def has_shares(printed: str, found: list[tuple[list[str], int]]) -> None:
    """Checks that each function's share of the samples is within two percentage points of its share of the time."""
    seconds = {name: float(value) for name, value in (line.split() for line in printed.splitlines())}
    samples = {name: sum(count for chain, count in found if name in chain) for name in seconds}
    assert sum(samples.values()) > 900
    for name, took in seconds.items():
        assert abs(samples[name] / sum(samples.values()) - took / sum(seconds.values())) < 0.02, (seconds, samples)


def test_known_shares_are_found(shares: Path, tmp_path: Path) -> None:
    """Samples name the functions of inlined code, of a shared library, and of a thread."""
    done = harness.run(shares, "1", folder=tmp_path, IOLENS_SAMPLE="1000")
    (log,) = harness.logs(tmp_path)
    found = chains(log)
    has_shares(done.stdout, found)
    busy = [chain for chain, count in found if "inlined" in chain]
    assert {chain[chain.index("inlined") - 1] for chain in busy} == {"fifty", "thirty", "twenty"}
    sampling = table(log, "sampling")
    # Stacks may be incomplete only in the loader's own code.
    assert sampling["cut"].sum() < 5 + 0.01 * sampling["stacks"].sum()


def test_a_killed_process_leaves_its_samples(shares: Path, tmp_path: Path) -> None:
    done = harness.run(shares, "1", "kill", folder=tmp_path, IOLENS_SAMPLE="1000", IOLENS_SPOOL=str(tmp_path))
    assert done.returncode < 0
    (spool,) = tmp_path.glob("iolens-*/*.spool")
    merge = [harness.BUILD / "bin/iolens-recover", "merge", spool]
    subprocess.run(merge, check=True, stdout=subprocess.DEVNULL)
    job = read_log(harness.logs(tmp_path)[0])
    assert job.run_time >= 0.9 * job.private["sampling"]["duration"].max(), "it ran until its last sample"
    has_shares(done.stdout, chains(harness.logs(tmp_path)[0]))


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
def test_known_shares_of_fortran_are_found(tmp_path: Path) -> None:
    source = str(harness.ROOT / "tests/c/sampling_shares.F90")
    subprocess.run(["gfortran", "-O1", "-g", "-o", "shares", source], cwd=tmp_path, check=True)
    done = harness.run(tmp_path / "shares", folder=tmp_path, IOLENS_SAMPLE="1000")
    found = chains(harness.logs(tmp_path)[0])
    has_shares(done.stdout, [([name.removeprefix("shares::") for name in chain], count) for chain, count in found])


@pytest.mark.parametrize("how", ["threads", "forks", "deep", "signals", "cancelled", "exec"])
def test_odd_programs_go_on_as_without_a_sampler(how: str, tmp_path: Path) -> None:
    assert sampled(tmp_path, "sampling_odd", how, hz=2000)


@pytest.mark.parametrize("how", ["contexts", "own", "overflow"])
def test_stacks_without_room_for_a_handler(how: str, tmp_path: Path) -> None:
    """The programs have coroutines on stacks of 4 KiB, or threads with a stack of their own for signals, which must
    stay theirs.
    """
    program = harness.build_program("sampling_stacks")
    alone = subprocess.run([program, how], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (alone.stdout, alone.stderr, alone.returncode) == ("", "", 0)
    logs = sampled(tmp_path, "sampling_stacks", how, hz=2000)
    if how == "contexts":  # Programs of the other kinds may end before their first sample, and have no log then.
        (log,) = logs
        assert {"turn", "spin"} <= {name for chain, _ in chains(log) for name in chain}


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go's compiler")
@pytest.mark.parametrize("cgo", ["1", "0"])
def test_go_programs_go_on(cgo: str, tmp_path: Path) -> None:
    """Goroutines have stacks of a few KiB. A Go program without cgo is static, so no library can be preloaded; with cgo
    it exits by its own system call and leaves only its spool.
    """
    source = (harness.ROOT / "tests/c/sampling_go.go").read_text()
    (tmp_path / "main.go").write_text(source if cgo == "1" else source.replace('import "C"\n', ""))
    surroundings = {**os.environ, "CGO_ENABLED": cgo, "GOTOOLCHAIN": "local", "GO111MODULE": "off"}
    subprocess.run(["go", "build", "-o", "main", "main.go"], cwd=tmp_path, env=surroundings, check=True)
    for _ in range(8):
        done = harness.run(tmp_path / "main", folder=tmp_path, IOLENS_SAMPLE="1000", IOLENS_SPOOL=str(tmp_path))
        assert (done.returncode, done.stdout, done.stderr) == (3, f"[{' '.join(['2178309'] * 8)}]\n", "")
    records = [*tmp_path.glob("iolens-*/*.spool"), *harness.logs(tmp_path)]
    assert bool(records) == (cgo == "1")


def test_python_is_sampled(tmp_path: Path) -> None:
    script = (
        "import threading, time\n"
        "def work():\n"
        "    end = time.monotonic() + 0.2\n"
        "    while time.monotonic() < end: sum(range(1000))\n"
        "threads = [threading.Thread(target=work) for _ in range(3)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "time.sleep(0.2)\n"
        "print('done')\n"
    )
    done = harness.run(sys.executable, "-c", script, folder=tmp_path, IOLENS_SAMPLE="1000")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    threads = table(harness.logs(tmp_path)[0], "sampling")
    assert len(threads) == 4
    assert (threads["samples"] >= 0.95 * threads["duration"] * 1000 - 3).all()


def test_running_samples_under_contention_are_processor_time(tmp_path: Path) -> None:
    """A thread waits for a core in most periods of the timer, and its sample is taken where it computes; the samples'
    processor time must be what it used.
    """
    hz, program = 20, harness.build_program("sampling_contention", "-pthread")
    done = harness.run(program, "2", folder=tmp_path, IOLENS_SAMPLE=str(hz))
    used = float(done.stdout)
    (log,) = harness.logs(tmp_path)
    running = table(log, "samples").query("kind == 0 and thread > 0")
    behind_the_last_samples = 3 * (os.cpu_count() or 1) / hz
    assert running["on_core"].sum() == pytest.approx(used, abs=behind_the_last_samples)
    assert running["count"].sum() / hz > 1.5 * used
    answer = profile(read_log(log), Ask(by=("state",), threshold=0))
    assert answer is not None
    states = answer.frame().set_index("name")
    assert states["on_core"]["running"] == pytest.approx(used, abs=behind_the_last_samples)
    errors_of_counts = (running.groupby("thread")["count"].sum() ** 0.5).sum() / hz
    assert states["samples"]["running"] / hz == pytest.approx(states["on_core"]["running"], abs=errors_of_counts)
    assert states["samples"]["Total"] == pytest.approx(table(log, "samples")["count"].sum())
