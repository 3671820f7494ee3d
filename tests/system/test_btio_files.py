"""BT-IO's data files have the same bytes with any method and number of ranks, and are verified when read back."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from btio_program import BtioResult, btio, result, verified
from iolens.lab.storage.mounts import file_system

pytestmark = pytest.mark.mpi

EDGE, DUMPS, DUMP_BYTES = 12, 12, 40 * 12**3
SHARED = ["full", "simple", "fortran"]


def kept(where: Path, *arguments: str, method: str = "full", ranks: int = 1, io: str = "romio321") -> bytes:
    """Returns the bytes of the data file that a verified run left."""
    verified(where, "--method", method, "--keep", *arguments, ranks=ranks, io=io)
    return (where / f"btio.{method}.out").read_bytes()


@pytest.fixture(scope="module")
def class_s(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return kept(tmp_path_factory.mktemp("class_s"), "--class", "S")


@pytest.mark.parametrize(
    ("method", "ranks", "io"),
    [
        ("full", 4, "romio321"),
        ("full", 4, "ompio"),
        ("full", 9, "romio321"),
        ("full", 16, "romio321"),
        ("simple", 1, "romio321"),
        ("simple", 4, "ompio"),
        ("simple", 9, "romio321"),
        ("fortran", 1, "romio321"),
        ("fortran", 4, "romio321"),
        ("fortran", 9, "romio321"),
    ],
)
def test_same_bytes_by_any_method_and_ranks(tmp_path: Path, class_s: bytes, method: str, ranks: int, io: str) -> None:
    assert kept(tmp_path, "--class", "S", method=method, ranks=ranks, io=io) == class_s


@pytest.mark.parametrize("ranks", [1, 4, 9])
def test_same_bytes_by_the_lustre_like_driver(tmp_path: Path, class_s: bytes, ranks: int) -> None:
    """Stripes of 3000 bytes divide rows and points; the reading also uses the driver."""
    driver = ["--mpiio-driver", "lustre-like", "--hint", "striping_unit=3000"]
    assert kept(tmp_path, "--class", "S", *driver, ranks=ranks) == class_s


def test_the_lustre_like_driver_is_for_full_alone(tmp_path: Path) -> None:
    outcome = btio(tmp_path, "--method", "simple", "--mpiio-driver", "lustre-like")
    assert outcome.status == 2
    assert "--mpiio-driver lustre-like --method simple: the drivers are library and, for full" in outcome.messages[0]


def test_same_bytes_of_class_w(tmp_path: Path) -> None:
    serial = kept(tmp_path, "--class", "W")
    assert len(serial) == 22_118_400
    assert kept(tmp_path, "--class", "W", ranks=4) == serial
    assert kept(tmp_path, "--class", "W", method="simple", ranks=9) == serial


def test_layout_and_values_of_class_s(class_s: bytes) -> None:
    """Points of the file equal those of NPB's own; the axes are dump, z, y, x and component."""
    field = np.frombuffer(class_s).reshape(DUMPS, EDGE, EDGE, EDGE, 5)
    assert field[0, 0, 0, 0].tolist() == [2.0, 1.0, 2.0, 2.0, 5.0]
    first = [
        1.4632768247821e02,
        3.7669545342523e00,
        3.4534768289073e01,
        3.2551307595927e01,
        3.8778207467143e02,
    ]
    corner = [
        1.2135199309995e01,
        -5.4570990412561e-01,
        3.3966807803187e00,
        3.8211906514304e00,
        4.2597900920384e01,
    ]
    last = [
        5.6323420289441e00,
        2.2965292966530e00,
        4.0047602598897e00,
        3.9791684261885e00,
        9.2950503598062e00,
    ]
    assert field[0, 5, 5, 5] == pytest.approx(first, rel=1e-11)
    assert field[0, 3, 2, 1] == pytest.approx(corner, rel=1e-11)
    assert field[11, 5, 5, 5] == pytest.approx(last, rel=1e-11)


def cells(rank: int, edge: int) -> list[tuple[int, int, int]]:
    """Returns the cell coordinates (x, y, z) of a rank in the multipartition of edge*edge ranks."""
    i, j = rank % edge, rank // edge
    return [((i + c) % edge, (j - c) % edge, c) for c in range(edge)]


@pytest.mark.parametrize("edge", [1, 2, 3])
def test_epio_files_are_fortran_records_of_cells(tmp_path: Path, class_s: bytes, edge: int) -> None:
    verified(tmp_path, "--class", "S", "--method", "epio", "--keep", ranks=edge * edge)
    field = np.frombuffer(class_s).reshape(DUMPS, EDGE, EDGE, EDGE, 5)
    side = EDGE // edge
    for rank in range(edge * edge):
        records = (tmp_path / f"btio.epio.out.{rank:04d}").read_bytes()
        at, length = 0, 40 * side**3
        for dump in range(DUMPS):
            for x, y, z in cells(rank, edge):
                before, after = (
                    struct.unpack_from("=i", records, at)[0],
                    struct.unpack_from("=i", records, at + 4 + length)[0],
                )
                assert (before, after) == (length, length)
                cut = tuple(slice(c * side, (c + 1) * side) for c in (z, y, x))
                assert records[at + 4 : at + 4 + length] == field[dump][cut].tobytes()
                at += length + 8
        assert at == len(records)


