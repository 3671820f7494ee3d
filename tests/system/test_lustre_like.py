"""The toolkit's own collective transfers write the same bytes of the same stripes as ROMIO's Lustre driver."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from iolens.lab.installation import find_library
from iolens.lab.predict.extents import piece
from iolens.lab.predict.two_phase import Collective, aggregators_in_use, places, rounds
from iolens.lab.run.mpi_launch.lustre_driver import INTEL_MPI, intel_settings
from iolens.lab.storage.emulated import EMULATED, make_mount, set_emulated_stripes
from iolens.lab.storage.layout import Layout
from iolens.log import read_log
from lustre_driver import build

ROOT = Path(__file__).resolve().parents[2]
KIB = 1024


class StripingCase(NamedTuple):
    """A case: number and size of stripes, bytes that each rank writes in a call, number of calls, and MPI-IO hints."""

    stripes: int
    stripe: int
    transfer: int
    calls: int
    hints: Mapping[str, str]


def hints(**given: int | str) -> dict[str, str]:
    return {"romio_cb_write": "enable", **{key: str(value) for key, value in given.items()}}


CASES = [
    *(StripingCase(stripes, 64 * KIB, 30_000, 9, hints()) for stripes in (1, 2, 3, 4, 6, 12)),
    *(
        StripingCase(stripes, 128 * KIB, 100_000, 5, hints(cb_nodes=nodes))
        for stripes in (1, 3, 4, 12)
        for nodes in (1, 2, 4)
    ),
    *(StripingCase(2, 64 * KIB, 200_000, 3, hints(cb_nodes=6, romio_lustre_co_ratio=ratio)) for ratio in (1, 2, 4)),
    *(StripingCase(4, 64 * KIB, 70_000, 4, hints(cb_nodes=4, cb_config_list=f"*:{most}")) for most in (1, 2, 3, "*")),
    StripingCase(4, 256 * KIB, 1_000_000, 3, hints(cb_config_list="*:2")),
    StripingCase(3, 64 * KIB, 65_536, 4, hints(romio_lustre_co_ratio=2)),
]

Written = dict[int, dict[int, int]]
"""Bytes in each stripe of the file, for each rank that wrote."""


def script(folder: Path, driver: str) -> str:
    """Runs all cases in one script, because starting a job takes longer than any of them."""
    lines = ["IOR START", "api=MPIIO", "collective=1", "writeFile=1", "keepFile=1", f"mpiio.driver={driver}"]
    for number, case in enumerate(CASES):
        place = folder / str(number)
        place.mkdir()
        set_emulated_stripes(place, Layout(case.stripes, case.stripe))
        given = folder / f"{number}.hints"
        given.write_text("".join(f"{key}={value}\n" for key, value in case.hints.items()))
        lines += [f"testFile={place}/f", f"hintsFileName={given}", f"segmentCount={case.calls}"]
        lines += [f"blockSize={case.transfer}", f"transferSize={case.transfer}", "RUN"]
    return "\n".join([*lines, "IOR STOP"]) + "\n"


def written(folder: Path, ranks: int, driver: str) -> list[Written]:
    """Returns the bytes that each rank wrote in each case."""
    folder.mkdir()
    mount = make_mount(folder, ROOT / "storage" / "ost.yaml")
    (folder / "script").write_text(script(mount, driver))
    libraries = [find_library("libiolens.so"), find_library("libost.so")]
    settings = {
        **EMULATED.environment(mount, "job"),
        **(EMULATED.as_lustre or {}),
        "DXT_ENABLE_IO_TRACE": "1",
        "IOLENS_LOGFILE": str(folder / "log.darshan"),
        "LD_PRELOAD": ":".join(map(str, libraries)),
    }
    words = [INTEL_MPI / "bin/mpiexec.hydra", "-np", ranks, "env", *(f"{key}={text}" for key, text in settings.items())]
    words += [build() / "bin/ior", "-f", folder / "script"]
    environment = {**os.environ, **intel_settings()}
    done = subprocess.run(list(map(str, words)), env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    job = read_log(folder / "log.darshan")
    files = {path: record for record, path in job.names.items()}
    traced = job.frames["DXT_POSIX"]
    traced = traced[traced["op"] == "write"]
    found = []
    for number, case in enumerate(CASES):
        its = traced[traced["id"] == files[str(mount / str(number) / "f")]]
        found.append(by_stripe(zip(its["rank"], its["offset"], its["length"], strict=True), case.stripe))
    return found


def by_stripe(writes: Iterator[tuple[int, int, int]], stripe: int) -> Written:
    """Adds up writes (rank, offset, bytes) by rank and stripe."""
    found: Written = {}
    for rank, offset, length in writes:
        for number in range(offset // stripe, (offset + length - 1) // stripe + 1):
            part = min(offset + length, (number + 1) * stripe) - max(offset, number * stripe)
            of_rank = found.setdefault(int(rank), {})
            of_rank[number] = of_rank.get(number, 0) + int(part)
    return found


def planned(case: StripingCase, ranks: int) -> Written:
    """Returns the bytes that the rules of `iolens predict` for collective writes give."""
    wanted, most = int(case.hints.get("cb_nodes", case.stripes)), case.hints.get("cb_config_list", "*:*")[2:]
    wanted = wanted if wanted <= ranks else case.stripes
    candidates = min(wanted, ranks, ranks if most == "*" else int(most))
    used = aggregators_in_use("lustre", candidates, case.stripes, int(case.hints.get("romio_lustre_co_ratio", 1)))
    plan = Collective("lustre", places("lustre", candidates, ranks)[:used], 2**24, case.stripe)
    call = ranks * case.transfer
    moves = [
        (move.rank, move.begin, move.end - move.begin)
        for number in range(case.calls)
        for one in rounds(plan, piece(number * call, call), writing=True)
        for move in one.moves
    ]
    return by_stripe(iter(moves), case.stripe)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [3, 4, 6])
def test_the_same_ranks_write_the_same_bytes_of_the_same_stripes(tmp_path: Path, ranks: int) -> None:
    build()
    real, ours = (written(tmp_path / driver, ranks, driver) for driver in ("library", "lustre-like"))
    for case, theirs, own in zip(CASES, real, ours, strict=True):
        assert own == theirs, f"{ranks} ranks, {case}"
        assert planned(case, ranks) == theirs, f"{ranks} ranks, {case}"
        assert sum(sum(stripes.values()) for stripes in own.values()) == ranks * case.transfer * case.calls
    assert len({len(one) for one in real}) > 2, "the cases differ in how many ranks write"
