"""The simulators read resource files and flags as MAPL's do, and print one clear message for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from btio_program import result
from checkpoint_program import alone, checkpoint, good, messages, restart

pytestmark = pytest.mark.mpi

RESOURCES = """# a comment
NX: 1
NY: 1
im_world: 8   ! cells
LM: 3
NUM_WRITERS: 2
NUM_ARRAYS: 2
SPLIT_FILE: .true.
GATHER_3D: T
WRITE_BARRIER: yes
NETCDF_WRITES: .false.
CHUNK: .false.
EXTRA_INFO: .true.
RANDOM_DATA: .false.
"""


def test_a_resource_file_in_the_folder_is_read_as_of_old(tmp_path: Path) -> None:
    (tmp_path / "checkpoint_benchmark.rc").write_text(RESOURCES)
    done = good(checkpoint(tmp_path, "--json", "result.json"))
    assert done.text.startswith(" Using configuration file checkpoint_benchmark.rc\n Trial            1\n ****")
    assert "do writes:  TTFTFTT\n" in done.text
    told = result(tmp_path / "result.json")
    assert told["hints"]["requested"] == {"IBM_largeblock_io": "true", "striping_unit": "4194304"}
    assert told["parameters"]["static_data"] is True
    names = sorted(path.name for path in tmp_path.glob("*.bin"))
    assert names == ["checkpoint_000.bin", "checkpoint_001.bin"]
    readers = RESOURCES.replace("NUM_WRITERS", "NUM_READERS").replace("GATHER_3D", "SCATTER_3D")
    readers = readers.replace("WRITE_BARRIER", "READ_BARRIER").replace("NETCDF_WRITES", "NETCDF_READS")
    (tmp_path / "restart_benchmark.rc").write_text(readers)
    done = good(restart(tmp_path))
    assert "do writes:  TTTFTT\n" in done.text
    assert "Verification: successful" in done.text
    warned = "warning: restart_benchmark.rc, line 12: CHUNK is not a key of this program and is ignored"
    assert messages(done) == [warned]


def test_a_named_file_overrides_the_flags_and_makes_three_trials(tmp_path: Path) -> None:
    (tmp_path / "mine.rc").write_text(RESOURCES + "do_writes: .false.\nNX: 5\nUNHEARD: 1\n")
    done = good(checkpoint(tmp_path, "--nx", "3", "--config_file", "mine.rc"))
    assert " Using configuration file mine.rc\n NOTE: This overrides any other command line options\n" in done.text
    assert "Number of trial:       3\n" in done.text
    assert messages(done) == [
        "warning: mine.rc, line 16: NX is given again; the first value holds",
        "warning: mine.rc, line 17: UNHEARD is not a key of this program and is ignored",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("LM: 3\nNUM_WRITERS: 2\n", ""), "mine.rc: required and missing: LM, NUM_WRITERS"),
        (("LM: 3", "LM: three"), "mine.rc, line 5: LM: 'three' is not a whole number"),
        (("T\n", "maybe\n"), "mine.rc, line 9: GATHER_3D: 'maybe' is neither .true. nor .false."),
        (("LM: 3", "LM 3"), "mine.rc, line 5: 'LM 3' is not a line like NX: 4"),
    ],
)
def test_bad_resource_files(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    (tmp_path / "mine.rc").write_text(RESOURCES.replace(*change))
    done = alone(tmp_path, "--config_file", "mine.rc")
    assert done.status == 2
    assert [words in line for line in messages(done)] == [True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nx", "1", "--ny", "1", "--write_binary"], "1 ranks: 6*NX*NY = 6*1*1 = 6 are needed"),
        (["--num_writers", "5"], "5 writers: the number must be a divisor of 6*NY = 24: 1 2 3 4 6 8 12 24"),
        (["--im_world", "3"], "IM_WORLD is 3: each of NX=4 by NY=4 ranks needs a cell of a face"),
        (["--lm", "0"], "NX, NY, LM and NUM_ARRAYS must be at least 1; they are 4, 4, 0 and 5"),
        (
            ["--im_world", "20000", "--lm", "9", "--gather_3d"],
            "21600000000 cells go through one of the writers at once",
        ),
        (["--im_world", "10000", "--write_binary"], "a Fortran record of more than 2147483639 bytes"),
        (
            ["--directory", "absent", "--write_binary"],
            "--directory: cannot write into absent: No such file or directory",
        ),
        (["--config_file", "absent.rc"], "cannot read the configuration file absent.rc: No such file"),
        (["--frobnicate"], "unknown argument '--frobnicate'"),
        (["--mode", "fast"], "--mode fast: unknown; the modes are raw_bw, gatherv and combo"),
        (["--mode", "raw_bw", "--n_writers", "6"], "--n_writers 6: from 1 to the 1 ranks"),
        (["--mode", "combo", "--file_type", "hdf"], "--file_type hdf: unknown; the types are binary and netcdf"),
    ],
)
def test_bad_usage(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = alone(tmp_path, *arguments)
    assert done.status == 2
    assert [words in line for line in messages(done)] == [True]
    assert list(tmp_path.iterdir()) == []