def test_data_files_are_removed_unless_kept(tmp_path: Path) -> None:
    for method in ("full", "epio"):
        verified(tmp_path, "--method", method, ranks=4)
    assert list(tmp_path.iterdir()) == []


def corrupt(path: Path, offset: int) -> None:
    """Writes another double at a byte offset."""
    with path.open("r+b") as file:
        file.seek(offset)
        value = struct.unpack("=d", file.read(8))[0]
        file.seek(offset)
        file.write(struct.pack("=d", value + 1.0e-3))


def check_again(where: Path, *arguments: str, ranks: int = 4) -> BtioResult:
    return btio(where, "--verify-only", *arguments, ranks=ranks)


def test_a_corrupted_double_fails_the_verification(tmp_path: Path) -> None:
    kept(tmp_path, "--class", "S", ranks=4)
    good = check_again(tmp_path)
    assert (good.status, good.value("Verification")) == (0, "SUCCESSFUL")
    corrupt(tmp_path / "btio.full.out", 11 * DUMP_BYTES + 8 * (4 + 5 * (5 + 12 * (5 + 12 * 5))))
    bad = check_again(tmp_path)
    assert (bad.status, bad.value("Verification")) == (1, "UNSUCCESSFUL")
    assert " FAILURE: " in bad.text


@pytest.mark.parametrize("method", ["full", "simple", "epio", "fortran"])
def test_a_file_cut_short_is_an_error(tmp_path: Path, method: str) -> None:
    verified(tmp_path, "--class", "S", "--method", method, "--keep", ranks=4)
    path = tmp_path / ("btio.epio.out.0001" if method == "epio" else f"btio.{method}.out")
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    outcome = check_again(tmp_path, "--method", method)
    assert outcome.status == 1
    assert len(outcome.messages) == 1
    assert path.name in outcome.messages[0]
    assert path.read_bytes() == whole[:-8]


@pytest.mark.parametrize(("method", "ranks"), [("full", 1), ("full", 9), ("simple", 9), ("epio", 9), ("fortran", 9)])
def test_io_only_writes_known_data(tmp_path: Path, method: str, ranks: int) -> None:
    """The grid is uneven; every dump is the field of the first one plus the dump's number."""
    arguments = [
        "--grid",
        "13,11,10",
        "--steps",
        "3",
        "--write-interval",
        "1",
        "--io-only",
        "--method",
        method,
    ]
    verified(tmp_path, *arguments, "--keep", ranks=ranks)
    if method in SHARED:
        field = np.fromfile(tmp_path / f"btio.{method}.out").reshape(3, 10, 11, 13, 5)
        assert np.array_equal(field[1], field[0] + 1.0)
        assert np.array_equal(field[2], field[0] + 2.0)
        corrupt(tmp_path / f"btio.{method}.out", 8 * 5)
        outcome = check_again(tmp_path, *arguments, ranks=ranks)
        assert outcome.status == 1
        assert "1 values differ from the written ones, first in dump 1" in outcome.text


def test_write_interval_seven(tmp_path: Path) -> None:
    """The run makes nine dumps, the last at step 60. No error norms are published for that, so memory is the
    reference.
    """
    outcome = verified(tmp_path, "--class", "S", "--write-interval", "7", "--keep", ranks=4)
    assert outcome.text.count(" Writing data set") == 9
    assert " Writing data set, time step          60" in outcome.text
    assert "compared with the norms in memory" in outcome.text
    assert (tmp_path / "btio.full.out").stat().st_size == 9 * DUMP_BYTES


def test_write_interval_ten_has_the_mean_of_the_reference_program(tmp_path: Path) -> None:
    outcome = verified(tmp_path, "--class", "S", "--write-interval", "10")
    mean = [5.455412855115, 0.4902879956371, 1.337162082865, 1.221231250395, 12.85796357721]
    assert outcome.table("Comparison of RMS-norms of solution error") == pytest.approx(mean, rel=1e-11)


@pytest.mark.parametrize(("method", "interval"), [("full", 2), ("full", 5), ("simple", 2), ("epio", 2), ("fortran", 2)])
def test_read_interval(tmp_path: Path, interval: int, method: str) -> None:
    """The file holds as many dumps as one read-back needs; all twelve are read and verified."""
    arguments = ["--class", "S", "--read-interval", str(interval), "--method", method, "--keep"]
    outcome = verified(tmp_path, *arguments, ranks=4)
    assert outcome.text.count(" Reading data set ") == DUMPS
    files = list(tmp_path.glob(f"btio.{method}.out*"))
    markers = 8 * 2 * interval * len(files) if method == "epio" else 0
    assert sum(path.stat().st_size for path in files) == interval * DUMP_BYTES + markers


