"""The rule about a stripe size that does not fit the transfers, or the file."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.striping import reached_stripes, striped_files
from iolens.metrics.files.use import most_first
from iolens.metrics.files.writers import writer_counts
from iolens.metrics.job.spent import slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for shared files with several stripes whose transfers are cut into at least four pieces, or half of whose
    stripes are empty.
    """
    table = striped_files(job)
    if table is None:
        return None
    table = table.beside({"calls": table["READS"] + table["WRITES"]})
    table = table.where((table["moved"] >= limits["much_bytes"]) & (table["stripes"] > 1) & (table["calls"] > 0))
    used = np.ceil(table["size"] / table["stripe_size"])
    large = table.where(2 * used <= table["stripes"])
    several = (table["ranks"] > 1) & (writer_counts(job, table, 2) > 1) & (2 * table["BYTES_WRITTEN"] >= table["moved"])
    small = table.where(several & (table["moved"] >= 4 * table["stripe_size"] * table["calls"]))
    if len(large):
        return _too_large(job, large)
    return _too_small(job, small) if len(small) else None


def _too_large(job: Job, files: Records) -> Seen:
    """Returns the evidence for stripes so large that the file ends before its last stripe begins."""
    files = files.where(most_first(files["moved"]))
    first = {name: files[name][0] for name in files.single}
    used, stripes = int(np.ceil(first["size"] / first["stripe_size"])), int(first["stripes"])
    unit = max(1 << 20, int(first["size"] / stripes) >> 20 << 20)
    count = reached_stripes(stripes, unit, float(first["size"]))
    files = files.where(files["size"] > (count - 1) * unit)
    spent = slowest_seconds(job, "POSIX", files["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.files(job, files['id'][:1])}: {say.size(first['size'])} reach {used} of {stripes} stripes of "
        f"{say.size(first['stripe_size'])}{say.and_others(len(files) - 1)}; transfers took {say.seconds(spent)} on "
        f"the slowest rank."
    )
    share = float((np.ceil(files["size"] / files["stripe_size"]) / files["stripes"]).min())
    bound = (
        f"It assumes the same transfers to {count} targets instead of {used}, which saves 1 − {used}/{count} of "
        "their time."
    )
    layout = ProposedStripes(count, unit, tuple(files["id"].tolist()))
    return Seen(evidence, spent * (1 - share), bound, "{layout}", layout=layout)


def _too_small(job: Job, files: Records) -> Seen:
    """Returns the evidence for stripes so small that each transfer of each rank goes to many targets."""
    files = files.where(most_first(files["moved"]))
    first = {name: files[name][0] for name in files.single}
    each = first["moved"] / first["calls"]
    unit = max(1 << 20, 1 << int(np.log2(each)))
    count = reached_stripes(int(first["stripes"]), unit, float(first["size"]))
    files = files.where(files["size"] > (count - 1) * unit)
    spent = slowest_seconds(job, "POSIX", files["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.files(job, files['id'][:1])}: transfers with a mean size of {say.size(each)} cross stripes of "
        f"{say.size(first['stripe_size'])}, {say.count(each / first['stripe_size'])} pieces each"
        f"{say.and_others(len(files) - 1)}; they took {say.seconds(spent)} on the slowest rank."
    )
    bound = "It assumes that these transfers take no time on the slowest rank."
    return Seen(evidence, spent, bound, "{layout}", layout=ProposedStripes(count, unit, tuple(files["id"].tolist())))


RULE = Rule(
    id="stripe-size",
    title="The stripe size does not fit the transfers",
    says="a striped file with much data fills at most half of its stripes, or several ranks write it in transfers of "
    "four stripes or more",
    limits=("much_bytes",),
    why="With too large stripes targets stay idle; with too small stripes every rank contacts and locks every target.",
    read_more="https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=check,
    gauges=("stripes",),
    before=("shared-stripes",),
)
