"""A stripe size that does not fit the transfers, or the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.advise import say
from iolens.advise.remedies import stripes_text
from iolens.advise.rule import Rule, Seen
from iolens.log.records import Records
from iolens.metrics.share import slowest_seconds
from iolens.metrics.striping import striped_files
from iolens.metrics.use import most_first
from iolens.metrics.writers import writer_counts

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job


def check(job: Job, limits: Limits) -> Seen | None:
    """Shared files of several stripes: transfers cut into four pieces and more, or half of the stripes empty."""
    table = striped_files(job)
    if table is None:
        return None
    table = table.beside({"calls": table["READS"] + table["WRITES"]})
    table = table.where((table["moved"] >= limits["much_bytes"]) & (table["stripes"] > 1) & (table["calls"] > 0))
    used = np.ceil(table["size"] / table["stripe_size"])
    large = table.where(2 * used <= table["stripes"])
    several = (table["ranks"] > 1) & (writer_counts(job, table, 2) > 1)
    small = table.where(several & (table["moved"] >= 4 * table["stripe_size"] * table["calls"]))
    if len(large):
        return too_large(job, large)
    return too_small(job, small) if len(small) else None


def too_large(job: Job, files: Records) -> Seen:
    """Stripes so large that the file ends before it has reached them all."""
    first = {name: files[name][most_first(files["moved"])[0]] for name in files.single}
    used, stripes = int(np.ceil(first["size"] / first["stripe_size"])), int(first["stripes"])
    spent = slowest_seconds(job, "POSIX", files["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.files(job, files['id'])}: {say.size(first['size'])} reach {used} of {stripes} stripes of "
        f"{say.size(first['stripe_size'])}; transfers took {say.seconds(spent)} of the slowest rank."
    )
    bound = f"The same transfers to {stripes} targets instead of {used}: 1 − {used}/{stripes} of their time."
    unit = max(1 << 20, int(first["size"] / stripes) >> 20 << 20)
    return Seen(evidence, spent * (1 - used / stripes), bound, stripes_text(stripes, unit))


def too_small(job: Job, files: Records) -> Seen:
    """Stripes so small that each transfer of each rank goes to many targets."""
    first = {name: files[name][most_first(files["moved"])[0]] for name in files.single}
    each = first["moved"] / first["calls"]
    spent = slowest_seconds(job, "POSIX", files["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.files(job, files['id'])}: transfers of {say.size(each)} on average go over stripes of "
        f"{say.size(first['stripe_size'])}, {say.count(each / first['stripe_size'])} pieces each; they took "
        f"{say.seconds(spent)} of the slowest rank."
    )
    unit = max(1 << 20, 1 << int(np.log2(each)))
    bound = "These transfers for nothing: their time on the slowest rank."
    return Seen(evidence, spent, bound, stripes_text(int(first["stripes"]), unit))


RULE = Rule(
    id="stripe-size",
    title="Stripe size unfit for the transfers",
    says="a striped file with much data fills half of its stripes or fewer, or several ranks write it in transfers of "
    "four stripes and more",
    limits=("much_bytes",),
    why="Too large, and targets stay idle; too small, and every rank talks to, and locks, every target.",
    read_more="https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=check,
)
