"""The recommended settings of a sweep, ready to paste, with the MPI-IO driver and the machines for which they hold."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iolens.lab.predict.what_if import WhatIf, read_what_if
from iolens.lab.storage.backends import BACKENDS
from iolens.lab.storage.lustre import LUSTRE, STRIPE_UNIT
from iolens.lab.sweep.plan.builds import build_commands
from iolens.lab.sweep.read.results import Results
from iolens.lazy import pd
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.comparison.settings import level_text
from iolens.metrics.files.stripes.striping import reached_stripes
from iolens.missing import is_nan
from iolens.pages.base.words import plural


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


_REQUESTED = {"aggregators": "cb_nodes"}
"""Names of settings in predictions, with the names that the runs of a sweep use for them."""


def machines_sentence(results: Results, asked: Mapping[str, Any], factors: tuple[str, ...], driver: object) -> str:
    """Returns a sentence on the machines for which the best setting of a sweep on emulated storage holds, given as
    ratios of a link's speed to a target's. The predictions that lie with the results give the ratios; without
    predictions, the sentence says how to make them. Empty if the storage is not emulated.

    `asked` are the requested settings of the best runs, `factors` the settings that the sweep varied.
    """
    speeds = [results.limits.get(key, 0.0) for key in ("link_mb_per_s", "ost_mb_per_s")]
    if min(speeds) <= 0:
        return ""
    here = speeds[0] / speeds[1]
    found = read_what_if(results.directory)
    links = found.links if found else None
    if found is None or links is None or not math.isclose(links.here, here, rel_tol=1e-3):
        return (
            f" It depends on the machine: here a client's link is {here:.3g} times as fast as a target. To see for "
            "which machines it holds, predict from a traced run (iolens predict LOG --stripes LIST -o "
            "RESULTS/what-if.json) and compare again."
        )
    place = _predicted_place(found, asked, factors, driver)
    if place is None:
        return (
            f" It depends on the machine (here a client's link is {here:.3g} times as fast as a target); the "
            "predictions leave this setting out."
        )
    told = links.words(place)
    return f" {told}" if told else " On this machine the model predicts another setting as the fastest one."


def _predicted_place(found: WhatIf, asked: Mapping[str, Any], factors: tuple[str, ...], driver: object) -> int | None:
    """Returns the number of the predicted point that has the settings of the best runs, including all varied ones; None
    if no point has them.
    """
    known = {**asked, "driver": driver}
    for place, (settings, _) in enumerate(found.points):
        equal = all(known.get(_REQUESTED.get(name, name)) == level for name, level in settings.items())
        if equal and set(factors) <= set(settings):
            return place
    return None


_LINE = 100
"""Maximum length of a line that can be pasted from a page, in characters."""
_LAYOUT = ("stripe_count", "stripe_size", "object_size")
"""Settings of a file's layout."""
_FOLD = " \\\n    "
"""Text between the lines of one shell command, which continues the command on the next line."""


@dataclass(frozen=True)
class Remedy:
    """The best setting, ready to paste: a shell line or None, the lines of a hints file, and where it holds. `own`
    lists the changes that user-defined factors make at the best setting. `lead` is the beginning of a sentence with the
    reason to paste it: the setting may be the baseline, or not be proven better than the baseline.
    """

    lead: str
    stripes: str | None
    hints: tuple[str, ...]
    holds_for: str
    own: tuple[str, ...] = ()


def remedy(results: Results, comparison: Comparison) -> Remedy | None:
    """Returns the best point's stripes and hints, as its runs requested them; None if nothing was compared or
    requested.
    """
    if comparison.best is None:
        return None
    runs = comparison.runs
    run = runs[(runs["point"] == comparison.best) & runs["usable"]].iloc[0]
    asked = {
        column.removeprefix("requested."): run[column]
        for column in runs.columns
        if column.startswith("requested.") and run[column] is not None and not is_nan(run[column])
    }
    changes = [_own_changes(results, name, run[name]) for name in comparison.settings]
    always = (results.experiment.get("mpi") or {}).get("hints") or {}
    hints = asked | {key: value for key, value in always.items() if key not in asked}
    for change in changes:
        hints |= change.get("hints") or {}
    driver = DRIVERS.get(str(run["driver"])) if results.measure.operation == "write" else None
    left_out = (*_LAYOUT, *(driver.ignores if driver else ()))
    lines = tuple(f"{key} {plain(value)}" for key, value in hints.items() if key not in left_out)
    holds = _holds_for(run)
    if asked.get("stripe_size", 0) % STRIPE_UNIT:
        holds += (
            " Lustre accepts only stripe sizes that are multiples of 64 KiB; this size was chosen for a small file."
        )
    own = tuple(line for change in changes for line in _own_lines(results.program, change))
    own += build_commands(results.program, [results.experiment.get("workload") or {}, *changes])
    lead = _lead_of(comparison)
    if not results.measure.of_storage:
        return Remedy(lead, None, (), _holds_for_build(run), own) if own else None
    holds += machines_sentence(results, asked, comparison.factors, run["driver"])
    pool = (results.experiment.get("storage") or {}).get("pool")
    filled = _stripes_with_data(run, asked)
    if filled is not None:
        holds += (
            f" The runs asked for {plural(int(asked['stripe_count']), 'stripe')}, of which {filled} hold data of the "
            f"largest file ({level_text('stripe_size', int(run['observed.file_bytes']))}); {filled} do the same."
        )
        asked["stripe_count"] = filled
    stripes = _stripe_line(run, asked, str(pool) if pool else None)
    return Remedy(lead, stripes, lines, holds, own) if stripes or lines or own else None


