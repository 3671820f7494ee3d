"""How a file is laid out over storage targets."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.lab.sizes import short_size

ANY_TARGET = -1


@dataclass(frozen=True)
class Layout:
    """A RAID-0 layout: stripes, bytes per stripe, the first target (-1: chosen at creation), and a file's targets."""

    stripe_count: int
    stripe_size: int
    start: int = ANY_TARGET
    targets: tuple[int, ...] = ()


def describe(layout: Layout) -> str:
    """One line for a person."""
    start = f", first target {layout.start}" if layout.start != ANY_TARGET else ""
    objects = f", targets {' '.join(map(str, layout.targets))}" if layout.targets else ""
    return f"stripe count {layout.stripe_count}, stripe size {short_size(layout.stripe_size)}{start}{objects}"
