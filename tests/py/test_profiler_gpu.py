"""Tests transfers to GPUs, with substitutes for cuFile and hipFile, because the machines of the tests have no GPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise.limits import changed
from iolens.advise.rules import transfer_rules
from iolens.log import Job, read_log
from iolens.pages.exhibits.files import GPU_STORAGE

ENDED_BEFORE, CRASHED, SILENT, NO_STATISTICS, OTHER_LAYOUT = -1, -2, -3, -5, -6
HIPFILE = "-DSTATISTICS=hipFileGetStatsL3"
DISTORTED = "all_ones many_bytes negative_bytes many_calls many_errors many_gpus longer negative_error".split()
"""Ways in which the stand-in answers with numbers or an error that no sound library gives."""


def stand_in(folder: Path, name: str, *flags: str) -> Path:
    """Builds a substitute for cuFile or, with other flags, for hipFile."""
    library = folder / name
    source = harness.ROOT / "tests/c/gpu_storage_stub.c"
    subprocess.run(["gcc", "-std=gnu11", *flags, "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def asked(way: str, folder: Path, *flags: str, name: str = "libcufile.so.0", **settings: str) -> Job:
    """Returns the log of a program that loaded the library, and checks that asking the library changed no output."""
    harness.build_library()
    library = stand_in(folder, name, *flags)
    program = harness.build_program("gpu_storage", "-ldl")
    if way == "linked":
        settings["LD_PRELOAD"] = f"{harness.PRELOAD}:{library}"
    done = harness.run(program, way, str(library), folder=folder, **settings)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    assert not list(folder.glob("core*"))
    (log,) = harness.logs(folder)
    return read_log(log)


@pytest.mark.parametrize("way", ["linked", "late", "quick"])
@pytest.mark.parametrize(
    ("called", "name", "flags"),
    [
        ("cuFile", "libcufile.so.0", ()),
        ("cuFile", "libcufile.so.0", ("-DVECTORS",)),
        ("hipFile", "libhipfile.so.0", (HIPFILE,)),
    ],
)
def test_each_counter_is_the_one_that_the_library_told(
    called: str, name: str, flags: tuple[str, ...], way: str, tmp_path: Path
) -> None:
    """The n-th counter of the substitute depends only on n and the GPU, and cufile.h orders the counters."""
    job = asked(way, tmp_path, *flags, name=name)
    table = job.tables["gpu_storage"]
    names = "bytes_read reads posix_reads unaligned_reads failed_reads".split()
    names += "bytes_written writes posix_writes unaligned_writes failed_writes".split()
    found = {row[0]: row[1:] for row in table.rows("gpu", *names)}
    offsets = (0, 4, 7, 8, 12, 13, 17, 20, 21, 23)
    assert found == {gpu: tuple(1000 * (gpu + 1) - offset for offset in offsets) for gpu in (0, 1)}
    assert set(table["library"].tolist()) == {called}
    assert table["uuid"].tolist() == ["a0" * 16, "a1" * 16]
    assert table["read_seconds"].tolist() == pytest.approx([0.000997, 0.001997])
    assert table["write_seconds"].tolist() == pytest.approx([0.000984, 0.001984])
    seen = transfer_rules.GPU_FALLBACK.check(job, changed([]))
    assert seen is not None
    assert f"{called} carried out 5,946 of 5,958 transfers" in seen.evidence
    assert transfer_rules.GPU_FALLBACK.check(job, changed(["gpu_fallback=1.1"])) is None


@pytest.mark.parametrize(
    ("way", "end", "error", "said"),
    [
        ("linked", "refuse", 5022, "error 5022"),
        ("linked", "crash", CRASHED, "crashed"),
        ("late", "abort", CRASHED, "crashed"),
        ("linked", "leave", CRASHED, "crashed"),
        ("late", "hang", SILENT, "did not answer"),
        ("linked", "move", OTHER_LAYOUT, "contradict"),
        *(("linked", way, OTHER_LAYOUT, "contradict") for way in DISTORTED),
        ("linked", "refuse_with_numbers", 5022, "error 5022"),
        ("closed", "", ENDED_BEFORE, "unloaded"),
        ("unseen", "", ENDED_BEFORE, "unloaded"),
    ],
)
def test_a_library_that_fails_is_named_and_does_no_harm(
    way: str, end: str, error: int, said: str, tmp_path: Path
) -> None:
    job = asked(way, tmp_path, **({"STUB_END": end} if end else {}))
    assert list(job.tables["gpu_storage"].rows("gpu", "error", "reads")) == [(-1, error, 0)]
    (shown,) = GPU_STORAGE.metric(job).rows("reads", "lacks")
    assert str(shown[0]) == "nan"
    assert said in shown[1]
    assert transfer_rules.GPU_FALLBACK.check(job, changed([])) is None


COUNTERS = """read_bytes read_bw_bytes_per_sec read_utilization read_duration_us n_total_reads n_p2p_reads n_nvfs_reads
n_posix_reads n_unaligned_reads n_dr_reads n_sparse_regions n_inline_regions n_reads_err writes_bytes
write_bw_bytes_per_sec write_utilization write_duration_us n_total_writes n_p2p_writes n_nvfs_writes n_posix_writes
n_unaligned_writes n_dr_writes n_writes_err n_mmap n_mmap_ok n_mmap_err n_mmap_free reg_bytes""".split()
"""The counters of a GPU in the order of the stand-in."""

LAYOUT = """
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <{header}>
int main(void)
{{
    int numbers[] = {{{numbers}}};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        printf("%d ", numbers[i]);
    return 0;
}}
"""


@pytest.mark.parametrize(("header", "library"), [("cufile.h", "CUfile"), ("hipfile.h", "hipFile")])
def test_the_stand_in_has_the_layout_of_the_real_header(header: str, library: str, tmp_path: Path) -> None:
    """The headers are the vendors', from CUDA or ROCm, or from the folders that CPATH names."""
    structure = f"{library}StatsLevel3_t"
    places = [f"(int)offsetof({structure}, per_gpu_stats[1].{name})" for name in COUNTERS]
    places += [f"(int)offsetof({structure}, num_gpus)", f"(int)sizeof({structure})"]
    source = tmp_path / "layout.c"
    source.write_text(LAYOUT.format(header=header, numbers=", ".join(places)))
    said = subprocess.run(["gcc", "-E", source], capture_output=True, text=True, check=False)
    if said.returncode != 0 or f" {structure};" not in said.stdout:
        pytest.skip(f"no {header} with statistics (cuFile 1.15, hipFile 0.5), or none of the headers that it needs")
    subprocess.run(["gcc", "-w", "-o", tmp_path / "layout", source], check=True)
    *found, gpus, size = map(int, subprocess.run([tmp_path / "layout"], capture_output=True, check=True).stdout.split())
    vectors = 14 if "FileReadv(" in said.stdout else 0
    # This is the place of the second GPU's counters: behind FIRST_GPU, the numbers of the first GPU, and IDENTITY, as
    # in the stand-in.
    first = 129 + vectors + 31 + 2
    assert found == [8 * (first + number) for number in range(len(COUNTERS))]
    assert (gpus, size) == (8 * (128 + vectors), 8 * (625 + vectors))


def test_a_library_without_statistics_is_named(tmp_path: Path) -> None:
    job = asked("linked", tmp_path, "-DWITHOUT_STATISTICS")
    assert list(job.tables["gpu_storage"].rows("gpu", "error")) == [(-1, NO_STATISTICS)]


def test_a_program_with_both_libraries_has_rows_of_both(tmp_path: Path) -> None:
    harness.build_library()
    libraries = [stand_in(tmp_path, "libcufile.so.0"), stand_in(tmp_path, "libhipfile.so.0", HIPFILE)]
    preload = ":".join(map(str, (harness.PRELOAD, *libraries)))
    program = harness.build_program("gpu_storage", "-ldl")
    done = harness.run(program, "linked", str(libraries[0]), folder=tmp_path, LD_PRELOAD=preload)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    (log,) = harness.logs(tmp_path)
    rows = read_log(log).tables["gpu_storage"].rows("library", "gpu", "reads")
    assert list(rows) == [(name, gpu, 996 + 1000 * gpu) for name in ("cuFile", "hipFile") for gpu in (0, 1)]


def test_no_row_where_no_such_library_is_loaded(tmp_path: Path) -> None:
    assert "gpu_storage" not in asked("late", tmp_path, name="libcufile_rdma.so.1").tables
