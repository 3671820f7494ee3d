"""The nominal peak of processors: from the table if this machine has the needed vectors, else unknown."""

from __future__ import annotations

import platform
import subprocess

import profiler_harness as harness
import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the table is of x86-64")


@pytest.fixture(scope="module")
def program() -> str:
    # Forces a rebuild, because the program contains the library's sources.
    (harness.PROGRAMS / "processor_units").unlink(missing_ok=True)
    return str(harness.build_program("processor_units"))


def test_leaves_of_the_c_library_are_those_of_the_processor(program: str) -> None:
    assert subprocess.check_output([program], text=True) == "alike\n"


@pytest.mark.parametrize(
    ("vendor", "family", "model", "peak"),
    [
        pytest.param("AuthenticAMD", "0x10", "0x02", 4, id="quad-core Opteron"),
        pytest.param("GenuineIntel", "6", "0x1a", 4, id="Nehalem"),
        pytest.param("GenuineIntel", "6", "0x1c", 0, id="Atom"),
        pytest.param("GenuineIntel", "6", "0x55", 0, id="one AVX-512 unit or two"),
        pytest.param("GenuineIntel", "6", "0x8f", 0, id="Sapphire Rapids"),
        pytest.param("AuthenticAMD", "0x15", "0x02", 0, id="Bulldozer"),
        pytest.param("AuthenticAMD", "0x1a", "0x02", 0, id="Zen 5"),
        pytest.param("AuthenticAMD", "0x1f", "0x02", 0, id="a later one"),
        pytest.param("HygonGenuine", "0x18", "0x00", 0, id="a licensed one"),
    ],
)
def test_peaks_have_a_row_each_or_are_not_known(program: str, vendor: str, family: str, model: str, peak: int) -> None:
    assert subprocess.check_output([program, vendor, family, model], text=True).split() == [str(peak)]
