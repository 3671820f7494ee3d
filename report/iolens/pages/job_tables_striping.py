"""Tables about stripes, hints and collective transfers of the job summary: from metrics to words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics import lustre_client, mpiio, ost, striping
from iolens.pages import words
from iolens.pages.exhibit import Exhibit, exhibit

if TYPE_CHECKING:
    from iolens.log import Job


def layouts(job: Job) -> Exhibit | None:
    """The distinct stripe layouts."""
    found = striping.layouts(job)
    if found is None:
        return None
    return exhibit(
        "layouts",
        "Stripe layouts",
        found,
        [
            ("stripes", "stripe_count", str),
            ("stripe size", "stripe_size", words.exact_size),
            ("component", "component", lambda value: str(value + 1)),
            ("up to", "extent_end", lambda value: "end of file" if value == -1 else words.exact_size(value)),
            ("pool", "pool", lambda value: value or "none"),
            ("files", "files", words.count),
            ("transferred", "bytes", words.size),
            ("for example", "path", str),
        ],
    )


def target_bytes(job: Job) -> Exhibit | None:
    """What each storage target moved."""
    found = ost.target_bytes(job)
    if found.table is None:
        return None
    note = f"The busiest target moved {words.ratio(ost.imbalance(found.table))} times the mean of these targets."
    if found.unplaced:
        note += f" {words.size(found.unplaced)} more lie where their target is not known: on mirrors or on metadata."
    return exhibit(
        "target_bytes",
        "Bytes per object storage target",
        found.table,
        [
            ("target (OST)", "ost", str),
            ("ranks", "ranks", words.count),
            ("files", "files", words.count),
            ("written", "bytes_written", words.size),
            ("read", "bytes_read", words.size),
        ],
        note,
    )


def stripe_ranks(job: Job) -> Exhibit | None:
    """How many ranks meet on a stripe."""
    found = ost.stripe_ranks(job)
    if found is None or found.empty:
        return None
    return exhibit(
        "stripe_ranks",
        "Ranks on the stripes of a file",
        found,
        [
            ("file", "path", str),
            ("transferred", "bytes", words.size),
            ("ranks", "ranks", words.count),
            ("stripes used", "stripes", words.count),
            ("fewest ranks on one", "fewest_ranks", words.count),
            ("most", "most_ranks", words.count),
            ("fullest stripe", "fullest", words.ratio),
        ],
        "Ranks that read or wrote on a stripe: those that write there take its lock from one another. Fullest stripe: "
        "its bytes over the mean of the file's stripes in use.",
    )


def client_counters(job: Job) -> Exhibit | None:
    """What Lustre's clients counted."""
    found = lustre_client.client_counters(job)
    if found is None:
        return None
    said = [
        words.size(row.sum) if row.unit == "bytes" else f"{words.count(row.sum)} {row.unit}" if row.sum else ""
        for row in found.itertuples()
    ]
    layers = {"llite": "programs", "osc": "storage targets"}
    return exhibit(
        "lustre_client",
        "Lustre clients of the job's nodes, from its begin to its end",
        found.assign(said=said),
        [
            ("between client and", "layer", lambda layer: layers.get(str(layer), str(layer))),
            ("counter", "counter", str),
            ("samples", "samples", words.count),
            ("sum", "said", str),
            ("nodes", "nodes", words.count),
        ],
        "Of all programs on these nodes, not of this job alone. Bytes between client and storage targets differ from "
        "those of programs by what the client keeps, reads ahead or has not yet written.",
    )


def file_layouts(job: Job) -> Exhibit | None:
    """Layouts of the files with most bytes."""
    found = striping.file_layouts(job)
    if found is None or found.empty:
        return None
    return exhibit(
        "file_layouts",
        "Stripes of the files with the most bytes",
        found,
        [
            ("file", "path", str),
            ("transferred", "bytes", words.size),
            ("stripes", "stripe_count", str),
            ("stripe size", "stripe_size", words.exact_size),
            ("targets (OSTs)", "osts", lambda osts: mpiio.rank_list(sorted(osts))),
        ],
    )


def hints(job: Job) -> Exhibit | None:
    """MPI-IO hints."""
    found = mpiio.hints(job)
    if found is None:
        return None
    return exhibit(
        "hints",
        "MPI-IO hints",
        found,
        [
            ("file", "path", str),
            ("hint", "key", str),
            ("requested", "requested", lambda value: value or "not given"),
            *([("from outside", "given", str)] if found["given"].any() else []),
            ("effective", "effective", lambda value: value or "n/a"),
        ],
        "Effective: what MPI_File_get_info said before the file was closed; n/a: it said nothing. Some libraries "
        "repeat what they were given: compare with who really wrote.",
    )


def aggregators(job: Job) -> Exhibit | None:
    """Who really wrote."""
    found = mpiio.aggregators(job)
    if found is None or found.empty:
        return None
    counts = map(mpiio.writer_count, found["writers"], found["others"])
    return exhibit(
        "aggregators",
        "Who wrote to the files that several ranks opened",
        found.assign(count=list(counts)),
        [
            ("file", "path", str),
            ("writers", "count", str),
            ("their ranks", "writers", mpiio.rank_list),
            ("written", "bytes", words.size),
            ("writes", "writes", words.count),
            ("most common", "common_write", words.exact_size),
            ("largest", "largest_write", words.exact_size),
            ("unaligned", "not_aligned", words.share),
        ],
        "Ranks with POSIX writes: with collective buffering, the observed aggregators. Unaligned: offset no multiple "
        "of the file's alignment.",
    )


def collectives(job: Job) -> Exhibit | None:
    """Where collective MPI-IO calls spent their time."""
    found = mpiio.collective_time(job)
    if found is None:
        return None
    return exhibit(
        "collectives",
        "Collective MPI-IO: where the time of a rank went",
        found,
        [
            ("file", "path", str),
            ("who", "who", str),
            ("ranks", "ranks", words.count),
            ("calls", "calls", words.ratio),
            ("in calls, s", "seconds", words.seconds),
            ("waiting, s", "waiting", words.seconds),
            ("file access, s", "access", words.seconds),
            ("exchange, s", "exchange", words.seconds),
        ],
        "Means over these ranks. Waiting: until the last rank had entered the call; file access: POSIX time meanwhile; "
        "exchange: the rest. Aggregators: ranks that accessed the file. n/a: ranks made different numbers of calls.",
    )
