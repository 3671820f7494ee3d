"""Tests HDF5 files and datasets in the log, compared with the numbers that the program prints; libdarshan-util reads
the log.
"""

from __future__ import annotations

import ctypes.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import darshan
import pytest
from iolens.advise.limits import DEFAULTS
from iolens.advise.rules import dataset_rules
from iolens.lab.run.mpi_launch import mpi
from iolens.log import read_log
from iolens.metrics.job.interfaces.hdf5 import hdf5_settings, not_collective
from mpi_library import FLAVOUR, PRELOAD
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "c" / "hdf5_calls.c"
GIVEN_SOURCE = ROOT / "tests" / "c" / "hdf5_given.c"
LIBRARIES = ROOT / "build" / "obj" / "workloads" / "libraries.mk"

pytestmark = pytest.mark.mpi


def built(target: Path, *flags: str, source: Path = SOURCE) -> Path:
    """Builds the test program and returns its path. With flags for a shared library, its main is called `run`."""
    lines = LIBRARIES.read_text().splitlines()
    made = {name: value.split() for name, _, value in (line.partition(" = ") for line in lines)}
    if "HAVE_HDF5" not in made:
        pytest.skip("no parallel HDF5 for this MPI")
    found = [*made["CFLAGS_HDF5"], *made["LIBS_HDF5"]]
    subprocess.run(["mpicc", "-std=gnu11", *flags, "-o", target, source, *found], check=True)
    return target


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("hdf5") / "hdf5_calls")


