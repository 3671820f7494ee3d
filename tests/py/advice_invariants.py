"""Statements about a job that must not contradict each other; the functions return the contradictions as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from iolens.advise import Diagnosis, Finding
from iolens.advise.table import RULES
from iolens.fleet.job_rows import Met, rows_of
from iolens.log import Job
from iolens.metrics.files.overview import all_files
from iolens.metrics.files.stripes.striping import file_stripes, striped_files, unrecorded_files
from iolens.metrics.files.use import by_file
from iolens.metrics.job.cost import all_performance, moved_once
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.job.ranks import io_span_seconds, io_span_share, write_turns
from iolens.metrics.job.share import extra_seconds, io_mean_seconds
from iolens.metrics.processor.sampled.largest import largest_part, largest_shares
from iolens.metrics.subjects.subject import Trial
from iolens.metrics.subjects.values import RUN, values_of
from iolens.metrics.why.answers import storage_bound
from iolens.missing import is_nan
from iolens.pages.exhibits.overview import gauge_text
from iolens.pages.wording.job_judgement import all_findings, first_action, spoken
from iolens.pages.wording.job_lists import advice_text, judgement_object

QUIET = ("Nothing worth", "Hardly worth", "Too short", "Nothing to judge")
NO_FAULT = "no rule found a fault"
HINT = re.compile(r"^ +((?:romio|cb|striping|nc|h5)_\w+) (\S+)$", re.M)
STRIPES = re.compile(r"lfs setstripe -c (-?\d+)(?: -S (\d+)([KM]))?")
BOUND = re.compile(r"at most ([\d.]+) % of the run")
ABOUT = re.compile(r"about ([\d.]+) %")
MANY = re.compile(r"\d other files?: [\d.]+ [KMGT]?i?B")
RANK, TARGET = re.compile(r"\b[Rr]ank (\d+)"), re.compile(r"(?:\bOST|\b[Tt]arget) (\d+)")
FEWER_SHOWN = "This log names only"
BESIDE_IO = {rule.id for rule in RULES if rule.beside_io}


def contradictions(job: Job, found: Diagnosis) -> list[str]:
    """Returns contradictions in the judgement of a job."""
    checks = (
        _gauges,
        _silence,
        _bounds,
        _headline,
        _sums,
        _names,
        _hints,
        _layouts,
        _remedies,
        _pages,
        _outputs,
        _fleet,
    )
    return [said for check in checks for said in check(job, found)]


def _gauges(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields gauges outside their bounds that neither a finding nor a reason explains, and gauges outside their bounds
    in a job whose verdict finds no fault.
    """
    titles = {f"“{one.title}”" for one in found.findings}
    for gauge, good, reason in found.gauges.rows("gauge", "good", "reason"):
        if good is not False:
            continue
        if not reason or (reason.startswith("“") and reason not in titles):
            yield f"{gauge} is red for {reason!r}"
        if found.verdict.sentence.startswith(QUIET):
            yield f"{gauge} is red under {found.verdict.sentence!r}"
        if NO_FAULT in found.verdict.sentence:
            yield f"{gauge} is red beside {found.verdict.sentence!r}"


