"""Finds the libraries whose calls the profiler can record in detail: HDF5, libcurl, cuFile and hipFile. No library is
loaded here: the loader's list and the folders of LD_LIBRARY_PATH tell which exist. A program may have its own copy of
such a library, as Python packages do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from iolens.lab.doctor.finding import CheckResult
from iolens.lab.run.mpi_launch.mpi import mpi_output

_LDCONFIG = "/sbin/ldconfig"
_NEWEST_1_8 = 10
"""Highest number after `.so.` in the name of a library of HDF5 1.8. That version's handles have another size than those
of later versions.
"""


def program_libraries() -> Iterator[CheckResult]:
    """Checks which of these libraries are installed. Says what the profiler records with an installed library, or what
    it cannot record because one is missing.
    """
    known = _libraries()
    yield _check_hdf5(known)
    yield _library_result(
        "libcurl", _versioned_libraries("libcurl", known), "requests are recorded by address", "no requests by address"
    )
    for name, device, driver in (("cuFile", "/dev/nvidia0", "NVIDIA's"), ("hipFile", "/dev/kfd", "AMD's")):
        found = _versioned_libraries(f"lib{name.lower()}", known)
        gpu = "a GPU is present" if Path(device).exists() else f"{device} is missing, so {driver} driver has no GPU"
        yield _library_result(
            name, found, f"the profiler asks it for its statistics; {gpu}", f"no transfers to GPUs; {gpu}"
        )


def _check_hdf5(known: Sequence[Path]) -> CheckResult:
    """Checks which HDF5 libraries accept settings from outside the program (`iolens run --hdf5`)."""
    found = [
        path
        for path in _versioned_libraries(r"libhdf5(_serial|_openmpi|_mpich)?", known)
        if _interface(path) > _NEWEST_1_8
    ]
    return _library_result(
        "HDF5", found, "takes settings of `iolens run --hdf5`", "no HDF5 1.10 or later; a program may bring its own"
    )


def _interface(path: Path) -> int:
    """Returns the interface number at the end of a library's name; 0 if there is none."""
    number = re.search(r"\.so\.(\d+)", path.name)
    return int(number[1]) if number else 0


def _library_result(name: str, found: Sequence[Path], use: str, without: str) -> CheckResult:
    """Returns the result for a library: its paths and its use or, if it is missing, what cannot be recorded."""
    if not found:
        return CheckResult(name, "not there", None, without)
    return CheckResult(name, ", ".join(map(str, found)), works=True, remedy=use)


def _versioned_libraries(stem: str, known: Sequence[Path]) -> list[Path]:
    """Returns the libraries with a version in their names, which are those that programs load."""
    return [path for path in known if re.fullmatch(rf"{stem}\.so\.\d[\d.]*", path.name)]


def _libraries() -> list[Path]:
    """Returns the libraries that the loader knows: those of LD_LIBRARY_PATH first, and only the first one of each
    name.
    """
    folders = [Path(folder) for folder in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")) if folder]
    nearer = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("lib*.so*"))]
    listed = [Path(line.split(" => ")[1]) for line in mpi_output(_LDCONFIG, "-p").splitlines() if " => " in line]
    return list({path.name: path for path in reversed([*nearer, *listed])}.values())[::-1]
