"""Files of libraries and modules, which interpreters and loaders read when a program starts."""

from __future__ import annotations

import re

import numpy as np

from iolens.log import Job
from iolens.log.records import Records

_LIBRARY = re.compile(
    r"/(lib|lib64|site-packages|dist-packages|[Pp]ython[^/]*)/|\.(py|pyc|so|pth|jl|R)\b|/pyvenv\.cfg$"
)
"""Matches the paths of libraries and modules, by their folders or endings."""


def of_libraries(job: Job, table: Records) -> np.ndarray:
    """Returns a mask of the files in `table` that belong to libraries and modules, by their paths."""
    return np.array([bool(_LIBRARY.search(job.names.get(key, ""))) for key in table["id"].tolist()], bool)
