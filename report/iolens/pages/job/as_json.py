"""A job's summary as JSON: its judgement, its facts, and the rows of its tables."""

from __future__ import annotations

import json
from typing import Any

from iolens.advise import diagnosis
from iolens.lazy import pd
from iolens.log import Job
from iolens.pages.exhibits.job import JOB_EXHIBITS
from iolens.pages.job.judgement.lists import judgement_object
from iolens.pages.job.words import fact_columns


def job_json(job: Job) -> str:
    """Returns one object in a line: the keys of `iolens advise --json`, `facts` in words, and `tables` by name, each a
    list of rows with full numbers, bytes and seconds.
    """
    found = {exhibit.name: exhibit.frame(job) for exhibit in JOB_EXHIBITS if not exhibit.apart}
    return json.dumps(
        {
            **judgement_object(job, diagnosis(job)),
            "facts": {name: value for part in fact_columns(job) for name, value in part},
            "tables": {name: frame_rows(frame) for name, frame in found.items() if frame is not None},
        }
    )


def frame_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns the rows of a frame as JSON values: null stands for a number that is not known."""
    text = frame.to_json(orient="records", double_precision=15, date_format="iso", default_handler=str)
    rows: list[dict[str, Any]] = json.loads(text)
    return rows
