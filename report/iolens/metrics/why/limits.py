"""The facts that the events of a job cannot tell, in sentences."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.comparison.settings import seconds_text
from iolens.metrics.once import once_per_job
from iolens.metrics.times.clocks import CommonClock, common_clock
from iolens.metrics.why.answers import why

_LEAST_UNKNOWN = 100e-6
"""Shortest time, in seconds, in calls without a known partner that a sentence mentions. Shorter waits are not
certain.
"""


@once_per_job
def limits(job: Job) -> list[str]:
    """Returns a sentence for each kind of question that the events of the job cannot answer; none if the log has no
    events.
    """
    found = why(job)
    if found is None:
        return []
    clock = common_clock(job)
    said = [f"{clock.said} Waits between nodes are as uncertain."] if _of_several_nodes(job, clock) else []
    if found.until is not None:
        memory = any("IOLENS_WHY" in reason for reason in job.partial)
        reason = "iolens run --why MIB gives them more memory" if memory else "the job did not end as it should"
        beyond = job.tables["why_events"].left_out
        if beyond:
            reason = f"this machine has too little memory for the {beyond:,} later ones"
        said.append(
            f"The events of all ranks end with the collective call at {seconds_text(found.until)}; nothing after it "
            f"is analysed ({reason})."
        )
    if found.unknown.in_calls >= _LEAST_UNKNOWN:
        some = ", ".join(found.unknown.functions[:3])
        said.append(
            f"In {some}{' and others' if len(found.unknown.functions) > 3 else ''} a rank spent up to "
            f"{seconds_text(found.unknown.in_calls)}, and the events do not tell what it waited for."
        )
    if found.program.left_out:
        said.append(
            f"Calls of other threads are left out: {found.program.left_out:,}. What they did counts as computing: up "
            f"to {seconds_text(found.unknown.in_gaps)} of a rank."
        )
    if found.unknown.asleep >= _LEAST_UNKNOWN:
        said.append(
            f"Between calls such as MPI_Test that found nothing, a rank slept for up to "
            f"{seconds_text(found.unknown.asleep)}, which counts as computing."
        )
    if found.joins.not_joined:
        lone = found.joins.not_joined
        said.append(f"Parts of messages and collective calls without a partner in the log: {lone:,}.")
    if found.waits.violations:
        said.append(
            f"Messages that arrived before they were sent, by the clocks of their nodes: {found.waits.violations:,}, "
            f"by up to {1e6 * found.waits.largest_violation:,.0f} µs. Their waits end with the call."
        )
    return said


def _of_several_nodes(job: Job, clock: CommonClock) -> bool:
    """Returns True if the ranks read several clocks, compared or not."""
    return bool(clock.uncertainty) or (clock.uncertainty is None and len(job.hosts) > 1)
