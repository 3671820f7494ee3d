"""The MPI-IO driver that moved the data of a sweep, and its consequences for a reader's own site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from iolens.lazy import pd


@dataclass(frozen=True)
class Driver:
    """A driver: its `name` in a sentence, the `mark` for every page, what it `means` elsewhere, and hints that it
    `ignores` when data is written.
    """

    name: str
    mark: str
    means: str
    ignores: tuple[str, ...] = ()


DRIVERS: Mapping[str, Driver] = {
    "lustre": Driver(
        "ROMIO's Lustre driver",
        "ROMIO'S LUSTRE DRIVER: AS ON LUSTRE SITES",
        "which Cray MPICH, Intel MPI (I_MPI_EXTRA_FILESYSTEM=1) and an MPICH built with Lustre use on Lustre. It gives "
        "each aggregator the same whole stripes in every call, ignores cb_buffer_size on collective writes, and lets "
        "no more aggregators write than the file has stripes (romio_lustre_co_ratio allows more). Their number divides "
        "the number of stripes.",
        ignores=("cb_buffer_size",),
    ),
    "generic": Driver(
        "ROMIO's generic driver",
        "ROMIO'S GENERIC DRIVER: NOT AS ON LUSTRE SITES",
        "whose aggregators share stripes and take them from one another, which costs more with every aggregator. On "
        "a Lustre site, an MPI library built for Lustre gives each aggregator whole stripes instead: expect there "
        "the gain from stripes and aggregators, but not the gain from the buffer (`io_component: lustre` in an "
        "experiment, or `--driver lustre` of a class, shows this where the driver is available).",
    ),
    "lustre-like": Driver(
        "the toolkit's own two-phase transfers",
        "LUSTRE-LIKE WRITER: ABOUT AS ON LUSTRE SITES",
        "which bind stripes to aggregators as ROMIO's Lustre driver does, and leave no MPI-IO records.",
    ),
    "ompio": Driver(
        "Open MPI's own MPI-IO (ompio)",
        "OMPIO: AS WITH OPEN MPI ALONE",
        "which takes no hints file: give cb_nodes and cb_buffer_size in the MPI_Info of MPI_File_open.",
    ),
}
"""The known drivers, by the value of `driver` in the frame of runs."""


def _drivers_of(runs: pd.DataFrame) -> list[str]:
    """Returns the known drivers of the runs."""
    return [name for name in dict.fromkeys(runs["driver"].dropna()) if name in DRIVERS]


def driver_marks(runs: pd.DataFrame) -> list[str]:
    """Returns the marks that every page about these runs must show."""
    found = _drivers_of(runs)
    return [f"{len(found)} MPI-IO DRIVERS"] if len(found) > 1 else [DRIVERS[name].mark for name in found]


def driver_names(runs: pd.DataFrame) -> str:
    """Returns the drivers in a few words; if none is in this table, the names of the MPI components that did the
    I/O.
    """
    found = [DRIVERS[name].name for name in _drivers_of(runs)]
    return " and ".join(found or [str(name) for name in runs["io_component"].dropna().unique()])


def driver_notes(runs: pd.DataFrame) -> list[str]:
    """Returns the drivers and their consequences, a sentence or two each, followed by the number of
    aggregators used.
    """
    words = [f"The data was moved by {DRIVERS[name].name}, {DRIVERS[name].means}" for name in _drivers_of(runs)]
    return [*words[:-1], *(word + _fewer_aggregators(runs) for word in words[-1:])]


def _fewer_aggregators(runs: pd.DataFrame) -> str:
    """Returns a note if drivers that bind stripes used fewer aggregators than requested. The drivers decide this on
    purpose; it is no failure.
    """
    needed = {"requested.cb_nodes", "requested.stripe_count", "observed.aggregators"}
    if not needed <= set(runs.columns):
        return ""
    found = runs[runs["usable"] & runs["driver"].isin(["lustre", "lustre-like"])].dropna(subset=list(needed))
    found = found[found["observed.aggregators"] < found["requested.cb_nodes"]]
    cases = sorted(
        {
            (int(row["requested.stripe_count"]), int(row["observed.aggregators"]), int(row["requested.cb_nodes"]))
            for _, row in found.iterrows()
        }
    )
    if not cases:
        return ""
    named = ", ".join(f"{used} of {asked} with {stripes} stripe{'s'[: stripes > 1]}" for stripes, used, asked in cases)
    return f" Fewer aggregators wrote than were requested: {named}."
