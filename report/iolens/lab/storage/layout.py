"""The layout of a file over storage targets."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.lab.sizes import short_size

ANY_TARGET = -1
_ALL_TARGETS = -1


@dataclass(frozen=True)
class Layout:
    """A RAID-0 layout: stripes (-1: one on every target), bytes per stripe, the first target (-1: chosen at creation),
    the targets of a file, and their pool.

    `object_size` is the number of bytes in one object before the file continues in others; None means unlimited. A
    composite layout has `components`, in the order of the file's bytes, mirror by mirror; its other fields are those of
    the last component in use.
    """

    stripe_count: int
    stripe_size: int
    start: int = ANY_TARGET
    targets: tuple[int, ...] = ()
    pool: str | None = None
    object_size: int | None = None
    components: tuple[Component, ...] = ()


@dataclass(frozen=True)
class Component:
    """The layout of a file's bytes from `start` up to `end` (None: the end of the file). A component that is not
    `in_use` has no objects yet. If `on_metadata` is True, these bytes lie with the metadata and have no stripes.
    `mirror` is None without mirrors.
    """

    start: int
    end: int | None
    layout: Layout
    in_use: bool
    on_metadata: bool = False
    mirror: int | None = None


def layout_words(layout: Layout) -> str:
    """Returns text for a person: one line or, for a composite layout, one line per component."""
    if not layout.components:
        return _describe_stripes(layout)
    lines = [f"composite layout of {len(layout.components)} components"]
    return "\n".join(lines + [f"  {_describe_component(component)}" for component in layout.components])


def _describe_component(component: Component) -> str:
    """Returns one line for a component."""
    mirror = f"mirror {component.mirror}, " if component.mirror is not None else ""
    end = short_size(component.end) if component.end is not None else "end of file"
    stripes = "on the metadata target" if component.on_metadata else _describe_stripes(component.layout)
    return f"{mirror}{short_size(component.start)} to {end}: {stripes}{'' if component.in_use else ', not yet used'}"


def _describe_stripes(layout: Layout) -> str:
    """Returns one line for a layout without components."""
    count = "all targets" if layout.stripe_count == _ALL_TARGETS else layout.stripe_count
    start = f", first target {layout.start}" if layout.start != ANY_TARGET else ""
    objects = f", targets {' '.join(map(str, layout.targets))}" if layout.targets else ""
    pool = f", pool {layout.pool}" if layout.pool else ""
    end = f", object size {short_size(layout.object_size)}" if layout.object_size else ""
    return f"stripe count {count}, stripe size {short_size(layout.stripe_size)}{end}{start}{objects}{pool}"