def profiled(folder: Path, ranks: int, *words: object, **settings: str) -> str:
    """Runs the program under the profiler and returns its standard output."""
    environment = {**os.environ, **mpi.environment(FLAVOUR, 64, "romio321"), **settings}
    inner = ["env", f"LD_PRELOAD={PRELOAD}", f"IOLENS_LOGFILE={folder}/log.darshan", f"IOLENS_INCLUDE={folder}"]
    command = [mpi.find_launcher(FLAVOUR), "-np", str(ranks), *inner, *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def held_to(folder: Path, expected: str) -> darshan.DarshanReport:
    """Checks that libdarshan-util reads from the log every value that the program printed."""
    report = darshan.DarshanReport(str(folder / "log.darshan"), read_all=True)
    found = {
        (module, report.name_records[record["id"]].removeprefix(str(folder))): dict(
            zip(report.counters[module]["counters"], map(int, record["counters"]), strict=True)
        )
        for module in ("H5F", "H5D")
        for record in report.records[module]
    }
    lines = [line.split() for line in expected.splitlines()]
    assert len(lines) > 20
    assert {(m, n, c): found[m, n][c] for n, m, c, _ in lines} == {(m, n, c): int(v) for n, m, c, v in lines}
    return report


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_call_of_hdf5_is_counted(program: Path, tmp_path: Path, ranks: int) -> None:
    report = held_to(tmp_path, profiled(tmp_path, ranks, program, tmp_path))
    names = {name.removeprefix(str(tmp_path)): record for record, name in report.name_records.items()}
    datasets = {record["id"]: record for record in report.records["H5D"]}
    shared = datasets[names["/shared.h5:/group/field"]]
    assert shared["rank"] == -1
    assert shared["file_rec_id"] == names["/shared.h5"]
    times = dict(zip(report.counters["H5D"]["fcounters"], shared["fcounters"], strict=True))
    assert 0 < times["H5D_F_MAX_WRITE_TIME"] <= times["H5D_F_WRITE_TIME"]
    assert times["H5D_F_WRITE_START_TIMESTAMP"] < times["H5D_F_WRITE_END_TIMESTAMP"]


def test_our_reader_has_the_same_numbers(program: Path, tmp_path: Path) -> None:
    expected = profiled(tmp_path, 1, program, tmp_path)
    log = read_log(tmp_path / "log.darshan")
    for line in expected.splitlines():
        name, module, counter, value = line.split()
        frame = log.frames[module]
        rows = frame[frame["id"].map(log.names).str.endswith(name)]
        assert list(rows[counter]) == [int(value)]


def test_a_library_that_python_loads_privately(tmp_path: Path) -> None:
    """In h5py, HDF5 is loaded by an extension module, where a plain dlsym does not find it."""
    if shutil.which("mpicc") is None:
        pytest.skip("mpicc is not installed")
    plugin = built(tmp_path / "plugin.so", "-shared", "-fPIC", "-Dmain=run")
    words = (
        "import ctypes, sys; a = [w.encode() for w in ('plugin', sys.argv[2])];"
        "sys.exit(ctypes.CDLL(sys.argv[1]).run(2, (ctypes.c_char_p * 3)(*a, None)))"
    )
    held_to(tmp_path, profiled(tmp_path, 1, sys.executable, "-c", words, plugin, tmp_path))


def built_with_newest(folder: Path, *flags: str) -> Path:
    """Builds a program for the HDF5 library of h5py, whose headers no package has."""
    h5py = pytest.importorskip("h5py")
    found = sorted(Path(h5py.__file__).parents[1].glob("h5py.libs/libhdf5-*.so*"))
    if h5py.version.hdf5_version_tuple < (1, 14, 0) or not found:
        pytest.skip("no HDF5 1.14 or later that comes with h5py")
    linked = [*flags, found[0], f"-Wl,-rpath,{found[0].parent}"]
    subprocess.run(["gcc", "-std=gnu11", "-o", folder / "program", ROOT / "tests/c/hdf5_async.c", *linked], check=True)
    return folder / "program"


@pytest.mark.parametrize("events", [(), ("event-set",)])
def test_calls_of_several_datasets_or_with_events_are_counted_and_have_settings(
    tmp_path: Path, events: tuple[str, ...]
) -> None:
    given = {"IOLENS_HDF5": "*.h5:alignment=65536:threshold=1:chunk_cache=33554432"}
    words = ("sh", "-c", 'exec "$@" 2>"$0"', tmp_path / "addresses", built_with_newest(tmp_path), tmp_path, *events)
    report = held_to(tmp_path, profiled(tmp_path, 1, *words, **given))
    said = [line.split() for line in (tmp_path / "addresses").read_text().splitlines()]
    places = {name: int(place) for kind, name, place in said if kind == "address"}
    assert len(said) == len(places) == 2
    assert {place % 65536 for place in places.values()} == {0}
    assert listed_addresses(tmp_path / "async.h5") == places
    assert settings_of(tmp_path, "/async.h5")["chunk_cache"] == ("33554432", "33554432")
    times = {
        report.name_records[record["id"]].rpartition("/")[2]: dict(
            zip(report.counters["H5D"]["fcounters"], record["fcounters"], strict=True)
        )
        for record in report.records["H5D"]
    }
    # The time of one call for two datasets is divided between them in proportion to their bytes; the longer one has
    # three times as many.
    assert times["long"]["H5D_F_WRITE_TIME"] > 0
    assert times["long"]["H5D_F_WRITE_END_TIMESTAMP"] >= times["short"]["H5D_F_WRITE_END_TIMESTAMP"]


def test_operations_that_may_be_under_way_are_not_asked_for(tmp_path: Path) -> None:
    """While an asynchronous operation runs, HDF5 answers a question about its file or dataset only at its end; the
    profiler must not wait for that.
    """
    stub = tmp_path / "busy.so"
    source = ROOT / "tests/c/hdf5_async.c"
    subprocess.run(["gcc", "-DUNDER_WAY", "-shared", "-fPIC", "-o", stub, source], check=True)
    program = built_with_newest(tmp_path, "-Wl,--no-as-needed", str(stub))
    settings = {"IOLENS_HDF5": "*.h5:alignment=65536:threshold=1"}
    words = ("sh", "-c", 'exec "$@" 2>"$0"', tmp_path / "addresses", program, tmp_path, "event-set")
    profiled(tmp_path, 1, *words, **settings)
    assert not {"H5F", "H5D"} & set(read_log(tmp_path / "log.darshan").frames)
    assert {place % 65536 for place in listed_addresses(tmp_path / "async.h5").values()} == {0}


CAUSES = {2: "conversion of types"}
"""Bits that H5Pget_mpio_no_collective_cause returns, and their names in the log."""


@pytest.fixture(scope="module")
def given_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("hdf5") / "hdf5_given", source=GIVEN_SOURCE)


