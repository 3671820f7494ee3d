"""Store predictions in a file, so that the comparison of a sweep can show them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab.predict.links import Links, vary_links
from iolens.lab.predict.model import StorageModel
from iolens.lab.predict.predict import PredictedTimes, Prediction
from iolens.lab.predict.recorded import Recorded, largest_file
from iolens.lab.predict.settings import ChangedSettings
from iolens.metrics.files.stripes.striping import reached_stripes

_TIMES = tuple(each.name for each in fields(PredictedTimes))
"""Keys of a point that are not settings."""

_TRUSTED = 0.25
"""Maximum error of a replay at the recorded settings for which its predictions are trusted; runs on the same machine
vary by about as much.
"""

_SIZES = ("stripe_count", "aggregators", "stripe_size", "cb_buffer_size")
"""Settings by which points are ordered: a point with a lower value counts as smaller."""

_NAME = "what-if.json"
"""Name of the file with these answers in a sweep's folder of results."""


@dataclass(frozen=True)
class WhatIf:
    """Predictions from one traced run, in seconds and shares. `points` are changed settings with their predicted times;
    `own_error` is the error of the replay at the recorded settings, `model_errors` the median and the largest error
    of a fitted model, and `links` the times of `points` on machines with other links. `filled` has, for each point,
    the number of its stripes that hold data of the largest file; None if the point does not set the stripes, or
    fills all of them.
    """

    log: str
    model: str
    model_errors: tuple[float, float] | None
    remarks: tuple[str, ...]
    recorded: PredictedTimes
    replayed: PredictedTimes
    exchange: float | None
    points: Sequence[tuple[Mapping[str, int | str], PredictedTimes]]
    links: Links | None = None
    filled: Sequence[int | None] = ()

    @property
    def own_error(self) -> float:
        """Returns predicted over measured I/O time, minus 1."""
        return self.replayed.io / self.recorded.io - 1 if self.recorded.io > 0 else 0.0

    @property
    def doubt(self) -> str:
        """Returns the reason not to rely on the predictions; empty if the replay is close to the measurement."""
        if abs(self.own_error) <= _TRUSTED:
            return ""
        return (
            f"Do not rely on these predictions: at the recorded settings the replay differs from the measured I/O "
            f"time by {100 * self.own_error:+.0f} %. Either the model does not describe the run's storage (choose "
            f"another with --model, or make one with `iolens calibrate`), or something that the model leaves out took "
            f"the time."
        )


def smallest_of_fastest(found: WhatIf) -> int | None:
    """Returns the number of the point with the fewest stripes, then aggregators, then the smallest sizes, among those
    tied with the fastest one; None if the machine was not varied.
    """
    if found.links is None:
        return None
    return min(found.links.fastest, key=lambda place: [int(found.points[place][0].get(name, 0)) for name in _SIZES])


def what_if_predictions(
    predictions: Sequence[Prediction], recorded: Recorded, log: Path, model: StorageModel
) -> WhatIf:
    """Returns the predictions from one log and one model."""
    first = predictions[0]
    changed = [one for one in predictions if one.settings.changed]
    return WhatIf(
        log=log.name,
        model=model.origin,
        model_errors=model.errors,
        remarks=recorded.remarks,
        recorded=first.recorded,
        replayed=first.replayed,
        exchange=first.exchange,
        points=[(one.settings.changed, one.predicted) for one in changed],
        filled=[_stripes_filled_by_largest(one.settings, recorded) for one in changed],
        links=vary_links(recorded, model, [one.settings for one in changed], first.exchange),
    )


def _stripes_filled_by_largest(settings: ChangedSettings, recorded: Recorded) -> int | None:
    """Returns how many stripes the largest file fills at these settings; None if it fills all, or if they set none."""
    size, count = largest_file(recorded), settings.stripe_count
    if not size or count is None:
        return None
    unit = settings.stripe_size or max(layout.stripe_size for layout in recorded.layouts.values())
    filled = reached_stripes(count, unit, size)
    return filled if filled < count else None


def prediction_json(found: WhatIf) -> str:
    """Returns the predictions as the JSON text that `read_what_if` reads."""
    points = [{**settings, **asdict(times)} for settings, times in found.points]
    return json.dumps({"schema": 1, **asdict(found), "own_error": found.own_error, "points": points}, indent=2) + "\n"


def read_what_if(folder: Path) -> WhatIf | None:
    """Returns the predictions in a folder of results; None if there are none. Raises if the file is invalid."""
    path = folder / _NAME
    if not path.exists():
        return None
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        points = [
            (
                {key: value for key, value in point.items() if key not in _TIMES},
                PredictedTimes(**{key: float(point[key]) for key in _TIMES}),
            )
            for point in content["points"]
        ]
        errors, links = content["model_errors"], content.get("links")
        return WhatIf(
            log=str(content["log"]),
            model=str(content["model"]),
            model_errors=(float(errors[0]), float(errors[1])) if errors else None,
            remarks=tuple(map(str, content["remarks"])),
            recorded=PredictedTimes(**content["recorded"]),
            replayed=PredictedTimes(**content["replayed"]),
            exchange=content["exchange"],
            points=points,
            filled=content.get("filled", ()),
            links=Links(links["here"], [(ratio, times) for ratio, times in links["machines"]]) if links else None,
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise IolensError(f"{path} is not a file of predictions; make it again with iolens predict -o") from error
