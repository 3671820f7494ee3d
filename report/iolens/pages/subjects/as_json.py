"""A comparison of subjects as one JSON object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from iolens.pages.exhibit import frames
from iolens.pages.exhibits.subjects.tables import SUBJECT_EXHIBITS
from iolens.pages.json_rows import json_rows
from iolens.pages.subjects.words import headline, notes, subject_doubts

if TYPE_CHECKING:
    from iolens.metrics.subjects.subject import Subjects


def as_json(subjects: Subjects) -> str:
    """Returns `headline`, `notes`, then the rows of every exhibit by its name; unknown values are null."""
    found: dict[str, Any] = {"headline": headline(subjects), "notes": [*subject_doubts(subjects), *notes(subjects)]}
    for name, frame in frames(SUBJECT_EXHIBITS, subjects).items():
        if name != "index":
            found[name] = json_rows(frame)
    return json.dumps(found, ensure_ascii=False)
