"""The simulators print what MAPL's print, line by line, and their logs show the I/O on their files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from btio_program import launch, result
from checkpoint_program import CHECKPOINT, ROOT, checkpoint, good, needs_netcdf, restart
from iolens.lab.storage.mounts import file_system

pytestmark = pytest.mark.mpi

SUMMARY = r""" Trial            1
 Trial            2
 \*{51}
 Summary of run: 
Total data volume in megabytes:    1\.5820312    
Num writers:    2
Total cores:       6
Cube size:      48    10
Split file, 3D_gather, chunk, extra, netcdf output, write barrier, do writes:  TTTFFFT
Number of trial:       2
Application  time: [ \dE.+-]{16}
Real throughput MB/s, Std Real throughput MB/s, file system MB/S, std file system MB/s
([ \dE.+-]{16})[ \dE.+-]{16}([ \dE.+-]{16})[ \dE.+-]{16}
"""

PROBLEM = ["--nx", "1", "--ny", "1", "--im_world", "48", "--lm", "10", "--num_arrays", "3"]


def test_the_block_is_the_originals_and_the_json_says_the_same(tmp_path: Path) -> None:
    words = [*PROBLEM, "--ntrials", "2", "--num_writers", "2", "--split_file", "--gather_3d", "--write_binary"]
    done = good(checkpoint(tmp_path, *words, "--json", "result.json"))
    found = re.match(SUMMARY, done.text)
    assert found, done.text
    told = result(tmp_path / "result.json")
    volume = 3 * 10 * 6 * 48 * 48 * 4
    phase = told["phases"][0]
    assert (told["workload"], phase["operation"], phase["bytes"]) == ("checkpoint_simulator", "write", 2 * volume)
    assert phase["calls_per_rank"] == 2 * 3
    assert [file["bytes"] for file in told["files"]] == [volume // 2 + 3 * 8] * 2
    extra = told["extra"]
    for printed, key in zip(found.groups(), ("real_mib_per_second", "file_system_mib_per_second"), strict=True):
        trials = extra[key]["trials"]
        assert float(printed) == pytest.approx(sum(trials) / 2, rel=1e-6)
        assert extra[key]["mean"] == pytest.approx(sum(trials) / 2)
        assert extra[key]["deviation"] == pytest.approx(abs(trials[0] - trials[1]) / 2)
    parts = [extra[f"{part}_seconds"]["max"] for part in ("open", "move", "close")]
    assert max(parts) <= phase["seconds"]["max"] <= sum(parts) + 1e-9
    assert told["verification"]["status"] == "not performed"


def test_what_was_not_measured_is_not_printed(tmp_path: Path) -> None:
    done = good(checkpoint(tmp_path, *PROBLEM, "--suppress_writes", "--write_binary"))
    assert re.search(r"^[ \dE.+-]{32} {13}n/a {13}n/a$", done.text, re.MULTILINE), done.text
    assert "Verification: not performed (no data went through files)" in done.text
    assert list(tmp_path.iterdir()) == []


def test_restart_prints_six_letters_and_tells_what_nodes_held(tmp_path: Path) -> None:
    words = ["--make", "--read_binary", "--num_readers", "3", "--ntrials", "1", "--cold-read", "--json", "r.json"]
    done = good(restart(tmp_path, *PROBLEM, *words))
    held = json.loads((tmp_path / "r.json").read_text())["extra"]["cached_before_read"]
    assert held == 1 if file_system(tmp_path)[0] == "tmpfs" else 0 <= held <= 1
    assert "\nNum readers:    3\n" in done.text
    assert "\nCube size/LM:      48    10\n" in done.text
    letters = "Split file, 3D_scatter, extra, netcdf output, write barrier, do writes:  FFFFFT"
    assert f"\n{letters}\n" in done.text


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")
def test_numbers_are_printed_as_fortran_prints_them(tmp_path: Path) -> None:
    values = "0 126.99509 99999999.7 99999999.4 12345678 0.1 0.0999999999 0.09999999949 1e-3 1e-310 -4.5 1e100".split()
    (tmp_path / "numbers.f90").write_text(
        "program numbers\n double precision :: x\n integer :: status\n do\n  read (*, *, iostat=status) x\n"
        "  if (status /= 0) exit\n  write (*, '(A,G16.8,A)') '[', x, ']'\n end do\n"
        "  write (*, '(A,I3,A,I3,A)') '[', 999, '][', 1000, ']'\nend program\n"
    )
    (tmp_path / "numbers.c").write_text(
        '#include "fortran.h"\n#include <stdio.h>\n#include <stdlib.h>\n'
        "int main(int count, char **words)\n{\n    char text[G16_8_SIZE], integer[4], wide[4];\n"
        "    for (int i = 1; i < count; i++)\n"
        '        printf("[%s]\\n", fortran_g16_8(atof(words[i]), text));\n'
        '    printf("[%s][%s]\\n", fortran_integer(999, 3, integer), fortran_integer(1000, 3, wide));\n}\n'
    )
    folder = ROOT / "workloads" / "checkpoint"
    include = [f"-I{folder}", f"-I{ROOT / 'workloads' / 'common'}"]
    subprocess.run(["gfortran", "numbers.f90", "-o", "theirs"], cwd=tmp_path, check=True)
    subprocess.run(
        ["cc", "-Wall", "-Werror", *include, "numbers.c", str(folder / "fortran.c"), "-o", "ours", "-lm"],
        cwd=tmp_path,
        check=True,
    )
    theirs = subprocess.run(["./theirs"], input="\n".join(values), cwd=tmp_path, capture_output=True, text=True)
    ours = subprocess.run(["./ours", *values], cwd=tmp_path, capture_output=True, text=True)
    assert ours.stdout == theirs.stdout


MODE_ROWS = {
    "raw_bw": (r" +48, +10, +2, +0\.0006, +0\.0003,( +\d+\.\d{4},){3} +\d+\.\d{4}", 3),
    "gatherv": (r" +48, +10, +2, +3,( +\d+\.\d{4},){2} +\d+\.\d{4}", 2),
    "combo": (r" +48, +10, +2, +3,( +\d+\.\d{4},){3} +\d+\.\d{4}", 3),
}


@pytest.mark.parametrize("mode", list(MODE_ROWS))
def test_modes_print_the_originals_columns(tmp_path: Path, mode: str) -> None:
    words = ["--mode", mode, "--nx", "48", "--n_levs", "10", "--n_writers", "2", "--n_tries", "2"]
    done = good(checkpoint(tmp_path, *words, "--json", "-"))
    lines = done.text.splitlines()
    row = next(line for line in lines if re.fullmatch(MODE_ROWS[mode][0], line))
    assert len(lines[lines.index(row) - 1]) == len(row)
    told = json.loads(lines[-1].removeprefix("RESULT-JSON: "))
    assert {phase["bytes"] for phase in told["phases"]} == {2 * 48 * 48 * 6 * 10 * 4}
    assert list(tmp_path.iterdir()) == []


@needs_netcdf()
def test_the_originals_hint_writes_the_file_twice(tmp_path: Path) -> None:
    """POSIX calls write as many bytes for each byte of the fields as the documentation of this option says."""
    import darshan

    libraries = ":".join(str(ROOT / "build" / "lib" / name) for name in ("libiolens-openmpi.so", "libiolens.so"))
    problem = ["--nx", "1", "--ny", "1", "--lm", "8", "--num_arrays", "3", "--ntrials", "1", "--num_writers", "6"]
    volume, ratios = 90 * 90 * 6 * 8 * 3 * 4, []
    for hints in (["--original_hints"], ["--hint", "romio_ds_write=disable"]):
        folder = tmp_path / str(len(ratios))
        folder.mkdir()
        good(launch(folder, ["-x", f"LD_PRELOAD={libraries}", str(CHECKPOINT), *problem, *hints], 6))
        log = darshan.DarshanReport(str(next(folder.glob("*.darshan"))), read_all=True)
        counters = log.records["POSIX"].to_df()["counters"]
        names = counters["id"].map(log.name_records)
        written = counters.loc[names.str.endswith("/checkpoint.nc4"), "POSIX_BYTES_WRITTEN"].sum()
        ratios.append(float(written) / volume)
    assert ratios == pytest.approx([2.0, 1.0], abs=0.03)
