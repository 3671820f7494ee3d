"""A job's summary as JSON: its judgement, its facts, and the rows of its tables."""

from __future__ import annotations

import json

from iolens.advise import diagnosis
from iolens.log import Job
from iolens.pages.exhibits.job import JOB_EXHIBITS
from iolens.pages.job.judgement.lists import judgement_object
from iolens.pages.job.words import fact_columns
from iolens.pages.json_rows import json_rows


def job_json(job: Job) -> str:
    """Returns one object in a line: the keys of `iolens advise --json`, `facts` in words, and `tables` by name, each a
    list of all rows with full numbers, bytes and seconds.
    """
    found = {exhibit.name: exhibit.every(job) for exhibit in JOB_EXHIBITS if not exhibit.apart}
    return json.dumps(
        {
            **judgement_object(job, diagnosis(job)),
            "facts": {name: value for part in fact_columns(job) for name, value in part},
            "tables": {name: json_rows(frame) for name, frame in found.items() if frame is not None},
        }
    )