def _lead_of(comparison: Comparison) -> str:
    """Returns the reason to paste the remedy. A gain is proven if an interval, of confirming runs if there are any,
    excludes 1.
    """
    if comparison.best == comparison.baseline:
        return "The best setting is the baseline; to set it explicitly"
    if not comparison.proven:
        return "The best setting of this sweep is not proven better than a baseline; to try it"
    return "To use the best setting"


def _own_changes(results: Results, factor: str, level: Any) -> Mapping[str, Any]:
    """Returns the changes that a level of a user-defined factor makes; nothing for a factor whose levels are plain
    values.
    """
    levels = (results.experiment.get("matrix") or {}).get(factor)
    return (levels.get(str(level)) or {}) if isinstance(levels, dict) else {}


def _own_lines(program: str, change: Mapping[str, Any]) -> list[str]:
    """Returns the variables to export, the arguments to add and the HDF5 settings to give for a level of a user-defined
    factor.
    """
    lines = [f"export {key}={shlex.quote(str(value))}" for key, value in (change.get("environment") or {}).items()]
    if change.get("arguments"):
        lines.append(f"{program} {shlex.join(str(word) for word in change['arguments'])} ...")
    if change.get("hdf5"):
        lines.append(f"iolens run --hdf5 {shlex.quote(str(change['hdf5']))} -- {program} ...")
    return lines


def folded(command: str) -> str:
    """Returns a shell command broken into lines that fit the width of a page; a shell still reads it as one command."""
    if len(command) <= _LINE:
        return command
    lines: list[str] = []
    for word in map(shlex.quote, shlex.split(command)):
        if lines and len(lines[-1]) + len(word) < _LINE - len(_FOLD):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return _FOLD.join(lines)


def _holds_for_build(run: Mapping[str, Any]) -> str:
    """Returns the compiler and processor for which a time holds."""
    parts = [f"with {run['build.version']}"] if _has_fact(run.get("build.version")) else []
    parts += [f"on {run['machine.cpu']}"] if _has_fact(run.get("machine.cpu")) else []
    return f"It holds for this program as measured{''.join(f' {part}' for part in parts)}."


def _has_fact(value: Any) -> bool:
    """Returns True if a run has this fact: a text that is not empty."""
    return isinstance(value, str) and value != ""


def _stripes_with_data(run: Mapping[str, Any], asked: Mapping[str, Any]) -> int | None:
    """Returns how many of the requested stripes hold data of the largest file, if that leaves some of them empty; else
    None.
    """
    count, size = asked.get("stripe_count"), run.get("observed.file_bytes")
    unit = asked.get("stripe_size") or run.get("effective.stripe_size")
    if not (count and size and unit) or is_nan(size) or is_nan(unit):
        return None
    filled = reached_stripes(int(count), int(unit), float(size))
    return filled if filled < int(count) else None


def _stripe_line(run: Mapping[str, Any], asked: Mapping[str, Any], pool: str | None) -> str | None:
    """Returns the line that sets the requested layout on the storage of a run, in the run's pool and with its object
    size; None if no layout was requested.
    """
    if "stripe_count" not in asked:
        return None
    command = BACKENDS.get(str(run["storage"]), LUSTRE).stripe_command
    sizes = (asked.get("stripe_size"), run.get("effective.object_size"))
    unit, whole = (int(size) if size and not is_nan(size) else None for size in sizes)
    return command(int(asked["stripe_count"]), unit, pool, whole) if command else None


def plain(value: Any) -> str:
    """Returns a number without a decimal point if it is whole, because frames turn counts with gaps into floats."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _holds_for(run: Mapping[str, Any]) -> str:
    """Returns a sentence on where the recommendation holds: with which MPI-IO driver, or for which program or
    library.
    """
    library = f" of {run['mpi']}" if run["mpi"] and run["driver"] == "lustre" else ""
    if run["driver"] in DRIVERS:
        text = f"It holds for {DRIVERS[run['driver']].name}{library}, with which it was measured."
    elif not any(isinstance(run[key], str) and run[key] for key in ("mpi", "io_component")):
        text = "It holds for this program on this file system: the MPI library of these runs is unknown."
    elif run.get("observed.mpi_io") in (False, 0):
        text = "It holds for this program on this file system: no data went through MPI-IO."
    else:
        text = f"Measured with {run['io_component'] or 'the default MPI-IO of the MPI library'}"
        text += ", whose driver is unknown: it holds for this MPI library and file system."
    if run["driver"] in ("lustre", "generic"):
        text += " cb_config_list *:* lets any number of aggregators share a node; *:k allows k on each of several."
    return text
