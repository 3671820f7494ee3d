"""Compares the BT solver with NPB's published norms, and with values of the reference programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from btio_program import btio, verified

pytestmark = pytest.mark.mpi

# Norms over the interior after the first time step of class S. They come from a serial numpy solution of the same
# equations; the residual and the errors agree with NPB 3.3.1 run for 0, 1 and 2 steps.
FIRST_STEP = {
    "forcing": [
        9.3399472629182e00,
        8.6572185942488e00,
        7.8563344003897e00,
        7.2837346252087e00,
        5.7686564091750e00,
    ],
    "initial error": [
        4.9319450145218e02,
        4.2205889852837e01,
        1.2473308026573e02,
        1.0835322270736e02,
        8.9280241118725e02,
    ],
    "first residual": [
        6.7877440849324e04,
        6.8656671466445e03,
        1.7373916450581e04,
        1.4653216460274e04,
        9.7682415991639e04,
    ],
    "rhs after x sweep": [
        4.7650969106985e02,
        5.5732655067226e01,
        1.3721034692569e02,
        1.1537716922297e02,
        7.3985399646473e02,
    ],
    "rhs after y sweep": [
        3.5543394143641e02,
        4.1213459213632e01,
        1.0360013950747e02,
        8.6484947909194e01,
        5.4561279763666e02,
    ],
    "rhs after z sweep": [
        1.9679772956638e02,
        1.8259210443335e01,
        4.9757381630751e01,
        4.2523309452245e01,
        3.1462259320786e02,
    ],
    "error after step 1": [
        3.1637300455966e02,
        2.5339480744517e01,
        7.9863770341058e01,
        7.0151399654241e01,
        6.1865927818179e02,
    ],
}

# Error norms of the first, fifth and last of class S's twelve dumps, as NPB's own file has them.
DUMP_ERRORS = {
    0: [9.4451683865497e01, 6.9854387173741e00, 2.3728551336162e01, 2.1530266563654e01, 2.1613851577683e02],
    4: [
        1.0405740981232e00,
        1.0718373646818e-01,
        2.2651474518599e-01,
        2.0787294571346e-01,
        2.3618855802744e00,
    ],
    11: [
        4.9976913345824e-04,
        4.5195666782997e-05,
        7.3973765173046e-05,
        7.3821238632558e-05,
        8.9269630987489e-04,
    ],
}

# Residual norms after one and two steps of class S, printed by NPB 3.3.1.
RESIDUALS = {
    1: [33535.29368840, 3356.071324660, 8437.594750474, 7112.740086154, 47563.20884873],
    2: [18162.32982669, 1797.402991505, 4528.130542787, 3817.998858785, 25968.54523585],
}


def near(expected: list[float], digits: float = 1e-11) -> object:
    return pytest.approx(expected, rel=digits, abs=0.0)


@pytest.mark.parametrize("ranks", [1, 4])
def test_intermediate_values_of_class_s(tmp_path: Path, ranks: int) -> None:
    outcome = verified(tmp_path, "--class", "S", "--print-norms", ranks=ranks)
    for name, expected in FIRST_STEP.items():
        assert outcome.norms(name) == [near(expected)], name
    dumps = outcome.norms("error of the dump")
    assert len(dumps) == 12
    for dump, expected in DUMP_ERRORS.items():
        assert dumps[dump] == near(expected)


@pytest.mark.parametrize("steps", [1, 2])
def test_residual_after_the_first_steps(tmp_path: Path, steps: int) -> None:
    outcome = btio(tmp_path, "--class", "S", "--method", "none", "--steps", str(steps))
    assert outcome.status == 0
    assert outcome.value("Verification") == "NOT PERFORMED"
    assert "Unknown class" in outcome.text
    assert outcome.table("RMS-norms of residual") == near(RESIDUALS[steps])


@pytest.mark.parametrize(
    ("letter", "ranks"),
    [("S", 1), ("S", 4), ("S", 9), ("S", 16), ("W", 25)],
)
def test_published_norms_for_any_number_of_ranks(tmp_path: Path, letter: str, ranks: int) -> None:
    """9 and 16 ranks make cells of 4 and 3 points; 25 ranks cut 24 points unevenly. (Class W with 1, 4 and 9 ranks
    is verified where its files are compared.)
    """
    outcome = verified(tmp_path, "--class", letter, "--method", "none", ranks=ranks)
    assert outcome.value("Class") == letter
    for title in ("Comparison of RMS-norms of residual", "Comparison of RMS-norms of solution error"):
        assert max(outcome.table(title, column=2)) < 1e-10


@pytest.mark.parametrize("ranks", [1, 4, 9])
def test_a_grid_with_three_different_edges(tmp_path: Path, ranks: int) -> None:
    """Compares the norms of the residual with those that the reference program prints."""
    outcome = verified(tmp_path, "--grid", "10,11,12", "--steps", "10", "--dt", "0.01", ranks=ranks)
    residual = [845.3132143600, 67.73761495980, 211.4498805326, 190.3049303578, 1852.226958416]
    error = [62.38847391058, 4.848582984747, 15.65778967845, 14.22046227807, 144.3421481818]
    assert outcome.table("RMS-norms of residual") == near(residual)
    assert outcome.table("RMS-norms of solution error") == near(error)
    assert "no published reference" in outcome.text


def test_another_time_step_has_no_reference(tmp_path: Path) -> None:
    """Compares the norms of the residual with those that the reference program prints."""
    outcome = btio(tmp_path, "--class", "S", "--dt", "0.015", "--method", "none")
    assert outcome.status == 0
    assert " DT does not match the reference value of  0.10000000E-01" in outcome.text
    assert outcome.value("Verification") == "NOT PERFORMED"
    residual = [7.375604180372, 0.6259752049416, 1.565088792371, 1.291229252299, 8.091022481514]
    assert outcome.table("RMS-norms of residual") == near(residual)


def test_a_solution_that_blows_up_is_wrong(tmp_path: Path) -> None:
    outcome = btio(tmp_path, "--grid", "12,12,12", "--steps", "60", "--dt", "0.1", "--method", "none")
    assert outcome.status == 1
    assert outcome.value("Verification") == "UNSUCCESSFUL"
    assert "not finite" in outcome.text
