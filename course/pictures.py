"""Draw course/activity-N/picture.svg: the writers to which ranks hand their data, and the targets to which writers send
it.

Usage: python3 course/pictures.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STEP, PANEL, HEIGHT = 44, 40, 190
"""Pixels between neighbours, pixels between panels, and height of a picture in pixels."""

ROWS = (30, 95, 155)
"""Vertical positions of ranks, writers and targets in a picture, in pixels."""


@dataclass(frozen=True)
class Panel:
    """One side of a comparison. If `bound`, each target belongs to one writer; else each writer writes to all
    targets.
    """

    title: str
    ranks: int
    writers: int
    targets: int
    bound: bool = True


PICTURES: dict[int, list[Panel]] = {
    1: [Panel("1 stripe", 1, 1, 1)],
    2: [Panel("1 stripe", 1, 1, 1), Panel("10 stripes", 1, 1, 10)],
    3: [Panel("cb_nodes 1", 4, 1, 1), Panel("cb_nodes 4", 4, 1, 1)],
    4: [Panel("1 stripe", 4, 1, 1), Panel("2 stripes", 4, 2, 2)],
    5: [Panel("2 stripes", 4, 2, 2), Panel("4 stripes", 4, 4, 4)],
    6: [Panel("cb_config_list *:2", 4, 2, 4), Panel("cb_config_list *:4", 4, 4, 4)],
    7: [Panel("even", 4, 4, 4, bound=False), Panel("bound", 4, 4, 4)],
    8: [Panel("independent, 47008 B", 4, 4, 4, bound=False), Panel("collective", 4, 4, 4)],
    9: [Panel("collective, cb_nodes 1", 4, 1, 12), Panel("independent, cb_nodes 1", 4, 4, 12, bound=False)],
    10: [Panel("1 writer", 6, 1, 4), Panel("6 writers", 6, 6, 4, bound=False)],
    11: [Panel("write", 4, 4, 4, bound=False)],
    12: [Panel("1 worker", 1, 1, 4, bound=False), Panel("4 workers", 4, 4, 4, bound=False)],
    13: [Panel("when needed", 4, 2, 4, bound=False)],
}


def places(count: int, width: float, left: float) -> list[float]:
    """Returns the centres of `count` shapes that are spread evenly over a width."""
    return [left + width * (i + 0.5) / count for i in range(count)]


def line(a: tuple[float, float], b: tuple[float, float], colour: str) -> str:
    """Returns a line between two points."""
    return f'<line x1="{a[0]:.0f}" y1="{a[1]}" x2="{b[0]:.0f}" y2="{b[1]}" stroke="{colour}" stroke-width="1.5"/>'


def named(x: float, y: int, words: str) -> str:
    """Returns a text that is centred at a point."""
    return f'<text x="{x:.0f}" y="{y}" text-anchor="middle">{words}</text>'


def draw(panel: Panel, left: float, width: float) -> list[str]:
    """Returns the shapes of one panel."""
    ranks, writers, targets = (places(n, width, left) for n in (panel.ranks, panel.writers, panel.targets))
    shapes = [named(left + width / 2, 12, panel.title)]
    shapes += [
        line((x, ROWS[0]), (writers[i * panel.writers // panel.ranks], ROWS[1]), "#999") for i, x in enumerate(ranks)
    ]
    for i, x in enumerate(targets):
        giving = [writers[i % panel.writers]] if panel.bound else writers
        shapes += [line((w, ROWS[1]), (x, ROWS[2]), "#0072b2" if panel.bound else "#d55e00") for w in giving]
    for i, x in enumerate(ranks):
        shapes += [f'<circle cx="{x:.0f}" cy="{ROWS[0]}" r="9" fill="#ddd"/>', named(x, ROWS[0] + 4, str(i))]
    shapes += [f'<circle cx="{x:.0f}" cy="{ROWS[1]}" r="9" fill="#56b4e9"/>' for x in writers]
    for i, x in enumerate(targets):
        shapes += [f'<rect x="{x - 13:.0f}" y="{ROWS[2]}" width="26" height="18" fill="#e69f00"/>']
        shapes += [named(x, ROWS[2] + 13, str(i))]
    return shapes


def picture(panels: list[Panel]) -> str:
    """Returns a whole picture: ranks above (grey), writers (blue), targets below (orange)."""
    shapes, left = [], 70.0
    for panel in panels:
        width = max(4, panel.ranks, panel.targets) * STEP
        shapes += draw(panel, left, width)
        left += width + PANEL
    words = zip(("MPI rank", "client", "OST"), ROWS, strict=True)
    shapes += [f'<text x="4" y="{y + (13 if word == "OST" else 4)}">{word}</text>' for word, y in words]
    body = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left:.0f}" height="{HEIGHT}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    for number, panels in PICTURES.items():
        (Path(__file__).parent / f"activity-{number}" / "picture.svg").write_text(picture(panels), encoding="utf-8")
