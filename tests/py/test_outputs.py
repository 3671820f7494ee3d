"""Reads outputs of benchmarks: every number must equal the one printed in the recorded file (tests/data/outputs)."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.lab.outputs.outputs import READERS, read_output
from iolens.metrics.subjects.subject import Output

DATA = Path(__file__).resolve().parents[1] / "data"
MIB = 2**20


def read(name: str) -> Output:
    found = read_output(DATA / "outputs" / name)
    assert found is not None, name
    return found


def numbers(found: Output) -> dict[str, list[float]]:
    """Returns the values by group, name and unit, in order."""
    values: dict[str, list[float]] = {}
    for value in found.values:
        values.setdefault(f"{value.group} {value.name} {value.unit}", []).append(value.value)
    return values


EXPECTED: dict[str, tuple[str, dict[str, list[float]]]] = {
    "npb_bt_full.out": (
        "NPB BT 3.3.1",
        {
            "Time run time s": [0.02],
            "Time I/O time s": [0.0],
            "Time share of I/O share": [0.1058],
            "Bytes written B": [0.83e6],
            "Bandwidth write MiB/s": [356.79e6 / MIB],
            "Computing operations Mop/s": [10392.84],
        },
    ),
    "npb_bt_3.4.out": ("NPB BT 3.4", {"Time run time s": [0.09], "Computing operations Mop/s": [2665.06]}),
    "npb_ft_omp.out": ("NPB FT 3.3.1", {"Time run time s": [3.18], "Computing operations Mop/s": [55.63]}),
    "btio_collective.out": (
        "BTIO",
        {
            "Time I/O time s": [0.64],
            "Time file create s": [0.0],
            "Time write post s": [0.0],
            "Time write wait s": [0.0],
            "Bytes written B": [50 * MIB],
            "Bandwidth write MiB/s": [78.06],
        },
    ),
    "ior_hermes.csv": (
        "IOR",
        {
            "Bandwidth write MiB/s": [30.312],
            "Time write time s": [202.6921],
            "Bytes written B": [30.312 * MIB * 202.6921],
            "Bandwidth read MiB/s": [2012.0224],
            "Time read time s": [3.0536],
            "Bytes read B": [2012.0224 * MIB * 3.0536],
        },
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_output_is_read_as_it_was_printed(name: str) -> None:
    found = read(name)
    program, values = EXPECTED[name]
    assert found.program == program
    assert numbers(found) == {key: pytest.approx(value) for key, value in values.items()}


@pytest.mark.parametrize("name", ["ior.json", "ior.csv", "../ior/fmt_v1.out"])
def test_each_repetition_of_ior_is_a_measurement(name: str) -> None:
    found = read(name)
    printed = {
        "ior.json": ([5895.2751, 6135.1066], [40920.0390, 54693.4507]),
        "ior.csv": ([2555.0681, 4343.0536], [45964.9753, 56631.9527]),
        "../ior/fmt_v1.out": ([5750, 6434, 6539], [50081, 57236, 57138]),
    }[name]
    assert found.program.startswith("IOR")
    assert found.facts["processes"] == "4"
    values = numbers(found)
    assert values["Bandwidth write MiB/s"] == pytest.approx(printed[0])
    assert values["Bandwidth read MiB/s"] == pytest.approx(printed[1])


def test_mdtest_gives_its_means() -> None:
    values = numbers(read("mdtest.out"))
    assert values["Metadata file creation operations/s"] == [32964.877]
    assert len(values) == 10


@pytest.mark.parametrize(
    ("name", "program", "value"),
    [
        ("mapl_checkpoint.out", "MAPL checkpoint simulator", "write"),
        ("mapl_restart.out", "MAPL restart simulator", "read"),
    ],
)
def test_mapl_gives_volume_and_both_throughputs(name: str, program: str, value: str) -> None:
    found = read(name)
    values = numbers(found)
    assert found.program == program
    assert values[f"Bytes {'written' if value == 'write' else 'read'} B"] == [0.10546875 * MIB]
    assert found.facts["trials"] == "3"
    assert found.facts["Split file"] == "F"
    text = (DATA / "outputs" / name).read_text().splitlines()
    line = text[next(n for n, each in enumerate(text) if each.startswith("Real throughput")) + 1].split()
    assert values[f"Bandwidth {value} MiB/s"] == [float(line[0])]
    assert values["Bandwidth file system MiB/s"] == [float(line[2])]


def test_osu_gives_every_size_of_every_test() -> None:
    values = numbers(read("osu_bw_host.out"))
    assert len(values) == 23
    assert values["MPI Bandwidth 1 B MB/s"] == [3.00]
    assert values["MPI Bandwidth 4 MiB MB/s"] == [12242.46]
    latency = read("osu_allreduce_7.5.out")
    assert numbers(latency)["MPI Allreduce Latency 1 MiB µs"] == [1064.92]
    assert {value.better for value in latency.values} == {-1}


def test_osu_with_full_statistics_names_each_column() -> None:
    found = READERS["OSU micro-benchmarks"](
        "# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n"
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
        "4                     136.08             99.29            164.85        1000\n"
        "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n              4.91\n"
    )
    assert found is not None
    assert [(value.group, value.name, value.value) for value in found.values] == [
        ("MPI Allreduce Latency", "4 B, avg latency", 136.08),
        ("MPI Allreduce Latency", "4 B, min latency", 99.29),
        ("MPI Allreduce Latency", "4 B, max latency", 164.85),
        ("MPI Barrier Latency", "no size", 4.91),
    ]


def test_each_output_is_known_to_one_reader_only() -> None:
    for path in sorted((DATA / "outputs").iterdir()):
        text = path.read_text()
        knowing = [name for name, reader in READERS.items() if reader(text) is not None]
        assert len(knowing) == (0 if path.suffix == ".md" else 1), (path.name, knowing)


@pytest.mark.parametrize(
    "text", ["", "\0\1\2", "{}", "[1]", '{"tests": 3}', '{"tests": [{"Results": 4}]}', "# OSU MPI Latency Test v1\n"]
)
def test_what_is_no_output_is_nobodys(text: str) -> None:
    assert [name for name, reader in READERS.items() if reader(text) is not None] == []


def test_a_run_that_did_not_end_has_no_result() -> None:
    text = (DATA / "outputs" / "npb_bt_full.out").read_text()
    assert READERS["NPB and its BT-IO"](text[: text.index("BT Benchmark Completed")]) is None