def test_result_json_and_the_printed_block_agree(tmp_path: Path) -> None:
    arguments = [
        "--class",
        "S",
        "--hint",
        "cb_nodes=2",
        "--hint",
        "cb_buffer_size=4M",
        "--json",
        "result.json",
    ]
    outcome = verified(tmp_path, *arguments, ranks=4)
    found = result(tmp_path / "result.json")
    assert (found["schema"], found["workload"], found["ranks"], found["nodes"]) == (1, "btio", 4, 1)
    parameters = found["parameters"]
    assert (parameters["class"], parameters["grid"], parameters["steps"]) == ("S", [12, 12, 12], 60)
    assert (parameters["method"], parameters["write_interval"], parameters["io_only"]) == ("full", 5, False)
    assert found["hints"]["requested"] == {"cb_nodes": "2", "cb_buffer_size": "4194304"}
    assert found["hints"]["effective"]["cb_buffer_size"] == "4194304"
    assert found["mpi"]["io_component"] in ("romio321", "romio341")
    assert found["files"] == [
        {
            "path": str(tmp_path / "btio.full.out"),
            "bytes": DUMPS * DUMP_BYTES,
            "stripe_count": None,
            "stripe_size": None,
        }
    ]
    write, read = found["phases"]
    assert (write["operation"], write["bytes"], write["calls_per_rank"]) == ("write", DUMPS * DUMP_BYTES, 12)
    assert (read["operation"], read["bytes"], read["calls_per_rank"]) == ("read", DUMPS * DUMP_BYTES, 12)
    seconds = write["seconds"]
    assert seconds["min"] <= seconds["harmonic_mean"] <= seconds["mean"] <= seconds["max"]
    assert found["verification"] == {"status": "successful", "detail": None}
    assert len(found["extra"]["dump_seconds"]) == DUMPS
    assert float(outcome.value("Total data written (MB)")) == 0.83
    rate = 1e-6 * write["bytes"] / seconds["harmonic_mean"]
    assert float(outcome.value("I/O data rate  (MB/sec)")) == pytest.approx(rate, abs=0.01)
    share = 100 * seconds["harmonic_mean"] / found["total_seconds"]
    assert float(outcome.value("I/O timing percentage")) == pytest.approx(share, abs=0.01)
    assert float(outcome.value("Mop/s total")) == pytest.approx(found["extra"]["mops_total"], abs=0.01)


def test_operation_count_of_class_s(tmp_path: Path) -> None:
    """NPB counts 228.3138 million operations."""
    verified(tmp_path, "--method", "none", "--json", "result.json")
    found = result(tmp_path / "result.json")
    assert found["extra"]["mops_total"] * found["total_seconds"] == pytest.approx(228.3138, rel=1e-6)
    assert found["phases"] == found["files"] == []


def test_epio_result_names_every_file(tmp_path: Path) -> None:
    outcome = verified(tmp_path, "--method", "epio", "--json", "-", ranks=4)
    assert outcome.text.count("RESULT-JSON: ") == 1
    for rank in range(4):
        assert f"btio.epio.out.{rank:04d}" in outcome.text


def test_hints_file(tmp_path: Path) -> None:
    """Hints may be written in two ways; --hint overrides the file."""
    (tmp_path / "hints.txt").write_text("# aggregation\ncb_nodes=1\nromio_cb_write enable\n\ncb_buffer_size 1MiB\n")
    arguments = ["--hints-file", "hints.txt", "--hint", "cb_buffer_size=2M", "--json", "result.json"]
    verified(tmp_path, *arguments, ranks=4)
    requested = result(tmp_path / "result.json")["hints"]["requested"]
    assert requested == {"cb_nodes": "1", "romio_cb_write": "enable", "cb_buffer_size": "2097152"}


@pytest.mark.mpi
def test_data_that_is_not_read_back_is_not_called_verified(tmp_path: Path) -> None:
    outcome = btio(tmp_path, "--steps", "5", "--io-only", "--write-only", "--json", "result.json")
    assert outcome.status == 0, outcome.errors
    assert "No verification performed" in outcome.text
    assert "No reference values provided" not in outcome.text
    found = result(tmp_path / "result.json")
    assert found["verification"] == {
        "status": "not performed",
        "detail": "the data was not read back, as --write-only asks",
    }
    assert [phase["operation"] for phase in found["phases"]] == ["write"]


def test_a_cold_read_says_how_much_was_still_in_memory(tmp_path: Path) -> None:
    verified(tmp_path, "--steps", "5", "--io-only", "--cold-read", "--json", "result.json", ranks=4)
    held = result(tmp_path / "result.json")["extra"]["cached_before_read"]
    # A kernel may keep pages that it is asked to drop; on tmpfs it must keep all.
    assert held == 1 if file_system(tmp_path)[0] == "tmpfs" else 0 <= held <= 1
    refused = btio(tmp_path, "--io-only", "--write-only", "--cold-read")
    assert refused.status == 2
    assert "--cold-read works only with a read-back after the run" in refused.messages[0]
