"""The parameters of the model of storage, as files: the keys of storage/ost.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iolens.errors import UsageError
from iolens.foreign import text_of_file
from iolens.lab.installation import storage_config
from iolens.lab.sizes import parse_size
from iolens.lab.storage.emulated import EMULATED
from iolens.log import Job

_FIRST_EFFECT = "lock_growth"
"""First key of ost.yaml for an optional effect of the model; all later keys are for such effects, too."""


@dataclass(frozen=True)
class StorageModel:
    """Values by the keys of ost.yaml (MB/s, microseconds, bytes), their origin, and, for a calibrated model, the median
    and the largest error (shares) for the runs to which it was fitted.
    """

    values: Mapping[str, float]
    origin: str
    errors: tuple[float, float] | None = None
    remarks: tuple[str, ...] = field(default=())


ERRORS = ("fit_error_median", "fit_error_largest")
"""Keys that a calibrated model has in addition to the keys of ost.yaml."""


def read_model(path: Path | None = None) -> StorageModel:
    """Returns the model in a file, or the default model of the emulated storage; raises UsageError that names the
    invalid line.
    """
    source = path or storage_config()
    text = text_of_file(source)
    usual = read_model() if path else None
    values: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip(), value.strip()
        if not key:
            continue
        if not colon or (usual and key not in usual.values and key not in ERRORS):
            raise UsageError(f"{source}, line {number}: {key} is not a key of a model; remove the line")
        values[key] = _number_of(value, f"{source}, line {number}: {key}")
    for key in (key for key in (usual.values if usual else ()) if key not in values):
        if usual and key not in model_effects(usual):
            raise UsageError(f"{source}: the key {key} is missing; add it")
        values[key] = 0.0
    errors = (values.pop(ERRORS[0], -1.0), values.pop(ERRORS[1], -1.0))
    return StorageModel(values, str(source), errors if min(errors) >= 0 else None)


def model_of(job: Job, path: Path | None = None) -> StorageModel:
    """Returns the model in the file `path`. Without a file, returns the model of the emulated mount on which the job
    ran, if the mount still exists, or else the default model.
    """
    points = [Path(mount.point) for mount in job.mounts if mount.kind == "ost"] if job.emulated else []
    own = [config for point in points for config in EMULATED.settings(point)]
    return read_model(path or (own[0] if own else None))


def model_effects(usual: StorageModel) -> list[str]:
    """Returns the keys of the model's optional effects, which are off in a file that does not have them; `usual` is the
    default model.
    """
    keys = list(usual.values)
    return keys[keys.index(_FIRST_EFFECT) :]


def _number_of(text: str, where: str) -> float:
    """Returns the number in a text, which may be a size with a suffix."""
    for convert in (float, parse_size):
        try:
            return float(convert(text))
        except ValueError:
            continue
    raise UsageError(f"{where} must be a number, not {text!r}")


def model_text(values: Mapping[str, float]) -> str:
    """Returns the values as lines of a configuration."""
    return "".join(f"{key}: {value:.10g}\n" for key, value in values.items())
