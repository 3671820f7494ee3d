"""The rule about many messages that are just too large to be sent at once."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.computing.small_messages import SENDS, TIMED
from iolens.log import Job

SMALLEST = (0, 16, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
"""Smallest message, in bytes, of each size class: size_0, size_1 ... of the table mpi_calls (profiler/TABLES.md)."""

_NEAR = 4
"""Maximum factor by which a class of sizes may begin above the limit and still count as just above it."""

_WITHIN_NODE = ("btl_vader_", "btl_sm_")
_NOT_BETWEEN = ("btl_self_", "btl_uct_", *_WITHIN_NODE)

REMEDY = """\
Try a limit above these messages, and keep it only if the run gets shorter:

  {command}

It costs a buffer for each message under way, and one more copy of the
message: where large messages are copied straight from process to process
(CMA, XPMEM, RDMA) a larger limit can be slower. Receives that are posted
early (MPI_Irecv before the work) help at any limit."""


def _limit_in_use(job: Job) -> tuple[str, int] | None:
    """Returns the parameter and the bytes of the limit that applies to most messages: within nodes, or between
    nodes.
    """
    from iolens.metrics.processor.mpi.settings import eager_limits

    peers = job.tables.get("mpi_peers")
    if peers is None or not peers["messages"].sum():
        return None
    inside = peers["messages"][peers["on_node"] > 0].sum() * 2 >= peers["messages"].sum()
    limits = eager_limits(job)
    if inside:
        found = {name: value for name, value in limits.items() if name.startswith(_WITHIN_NODE)}
    else:
        found = {name: value for name, value in limits.items() if not name.startswith(_NOT_BETWEEN)}
    return next(iter(found.items())) if len(found) == 1 else None


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the number of messages whose size is at the eager limit or not far above it, and the time of sends and
    waits.
    """
    if not {"mpi_calls", "mpi_settings"} <= set(job.private):
        return None
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions, slowest

    rows, limit = mpi_rows(job), _limit_in_use(job)
    if rows is None or limit is None:
        return None
    name, size = limit
    above = next((number for number, least in enumerate(SMALLEST[:-1]) if size <= least <= _NEAR * size), None)
    sends = of_functions(rows, SENDS)
    messages = float(sends["messages"].sum())
    near = 0.0 if above is None else float(sends[f"size_{above}"].sum())
    if above is None or near < max(1.0, limits["many_messages"]) or near < limits["eager_share"] * messages:
        return None
    spent = slowest(of_functions(rows, TIMED))
    evidence = (
        f"{say.percent(near / messages)} of {say.count(messages, 'message')} have {say.size(SMALLEST[above])} or more, "
        f"up to {say.size(SMALLEST[above + 1])}; {name} is {say.size(size)}, header included. Sends, receives and "
        f"waits took {say.seconds(spent)} on the slowest rank."
    )
    bound = (
        "It assumes that sends, receives and waits take no time on the slowest rank; what a larger limit costs is not "
        "known."
    )
    larger = 2 * SMALLEST[above]
    command = f"mpirun --mca {name} {larger} ..." if name.startswith("btl_") else f"export {name}={larger}"
    return Seen(evidence, spent, bound, REMEDY.format(command=command))


RULE = Rule(
    id="eager-limit",
    title="Messages just above the eager limit",
    says="`eager_share` or more of the point-to-point messages have sizes in the range that begins between the eager "
    "limit and four times this limit, and these are `many_messages` or more (needs `iolens run --trace mpi`)",
    limits=("eager_share", "many_messages"),
    why="A message above the limit is sent only after its receiver has answered: this costs one more round trip, and "
    "a wait if the receive is posted late.",
    read_more="Open MPI FAQ, tuning of the run-time parameters (btl_*_eager_limit); MPICH: MPIR_CVAR_*_EAGER_*",
    check=check,
    beside_io=True,
)
