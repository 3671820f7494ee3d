"""The rule about bytes fetched from object stores that were fetched before, or that the program did not use."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.interfaces.network import http_requests

_REMEDY = """\
Keep fetched data, and request parts of the size that is used:

  once     copy the object to node-local storage, and open the copy
  HDF5     H5Pset_page_buffer_size and paged files (h5repack -S PAGE -G 8388608)
  chunks   in the shape of an access, so that no chunk is fetched twice
  Python   fsspec.filesystem("blockcache", ...) or "filecache" around the store"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the address, or the family of addresses, with most needless bytes, and the part of its requests' time
    that belongs to them.
    """
    found = http_requests(job)
    if not len(found):
        return None
    received = found["received"].astype(float)
    again = np.nan_to_num(found["again"])
    unused = np.nan_to_num(received - found["used"])
    needless = np.clip(np.maximum(again, unused), 0, received)
    place = int(needless.argmax())
    if needless[place] < max(limits["needless_bytes"], limits["needless_share"] * received[place]):
        return None
    row = dict(zip(found.names, next(found.where(slice(place, place + 1)).rows(*found.names)), strict=True))
    said = f", {say.size(again[place])} of these bytes more than once" if again[place] > 0 else ""
    if np.isfinite(row["used"]):
        said += (
            f"; HDF5 gave the program {say.size(row['used'])} of {'these files' if row['files'] > 1 else 'this file'}"
        )
    evidence = (
        f"{say.count(row['requests'], 'request')} through libcurl fetched {say.size(received[place])} from "
        f"{say.members(row['url'], row['files'], 'object')}{said}. The slowest rank spent "
        f"{say.seconds(row['seconds'])} in them."
    )
    spent = float(row["seconds"]) * needless[place] / received[place]
    return Seen(evidence, spent, "The bound is the share of the requests' time that these bytes took.", _REMEDY)


RULE = Rule(
    id="fetched-in-vain",
    title="Bytes are fetched over the network in vain",
    says="`needless_share` or more of what libcurl fetched from an address, and `needless_bytes`, had been fetched "
    "before by the same rank, or HDF5 did not give it to the program",
    limits=("needless_share", "needless_bytes"),
    why="A library that reads ahead, or keeps no cache, fetches parts of an object several times, or parts that nobody "
    "asks for; each request costs a round trip.",
    read_more="https://docs.hdfgroup.org (H5Pset_fapl_ros3, H5Pset_page_buffer_size)",
    check=check,
    beside_io=True,
)
