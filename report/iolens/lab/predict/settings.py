"""The settings of a prediction, and those of the recorded run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from iolens.errors import IolensError
from iolens.lab.predict.recorded import Recorded
from iolens.lab.predict.two_phase import GENERIC, LUSTRE, Collective, aggregators_in_use, places
from iolens.lab.storage.layout import ANY_TARGET, Layout

_BUFFER = 16 * 2**20
"""ROMIO's default cb_buffer_size in bytes."""


@dataclass(frozen=True)
class ChangedSettings:
    """The settings to change; None keeps the recorded value. Sizes are in bytes."""

    stripe_count: int | None = None
    stripe_size: int | None = None
    aggregators: int | None = None
    cb_buffer_size: int | None = None
    driver: str | None = None

    @property
    def changed(self) -> dict[str, int | str]:
        """Returns the settings that are changed."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def predicted_layouts(recorded: Recorded, settings: ChangedSettings, targets: int) -> dict[int, Layout]:
    """Returns the layouts of the files at the settings. With another stripe count, and where the first target is
    unknown, files start on consecutive targets in the order of their first use, as new files do. Raises if the model
    has too few targets.
    """
    first = {call.file: call.start for calls in recorded.ranks.values() for call in reversed(calls)}
    found: dict[int, Layout] = {}
    turn = 0
    for key in sorted(recorded.layouts, key=lambda key: first.get(key, 0.0)):
        before = recorded.layouts[key]
        count = settings.stripe_count or before.stripe_count
        size = settings.stripe_size or before.stripe_size
        kept = before.start != ANY_TARGET and (settings.stripe_count is None or not found)
        start = before.start if kept else turn
        if count > targets or start >= targets:
            raise IolensError(f"the model has {targets} targets, too few for {max(count, start + 1)}")
        found[key] = Layout(count, size, start)
        turn = (start + count) % targets
    return found


def _driver_of(recorded: Recorded, file: int) -> str:
    """Returns the driver that carried out collective calls; raises for a driver whose rules are unknown."""
    hints = recorded.hints.get(file, {})
    kind = hints.get("romio_filesystem_type", "")
    if "LUSTRE" in kind.upper():
        return LUSTRE
    if recorded.component.startswith("romio"):
        return GENERIC
    known = recorded.component or "an unknown one"
    raise IolensError(
        f"n/a: collective calls went through {known}, whose rules are not in the model; record the run with ROMIO "
        "(--io-component romio321 or lustre)"
    )


def collective(recorded: Recorded, settings: ChangedSettings, file: int, layout: Layout) -> Collective:
    """Returns how collective calls on a file are carried out at the settings."""
    driver = settings.driver or _driver_of(recorded, file)
    hints, asked = recorded.hints.get(file, {}), recorded.asked.get(file, {})
    ratio = _numeric_hint(hints, "romio_lustre_co_ratio", 1)
    usual = layout.stripe_count if driver == LUSTRE else recorded.nodes
    wanted = settings.aggregators or _numeric_hint(asked, "cb_nodes", usual)
    if driver == LUSTRE and wanted > recorded.nprocs:
        wanted = layout.stripe_count
    per_node = asked.get("cb_config_list", "*:1" if driver == GENERIC else "*:*").removeprefix("*:")
    if per_node != "*" and settings.aggregators is None:
        wanted = min(wanted, recorded.nodes * (int(per_node) if per_node.isdecimal() else 1))
    candidates = max(1, min(wanted, recorded.nprocs))
    used = aggregators_in_use(driver, candidates, layout.stripe_count, ratio)
    unchanged = settings.aggregators is None and settings.driver is None
    listed = tuple(int(word) for word in hints.get("romio_aggregator_list", "").split())
    ranks = listed if unchanged and len(listed) >= used else places(driver, candidates, recorded.nprocs)
    return Collective(
        driver=driver,
        aggregators=ranks[:used],
        buffer=settings.cb_buffer_size
        or _numeric_hint(asked, "cb_buffer_size", _numeric_hint(hints, "cb_buffer_size", _BUFFER)),
        stripe_size=layout.stripe_size,
    )


def _numeric_hint(hints: Mapping[str, str], key: str, usual: int) -> int:
    """Returns the value of a numeric hint; `usual` if the hint is absent or not a number."""
    text = hints.get(key, "")
    return int(text) if text.isdecimal() and int(text) > 0 else usual


def uses_two_phases(recorded: Recorded, file: int, writing: bool, interleaved: bool) -> bool:
    """Returns True if a collective call goes through aggregators, which `romio_cb_write` and `romio_cb_read` decide."""
    asked = {**recorded.hints.get(file, {}), **recorded.asked.get(file, {})}
    wish = asked.get("romio_cb_write" if writing else "romio_cb_read", "automatic")
    return interleaved if wish == "automatic" else wish == "enable"