def _silence(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields the remedies of a job whose verdict says that nothing needs to be done."""
    sentence = found.verdict.sentence
    if sentence.startswith(QUIET) and (found.worth or found.gain or found.hints):
        yield f"{sentence!r} beside {[one.id for one in found.worth]}"
    if NO_FAULT in sentence and found.worth:
        yield f"{sentence!r} beside {[one.id for one in found.worth]}"
    if job.coarse and not sentence.startswith(QUIET):
        yield f"whole seconds, and {sentence!r}"
    if job.coarse and [one for one in found.findings if one.severity != "note"]:
        yield f"whole seconds, and {[one.id for one in found.findings]}"


def _bounds(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields shares that are larger than their whole, and upper bounds that are printed smaller than they are."""
    recorded, replayed = io_span_seconds(job), storage_bound(job)
    spent = recorded if replayed is None else replayed
    share = None if spent is None or job.run_time <= 0 else _largest_share(job, spent)
    for one in found.findings:
        if one.gain is None:
            continue
        if one.id not in BESIDE_IO and (share is None or one.gain > share + 1e-9):
            yield f"{one.id} can gain {one.gain} of {share}"
        yield from _printed_bound(job, one)
        if (one.gain >= 0.05) != one.worth_it:
            yield f"{one.id}: {one.severity} for {one.gain}"
    printed = re.search(r"I/O took at most ([\d.]+) % of the run", found.verdict.sentence)
    gauge = dict(found.gauges.rows("gauge", "value"))["share"]
    if printed and not is_nan(gauge) and gauge_text("share", gauge) != f"≤ {printed[1]} %":
        yield f"{found.verdict.sentence!r} beside a gauge of {gauge_text('share', gauge)}"
    printed = re.search(r"I/O took at most ([\d.]+) %", found.verdict.sentence)
    if printed and share is not None and float(printed[1]) / 100 < share - 1e-10:
        yield f"{found.verdict.sentence!r} for {share}"
    yield from (f"{one.id}: {one.evidence!r} names many files before bytes of one" for one in _mixed(found))


def _headline(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields a headline of a single process that is not about the largest part of its time, and findings with more time
    than the layers of I/O have in the table of their speeds.
    """
    part, share = largest_part(job), io_span_share(job) or 0.0
    if job.nprocs == 1 and part is not None and not job.coarse and part.kind not in ("io", "cores"):
        about_parts = found.verdict.evidence.startswith("Parts of")
        if part.share > share and part.share * job.run_time >= 0.5 and not about_parts:
            yield f"{found.verdict.sentence!r}, but {part.kind} took {part.share} and I/O {share}"
        if about_parts and share > part.share + 1e-9 and found.worth:
            yield f"{found.verdict.sentence!r}, but I/O took {share} and {part.kind} {part.share}"
    own, common = extra_seconds(job)
    turns = write_turns(job)
    whole = sum(one.seconds for one in all_performance(job)) + float(own.max()) + common
    whole = max(whole, 0.0 if turns is None else turns.covered) * (1 + 1e-6) + 1e-6
    for one in found.findings:
        # Records without the time of their slowest rank have no time in that table.
        if one.gain is not None and one.id not in BESIDE_IO and _least_seconds(job, one.gain) > whole:
            yield f"{one.id} can gain {one.gain} of {job.run_time} s; the layers have {whole} s"


def _sums(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields sums that differ from the sums of their parts: the parts of the time, the bytes of the layers,
    the bytes of their files, and the bytes that count once.
    """
    parts = largest_shares(job)
    if parts and abs(sum(parts.values()) - 1.0) > 1e-6:
        yield f"the parts of the time add up to {sum(parts.values())} of the run: {parts}"
    moved = {}
    for one in all_performance(job):
        prefix, records = LAYERS[one.module].prefix, job.records[one.module]
        for way, told in (("READ", one.bytes_read), ("WRITTEN", one.bytes_written)):
            counted = sum(max(0, int(each)) for each in records[f"{prefix}_BYTES_{way}"].tolist())
            table = by_file(job, one.module)
            files = 0.0 if table is None else float(table[f"BYTES_{way}"].sum())
            moved[one.module, way] = counted
            if told != counted or abs(files - counted) > 1e-6 * counted:
                yield f"{one.module} {way}: {told} bytes of the layer, {files} of its files, {counted} of its records"
    for name, once in moved_once(job).items():
        if once > sum(number for (layer, _), number in moved.items() if layer == name) and name not in ("DFS", "DAOS"):
            yield f"{name}: {once} bytes count once, more than the layer moved"


def _least_seconds(job: Job, gain: float) -> float:
    """Returns the seconds that a gain stands for; on a clock of whole seconds the run may have been a second
    shorter.
    """
    return gain * (job.run_time if tuple(map(int, job.version.split("."))) >= (3, 41) else max(job.run_time - 1, 0.0))


def _printed_bound(job: Job, one: Finding) -> Iterator[str]:
    """Yields the bound of a finding if it is below the finding's gain or not what is printed, or if a number that
    nothing bounds is printed as a bound.
    """
    printed, about = BOUND.search(one.gain_words), ABOUT.match(one.gain_words)
    if one.bound is None and printed:
        yield f"{one.id}: {one.gain_words!r} without a bound"
    if one.bound is None or one.gain is None:
        return
    if not one.gain <= one.bound <= 1:
        yield f"{one.id}: a gain of {one.gain} above its bound {one.bound}"
    if printed and float(printed[1]) / 100 < one.bound - 1e-10:
        yield f"{one.id}: {one.gain_words!r} for {one.bound}"
    if printed and about and float(about[1]) > float(printed[1]) + 1e-9:
        yield f"{one.id}: {one.gain_words!r}"


def _largest_share(job: Job, spent: float) -> float:
    """Returns the largest possible share of the run time: in a log that counts whole seconds, `spent` may be a second
    too long.
    """
    is_whole = tuple(map(int, job.version.split("."))) < (3, 41)
    return min(1.0, spent / (job.run_time - 1)) if is_whole and job.run_time > 1 else spent / job.run_time


def _mixed(found: Diagnosis) -> list[Finding]:
    """Returns findings whose evidence names several files and then a number of bytes, so that it is unclear whose bytes
    they are.
    """
    return [one for one in found.findings if MANY.search(one.evidence) and one.id != "narrow-stripes"]


def _names(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields ranks and targets that the job does not have, and targets of a remedy that its evidence does not name
    first. The headline's evidence must be that of the finding that it names.
    """
    layouts = job.records.get("LUSTRE")
    targets = set() if layouts is None else {ost for osts in layouts["osts"] for ost in osts}
    for one in found.findings:
        said = f"{one.evidence}\n{one.derivation}\n{one.remedy}"
        yield from (f"{one.id} names rank {rank}" for rank in RANK.findall(said) if int(rank) >= job.nprocs)
        named, asked = TARGET.findall(one.evidence), TARGET.findall(one.remedy)
        yield from (f"{one.id} names target {ost}" for ost in [*named, *asked] if int(ost) not in targets)
        if named and asked and named[0] != asked[0]:
            yield f"{one.id}: evidence names target {named[0]} and the remedy {asked[0]}"
    titles = {one.title: one.evidence for one in found.worth}
    headline = found.verdict.sentence.partition(";")[0]
    if titles.get(headline, found.verdict.evidence) != found.verdict.evidence:
        yield f"{headline!r} with the evidence {found.verdict.evidence!r}"


def _hints(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields hints that have two values, and hints for more aggregators than the ranks or stripes can use."""
    values: dict[str, set[str]] = {}
    for one in found.findings:
        for key, value in HINT.findall(one.remedy):
            values.setdefault(key, set()).add(value)
    yield from (f"{key} is proposed as {sorted(each)}" for key, each in values.items() if len(each) > 1)
    layout = file_stripes(job)
    for value in values.get("cb_nodes", ()):
        if int(value) > job.nprocs:
            yield f"cb_nodes {value} for {job.nprocs} ranks"
        known = set() if layout is None else set(layout["stripes"].tolist())
        if layout is not None and known and int(value) > max(known):
            yield f"cb_nodes {value} for {max(known)} stripes"
    if len({line.split()[0] for line in found.hints}) != len(found.hints):
        yield f"hints {found.hints}"


def _layouts(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields stripe counts that no file is large enough for, and stripe counts above the number of targets in the log
    if the remedy does not mention it.
    """
    table, layouts = striped_files(job), job.records.get("LUSTRE")
    targets = 0 if layouts is None else 1 + max((max(osts) for osts in layouts["osts"] if osts), default=-1)
    for one in found.findings:
        for count, size, unit in STRIPES.findall(one.remedy):
            if one.id in ("metadata-storm", "straggler-target", "straggler-rank"):
                continue
            each = int(size) * {"K": 1 << 10, "M": 1 << 20}[unit] if size else 0
            largest = 0 if table is None else int(table["size"].max())
            if int(count) < 1 or (each and (int(count) - 1) * each >= largest):
                yield f"{one.id}: {count} stripes of {each} for {largest} bytes"
            if size and int(count) > targets and FEWER_SHOWN not in one.remedy:
                yield f"{one.id}: {count} stripes on {targets} targets"


def _remedies(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields remedies with commands of a file system that the job did not use."""
    kinds = {mount.kind for mount in job.mounts}
    striped = len(job.records["LUSTRE"]) if "LUSTRE" in job.records else 0
    fits = {
        r"\blfs\b|\blctl\b|[Ll]ustre": "lustre" in kinds or bool(striped),
        r"iolens stripe": bool(striped) or bool(kinds & {"lustre", "beegfs", "ceph"}),
        r"nfsiostat|actimeo": "nfs4" in kinds or "nfs" in kinds,
        r"^@": False,
    }
    for one in found.findings:
        for pattern, fit in fits.items():
            said = re.search(pattern, one.remedy, re.M)
            if said and not fit:
                yield f"{one.id} proposes {said[0]!r} on {sorted(kinds)}"
        if job.emulated and re.search(r"\blfs\b", one.remedy) and "iolens stripe" not in one.remedy:
            yield f"{one.id} proposes lfs alone on emulated storage"


def _pages(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields statements on pages of the report that contradict the judgement."""
    if ("What to do" in str(first_action(job)[0])) != bool(found.worth):
        yield "page 1 has things to do, or lacks them"
    if found.confidence == "high" and (job.partial or unrecorded_files(job)):
        yield "a verdict from a log without some records has high confidence"
    if len([one for one in spoken(job) if re.match(r"\d+\. ", one)]) != len(found.worth):
        yield "the terminal counts other things to do"
    if not found.worth and any("What to do" in str(block) for block in all_findings(job)):
        yield "the advice page has things to do"


def _outputs(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields statements of the JSON, the terminal and a comparison that differ from those of the judgement."""
    said = judgement_object(job, found)
    printed = [(one["id"], one["gain"], one["severity"]) for one in said["findings"]]
    if said["verdict"]["sentence"] != found.verdict.sentence or said["hints"] != list(found.hints):
        yield "JSON has another verdict or other hints"
    if printed != [(one.id, one.gain, one.severity) for one in found.findings]:
        yield "JSON has other findings"
    text = " ".join(advice_text(job, found).split())
    ids = [one.id for one in (*found.worth, *found.minor)]
    yield from (f"the terminal lacks {rule}" for rule in ids if f"[{rule}]" not in text)
    values = {(one.group, one.name): one.value for one in values_of(Trial(job.path, job))}
    share, known = values.get((RUN, "share of I/O in the run")), dict(found.gauges.rows("gauge", "value"))["share"]
    if share != (None if is_nan(known) else known):
        yield f"a comparison has the share {share}, the report {known}"


def _fleet(job: Job, found: Diagnosis) -> Iterator[str]:
    """Yields statements in a fleet's row that differ from the job's own judgement, or from the sums of its records."""
    rows = rows_of(Met(str(job.path), 1, 1), job, advice=True)
    own = [(one.id, one.severity, one.gain) for one in found.findings if one.severity != "note"]
    if [(one["rule"], one["severity"], one["gain"]) for one in rows.findings] != own:
        yield f"the fleet has the findings {rows.findings}, the job {own}"
    if rows.job["gain"] != found.gain:
        yield f"the fleet saves {rows.job['gain']} of the run, the job {found.gain}"
    spent = sum(rows.job[f"{kind}_seconds"] for kind in ("read", "write", "meta"))
    whole = (io_mean_seconds(job) or 0.0) * max(job.nprocs, 1)
    if abs(spent - whole) > 1e-6 * whole or float(rows.files["seconds"].sum()) > spent * (1 + 1e-6):
        yield f"the fleet counts {spent} s of I/O, its files {rows.files['seconds'].sum()}, the job {whole}"
    for name in ("bytes_read", "bytes_written"):
        if not rows.job[name] == rows.files[name].sum() == all_files(job)[name].sum():
            yield f"the fleet has other {name} than the job"
