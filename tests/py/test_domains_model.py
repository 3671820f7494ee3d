"""Tests the cost of file domains in the storage model, with the parameters of storage/ost.yaml and without a clock or a
disk.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
EVEN, ALIGNED, BOUND = 0, 1, 2
MIB = 2**20
LINK_OVER_OST = 1250 / 200


class Cost(NamedTuple):
    seconds: float
    handovers: int


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("model") / "domains_model"
    storage, common = ROOT / "storage" / "src", ROOT / "workloads" / "common"
    parts = [storage / f"{part}.c" for part in ("model", "locks", "machine", "params")]
    sources = [ROOT / "tests" / "c" / "domains_model.c", *parts]
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Werror", f"-I{storage}", f"-I{common}"]
    subprocess.run(["cc", *flags, *sources, common / "file_domain.c", "-o", output], check=True)
    return output


def cost(
    program: Path,
    kind: int,
    aggregators: int,
    stripes: int,
    call_bytes: int,
    calls: int,
    config: str = "storage/ost.yaml",
) -> Cost:
    numbers = (kind, aggregators, stripes, call_bytes, calls)
    command = [program, ROOT / config, *map(str, numbers)]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return Cost(float(words[0]), int(words[1]))


def test_transfers_across_stripes_cost_locks_unless_stripes_are_bound(program: Path) -> None:
    """Four ranks make 64 calls of 1 000 000 bytes each on four stripes."""
    even, aligned, bound = (cost(program, kind, 4, 4, 4_000_000, 64) for kind in (EVEN, ALIGNED, BOUND))
    assert even.handovers > aligned.handovers > bound.handovers == 0
    assert even.seconds > 1.2 * aligned.seconds
    assert aligned.seconds > bound.seconds
    # Four targets of 200 MB/s each are an upper bound; file domains that are bound to stripes must come close to it.
    assert 1 < bound.seconds / (256e6 / 800e6) < 1.02


def test_transfers_of_a_stripe_cost_the_same_in_all_three(program: Path) -> None:
    costs = {cost(program, kind, 4, 4, 4 * MIB, 64) for kind in (EVEN, ALIGNED, BOUND)}
    assert len(costs) == 1
    assert costs.pop().handovers == 0


@pytest.mark.parametrize(("stripes", "pays"), [(4, False), (12, True)])
def test_bound_aggregators_pay_once_stripes_outrun_a_link(program: Path, stripes: int, pays: bool) -> None:
    """The job makes ten dumps of 100 MiB. One client's link is as fast as 6.25 targets."""
    one, four = (cost(program, BOUND, aggregators, stripes, 100 * MIB, 10) for aggregators in (1, 4))
    assert one.handovers == four.handovers == 0
    assert (stripes > LINK_OVER_OST) == pays
    gain = one.seconds / four.seconds
    assert gain == pytest.approx(stripes / LINK_OVER_OST if pays else 1, rel=0.02)


@pytest.mark.parametrize(("stripes", "pays"), [(1, False), (4, False), (12, True)])
def test_even_aggregators_pay_for_locks_unless_stripes_outrun_a_link(program: Path, stripes: int, pays: bool) -> None:
    one, four = (cost(program, EVEN, aggregators, stripes, 100 * MIB, 10) for aggregators in (1, 4))
    bound = cost(program, BOUND, 4, stripes, 100 * MIB, 10)
    assert one.handovers == 0 < four.handovers
    assert (four.seconds < one.seconds) == pays
    assert stripes == 1 or four.seconds > bound.seconds


@pytest.mark.parametrize(("machine", "gain"), [("course/ost.yaml", 1.0), ("course/thin-links.yaml", 1.8)])
def test_a_second_aggregator_pays_on_thin_links_alone(program: Path, machine: str, gain: float) -> None:
    """The job makes dumps of 100 MiB on two stripes. On thin links the bandwidth follows min(aggregators, targets)."""
    one, two = (cost(program, BOUND, aggregators, 2, 100 * MIB, 3, machine) for aggregators in (1, 2))
    assert one.seconds / two.seconds == pytest.approx(gain, rel=0.03)


@pytest.mark.parametrize(("machine", "feeds"), [("thin-links", 1.5), ("balanced-links", 4.0), ("fat-links", 20.0)])
def test_one_writer_gains_from_as_many_stripes_as_its_link_feeds(program: Path, machine: str, feeds: float) -> None:
    """The job makes ten dumps of 96 MiB. The bandwidth is that of the stripes or of the link, whichever is smaller."""
    seconds = {
        stripes: cost(program, BOUND, 1, stripes, 96 * MIB, 10, f"storage/{machine}.yaml").seconds
        for stripes in (1, 2, 4, 8, 12)
    }
    for stripes, taken in seconds.items():
        assert seconds[1] / taken == pytest.approx(min(stripes, feeds), rel=0.1)
