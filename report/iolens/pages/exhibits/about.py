"""What the log itself holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics import about, mpiio
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit

if TYPE_CHECKING:
    from iolens.log import Job

FACTS: Exhibit[Job] = Exhibit("job", "The job", about.facts, apart=True)
"""In the exports only: pages have it in words."""

HOSTS: Exhibit[Job] = Exhibit(
    name="hosts",
    title="Hosts",
    metric=about.hosts,
    columns=[
        Column("host", "host"),
        Column("ranks", "count", words.count),
        Column("which", "ranks", mpiio.rank_list),
    ],
)

MODULES: Exhibit[Job] = Exhibit(
    name="modules",
    title="Modules of this log",
    metric=about.modules,
    columns=[
        Column("module", "module"),
        Column("record version", "version"),
        Column("rows", "records", words.count),
        Column("compressed", "bytes", words.size),
        Column("remark", "remark"),
    ],
)
