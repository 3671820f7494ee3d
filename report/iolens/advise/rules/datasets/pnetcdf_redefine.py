"""The rule about PnetCDF files whose definition changed after data had been written."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import among, by_file
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Define everything before the first data, or reserve space for the header:

  C        ncmpi__enddef(file, 1 << 20, 4, 0, 4);     /* 1 MiB of room */
  hints    nc_header_align_size 1048576

For attributes that come later, write values of a fixed length at the start."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that POSIX moved far more bytes of redefined files than the program read and wrote in
    variables.
    """
    files, variables, posix = job.records.get("PNETCDF_FILE"), by_file(job, "PNETCDF_VAR"), by_file(job, "POSIX")
    if files is None or variables is None or posix is None:
        return None
    redefined = files["id"][files["PNETCDF_FILE_REDEFS"] > 0]
    below = posix.where(among(posix["id"], redefined))
    if not len(below):
        return None
    given = float((variables["BYTES_READ"] + variables["BYTES_WRITTEN"]).sum())
    moved = float((below["BYTES_READ"] + below["BYTES_WRITTEN"]).sum())
    if moved < limits["again"] * given or moved - given < limits["much_bytes"]:
        return None
    spent = slowest_seconds(job, "POSIX", below["id"], ("READ", "WRITE"))
    redefs = float(np.maximum(files["PNETCDF_FILE_REDEFS"], 0).sum())
    evidence = (
        f"{say.files(job, below['id'])}: {say.count(redefs, 'redefinition')}, and POSIX moved {say.size(moved)} for "
        f"{say.size(given)} of variables, in {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence,
        spent * (1 - given / moved),
        "The bound is the time of the bytes moved in excess of the variables' bytes.",
        REMEDY,
    )


RULE = Rule(
    id="pnetcdf-redefine",
    title="ncmpi_enddef moves data",
    says="a PnetCDF file was redefined, and POSIX moved at least `again` times the bytes of its variables",
    limits=("again", "much_bytes"),
    why="If the header outgrows its space, ncmpi_enddef moves all variables behind it.",
    read_more="https://parallel-netcdf.github.io (ncmpi__enddef, nc_header_align_size)",
    check=check,
    before=("write-amplification",),
)
