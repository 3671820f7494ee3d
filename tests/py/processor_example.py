"""A made-up job with the private tables of the processor half."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from iolens.log import Job


def job(nprocs: int = 4, frames: dict[str, pd.DataFrame] | None = None, **private: Any) -> Job:
    """A job of so many processes that ran 10 s."""
    return Job(
        path=Path("made.darshan"),
        version="3.41",
        byte_order="little",
        compression="zlib",
        exe="/bin/app",
        command="/bin/app -x",
        uid=1,
        jobid=7,
        start=0.0,
        end=10.0,
        run_time=10.0,
        nprocs=nprocs,
        metadata={},
        mounts=(),
        names={},
        modules=(),
        frames=frames or {},
        private=private,
    )