def addresses(output: str, folder: Path) -> dict[str, int]:
    """Returns the addresses of datasets that the program printed, after comparing them with those that h5py reads by
    its own HDF5.
    """
    found = {name: int(value) for kind, name, value in map(_three, output.splitlines()) if kind == "address"}
    h5py = pytest.importorskip("h5py")
    for file in ("own", "shared"):
        with h5py.File(folder / f"{file}.h5") as open_file:
            for name in set(found) & {f"/{key}" for key in open_file}:
                assert open_file[name].id.get_offset() == found[name]
    return found


def listed_addresses(file: Path) -> dict[str, int]:
    """Returns the addresses of contiguous datasets by h5ls, which shares no code with h5py."""
    if shutil.which("h5ls") is None:
        pytest.skip("h5ls is not installed")
    said = subprocess.run(["h5ls", "-rva", file], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^(/\S*) +Dataset", said, flags=re.MULTILINE)
    located = {
        name: re.search(r"Address: *(\d+)", text)
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
        if "Chunks:" not in text
    }
    return {name: int(place[1]) for name, place in located.items() if place}


def _three(line: str) -> tuple[str, str, str]:
    """Returns the first three words of a line."""
    words = [*line.split(), "", ""]
    return words[0], words[1], words[2]


def settings_of(folder: Path, name: str) -> dict[str, tuple[str, str]]:
    """Returns, by name, the given and the effective value of each HDF5 setting of a file; each setting has one row in
    the log.
    """
    table = hdf5_settings(read_log(folder / "log.darshan"))
    rows = table.rows("path", "key", "given", "effective") if len(table) else ()
    found = [(key, (given, effective)) for path, key, given, effective in rows if path.endswith(name)]
    assert len(dict(found)) == len(found)
    return dict(found)


def test_settings_from_outside_take_effect_on_all_ranks(given_program: Path, tmp_path: Path) -> None:
    without = profiled(tmp_path, 4, given_program, tmp_path)
    assert any(value % 2**16 for value in addresses(without, tmp_path).values())
    given = "*.h5:alignment=65536:threshold=1000,coll_metadata=1,meta_block=131072,chunk_cache=4194304:libver=latest"
    output = profiled(tmp_path, 4, given_program, tmp_path, IOLENS_HDF5=f"other*:sieve=1,{given}")
    found = addresses(output, tmp_path)
    assert len(found) == 5
    assert {value % 2**16 for value in found.values()} == {0}
    for file in ("own", "shared"):
        listed = listed_addresses(tmp_path / f"{file}.h5")
        assert listed
        assert listed.items() <= found.items()
    errors = [line for line in without.splitlines() if line.startswith("errors")]
    assert [line for line in output.splitlines() if line.startswith("errors")] == errors != ["errors 0"]
    shared = settings_of(tmp_path, "/shared.h5")
    latest = shared.pop("libver")
    assert latest[0] == latest[1] != "earliest"
    expected = {"alignment": "65536", "threshold": "1000", "coll_metadata": "1", "meta_block": "131072"}
    assert shared == {key: (value, value) for key, value in {**expected, "chunk_cache": "4194304"}.items()}
    assert settings_of(tmp_path, "/own.h5")["coll_metadata"] == ("1", "")


@pytest.mark.parametrize(("first", "third"), [("4096", "65536"), ("", "65536"), ("65536", "")])
def test_ranks_with_different_settings_use_those_of_rank_0(
    given_program: Path, tmp_path: Path, first: str, third: str
) -> None:
    """If ranks used different settings, they would wait for each other in collective calls on metadata."""
    if FLAVOUR != "openmpi":
        pytest.skip("the script knows Open MPI's name for the rank")
    script = tmp_path / "each.sh"
    lines = [
        f"{rank}) export IOLENS_HDF5='*:coll_metadata=1:alignment={text}';;"
        for rank, text in ((0, first), (2, third))
        if text
    ]
    script.write_text(f'case $OMPI_COMM_WORLD_RANK in {" ".join(lines)} esac\nexec "$@"\n')
    output = profiled(tmp_path, 4, "sh", script, given_program, tmp_path)
    addresses(output, tmp_path)
    shared = settings_of(tmp_path, "/shared.h5")
    assert shared.get("alignment") == ((first, first) if first else None)
    assert shared.get("coll_metadata") == (("1", "1") if first else None)


def test_without_a_recorded_rank_no_rank_has_settings(given_program: Path, tmp_path: Path) -> None:
    output = profiled(
        tmp_path,
        4,
        given_program,
        tmp_path,
        IOLENS_HDF5="*:coll_metadata=1:meta_block=4194304",
        IOLENS_RANK_EXCLUDE="2",
    )
    assert addresses(output, tmp_path)["/plain"] < 2**16
    assert settings_of(tmp_path, "/shared.h5") == {}


def test_what_is_no_setting_changes_nothing(given_program: Path, tmp_path: Path) -> None:
    wrong = "*:alignment=0:sieve=x:libver=v999:colour=red:locking=7"
    output = profiled(tmp_path, 2, given_program, tmp_path, IOLENS_HDF5=wrong)
    assert addresses(output, tmp_path)["/own0"] < 2**16
    assert not len(hdf5_settings(read_log(tmp_path / "log.darshan")))


def test_the_cause_of_independent_transfers_is_recorded_by_dataset(given_program: Path, tmp_path: Path) -> None:
    output = profiled(tmp_path, 4, given_program, tmp_path, IOLENS_IO_CALLERS="2")
    lines = [line.split() for line in output.splitlines() if line.startswith("cause")]
    expected: dict[tuple[str, str], int] = {}
    for _, name, _, _, causes in lines:
        if causes != "0":
            key = (f"{tmp_path}/shared.h5:{name}", CAUSES[int(causes)])
            expected[key] = expected.get(key, 0) + 1
    if not expected:
        pytest.skip("this HDF5 carries out all of these transfers collectively")
    job = read_log(tmp_path / "log.darshan")
    rows = list(not_collective(job).rows("dataset", "cause", "calls", "place"))
    assert {row[:2]: row[2] for row in rows} == expected
    assert len(expected) == 1
    assert rows[0][3].startswith("dataset")
    seen = dataset_rules.hdf5_not_collective(job, DEFAULTS)
    assert seen
    assert "/converted" in seen.evidence
    assert "H5T_NATIVE_DOUBLE" in seen.remedy


def test_an_unchanged_python_program_gets_the_settings(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    program = (
        "import sys, h5py, numpy\n"
        "with h5py.File(sys.argv[1] + '/a.h5', 'w') as f:\n"
        "    for name in 'xy': f[name] = numpy.zeros(30000)\n"
        "    print(f['x'].id.get_offset(), f['y'].id.get_offset(), f.id.get_access_plist().get_cache()[2])\n"
        "for _ in range(2):\n"
        "    try: h5py.File(sys.argv[1] + '/absent.h5')\n"
        "    except FileNotFoundError as error: print(str(error), end='')\n"
    )
    words = (sys.executable, "-c", program, tmp_path)
    before, missing = profiled(tmp_path, 1, *words).splitlines()
    given = "*.h5:alignment=1048576:chunk_cache=33554432"
    after, still_missing = profiled(tmp_path, 1, *words, IOLENS_HDF5=given).splitlines()
    assert int(before.split()[0]) % 2**20
    assert [int(value) % 2**20 for value in after.split()[:2]] == [0, 0]
    assert after.split()[2] == "33554432"
    assert still_missing == missing
    assert settings_of(tmp_path, "/a.h5")["chunk_cache"] == ("33554432", "33554432")


PARALLEL = """
import sys, h5py, numpy
from mpi4py import MPI
rank, ranks, each = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size, 3001
with h5py.File(sys.argv[1] + "/ranks.h5", "w", driver="mpio", comm=MPI.COMM_WORLD) as file:
    for name in "xyz":
        made = file.create_dataset(name, (ranks * each,), "f8")
        with made.collective:
            made[rank * each : (rank + 1) * each] = numpy.full(each, rank, "f8")
    places = [file[name].id.get_offset() for name in "xyz"]
with h5py.File(sys.argv[1] + "/ranks.h5", "r", driver="mpio", comm=MPI.COMM_WORLD) as file:
    assert file["z"][:].sum() == each * sum(range(ranks))
if rank == 0:
    print(*places)
"""


def parallel_python() -> str:
    """Returns a Python whose h5py was built with MPI; skips the test if there is none."""
    script = "import h5py, mpi4py.MPI; assert h5py.get_config().mpi"
    for python in (sys.executable, "/usr/bin/python3"):
        environment = {**os.environ, **mpi.environment(FLAVOUR, 64, "romio321")}
        command = [mpi.find_launcher(FLAVOUR), "-np", "1", python, "-c", script]
        if subprocess.run(command, env=environment, capture_output=True, check=False, timeout=PATIENCE).returncode == 0:
            return python
    pytest.skip("no h5py that was built with MPI (Debian: python3-h5py-mpi, python3-mpi4py)")


def test_four_ranks_of_an_unchanged_python_program_get_the_settings(tmp_path: Path) -> None:
    words = (parallel_python(), "-c", PARALLEL, tmp_path)
    before = profiled(tmp_path, 4, *words).split()
    assert any(int(place) % 2**16 for place in before)
    given = "*.h5:alignment=65536:threshold=1000:coll_metadata=1:meta_block=131072"
    places = [int(place) for place in profiled(tmp_path, 4, *words, IOLENS_HDF5=given).split()]
    assert [place % 2**16 for place in places] == [0, 0, 0]
    assert listed_addresses(tmp_path / "ranks.h5") == dict(zip(("/x", "/y", "/z"), places, strict=True))
    expected = {"alignment": "65536", "threshold": "1000", "coll_metadata": "1", "meta_block": "131072"}
    assert settings_of(tmp_path, "/ranks.h5") == {key: (value, value) for key, value in expected.items()}


def test_a_close_is_counted_by_the_library_of_its_caller(tmp_path: Path) -> None:
    source = ROOT / "tests/c/hdf5_two_libraries.c"
    plugins = [tmp_path / f"{name}.so" for name in ("serial", "openmpi")]
    for plugin in plugins:
        library = ctypes.util.find_library(f"hdf5_{plugin.stem}")
        if not library:
            pytest.skip(f"no HDF5 library named {plugin.stem}")
        flags = ["-DPLUGIN", "-shared", "-fPIC", "-Wl,--no-as-needed"]
        subprocess.run(["gcc", *flags, "-o", plugin, source, f"-l:{library}"], check=True)
    subprocess.run(["gcc", "-o", tmp_path / "program", source, "-ldl"], check=True)
    words = [word for plugin in plugins for word in (plugin, plugin.with_suffix(".h5"))]
    settings = {"LD_PRELOAD": PRELOAD, "IOLENS_LOGFILE": f"{tmp_path}/log.darshan", "IOLENS_INCLUDE": str(tmp_path)}
    command = [str(word) for word in (tmp_path / "program", *words)]
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    report = darshan.DarshanReport(str(tmp_path / "log.darshan"), read_all=True)
    place = report.counters["H5F"]["fcounters"].index("H5F_F_CLOSE_END_TIMESTAMP")
    closed = {
        Path(report.name_records[record["id"]]).stem: bool(record["fcounters"][place] > 0)
        for record in report.records["H5F"]
    }
    assert closed == {"serial": True, "openmpi": False}


def test_settings_that_are_too_long_are_left_out_with_a_word(given_program: Path, tmp_path: Path) -> None:
    long = ",".join(f"*{number}.h5:alignment=65536" for number in range(400)) + ",*.h5:alignment=65536"
    assert len(long) > 8192
    command = ["env", f"LD_PRELOAD={PRELOAD}", f"IOLENS_LOGPATH={tmp_path}", f"IOLENS_HDF5={long}"]
    words = [*command, str(given_program), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stderr.count("is left out, because settings for files have at most 8191 bytes") == 1
