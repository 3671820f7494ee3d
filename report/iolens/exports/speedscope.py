"""speedscope's own format (https://www.speedscope.app/file-format-schema.json): a profile per rank."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from iolens import __version__
from iolens.exports.stacks import Stack, who
from iolens.symbols.chains import Frame

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(stacks: Sequence[Stack], name: str) -> str:
    """Returns the file's text; `name` is the title. Threads are the outermost frames of their rank, weights
    are seconds.
    """
    index: dict[Frame, int] = {}
    profiles = []
    for rank, group in groupby(stacks, lambda stack: stack.rank):
        samples, weights = [], []
        for stack in group:
            root = Frame(who(rank, stack.thread)[1], "", 0, "")
            samples.append([index.setdefault(frame, len(index)) for frame in (root, *stack.frames)])
            weights.append(stack.seconds)
        profiles.append(
            {
                "type": "sampled",
                "name": who(rank, 0)[0],
                "unit": "seconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    frames = [_described_frame(frame) for frame in index]
    return json.dumps(
        {
            "$schema": _SCHEMA,
            "name": name,
            "exporter": f"iolens {__version__}",
            "activeProfileIndex": 0,
            "shared": {"frames": frames},
            "profiles": profiles,
        }
    )


def _described_frame(frame: Frame) -> dict[str, str | int]:
    """Returns a frame with the known facts about its place."""
    known: dict[str, str | int] = {"name": frame.function}
    if frame.source or frame.object:
        known["file"] = frame.source or frame.object
    if frame.line:
        known["line"] = frame.line
    return known
