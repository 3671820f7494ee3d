"""Simulates the times of ranks that compute, read and write files, and exchange messages. The results of
`iolens.metrics.why` are compared with it. It shares no code with that package, and has data that a log lacks: the
message of each receive, and the cause of each wait. It processes one event after the other, that of the rank with the
earliest begin first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

ANY = -2
"""Value of `peer` or `tag` that stands for any source or any tag."""
EAGER = 1000
"""Largest message in bytes that MPI buffers."""
SHORTEST_PARTIAL = 100e-6
"""Shortest wait in seconds, in a collective call, for a rank that its event does not name."""
ALL, FOR_ROOT, FOR_OTHERS, FOR_LOWER = "all", "for the root", "for the others", "for lower ranks"
FOR_SOURCES = "for the ranks whose data it gets"
SHAPES = {
    "MPI_Init": ALL,
    "MPI_Finalize": ALL,
    "MPI_Barrier": ALL,
    "MPI_Allreduce": ALL,
    "MPI_Alltoall": ALL,
    "MPI_File_write_all": ALL,
    "MPI_Win_fence": ALL,
    "MPI_Ibarrier": ALL,
    "MPI_Iallreduce": ALL,
    "MPI_Bcast": FOR_ROOT,
    "MPI_Ibcast": FOR_ROOT,
    "MPI_Scatter": FOR_ROOT,
    "MPI_Reduce": FOR_OTHERS,
    "MPI_Gather": FOR_OTHERS,
    "MPI_Scan": FOR_LOWER,
    "MPI_Exscan": FOR_SOURCES,
    "MPI_Alltoallv": FOR_SOURCES,
}
"""For each collective call, the ranks that a rank waits for in it."""


@dataclass(frozen=True)
class SimulatedStep:
    """One operation of a rank.

    what: compute, file, send, recv, isend, irecv, sendrecv, wait, test, all, iall or win. cost: seconds in addition to
    waits. file_cost: seconds of a file call, alone or inside a collective call. handles: numbers of posts that a wait
    completes; `handle` is the number of this step's own post. members: ranks of a collective call; the partners of a
    call on the window `communicator`; for a lock, its target. sources: the ranks whose data this rank gets in a
    collective call. exclusive: a lock that excludes all others.
    """

    what: str
    function: str = ""
    cost: float = 0.0
    file_cost: float = 0.0
    file: int = 0
    communicator: int = 0
    to: int = -1
    to_tag: int = 0
    source: int = -1
    source_tag: int = 0
    size: int = 8
    root: int = -1
    members: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    handle: int = -1
    handles: tuple[int, ...] = ()
    exclusive: bool = False


@dataclass
class CallPart:
    """One end of a message, or a rank's part in a collective call."""

    call: SimulatedCall
    rank: int
    step: SimulatedStep
    sends: bool = False
    partner: CallPart | None = None
    group: CollectiveCall | None = None

    def known(self) -> bool:
        """Returns True if all that this part waits for has begun."""
        if self.group is not None:
            return self.group.ready(self.rank) is not None
        return self.partner is not None or (self.sends and not self.blocks())

    def blocks(self) -> bool:
        """Returns True for a send that MPI does not buffer."""
        return self.step.size > EAGER or "sse" in self.step.function.lower()

    def waits_for(self) -> SimulatedCall | None:
        """Returns the call of another rank that must have begun before this part can be complete; None if there is
        none.
        """
        if self.group is not None:
            return self.group.ready(self.rank)
        if self.sends and not self.blocks():
            return None
        return self.partner.call if self.partner else None


@dataclass
class CollectiveCall:
    """One collective call: the calls of its ranks so far."""

    shape: str
    members: tuple[int, ...]
    root: int
    calls: dict[int, SimulatedCall] = field(default_factory=dict)
    file_costs: list[float] = field(default_factory=list)

    def ready(self, rank: int) -> SimulatedCall | None:
        """Returns the call that this rank waits for: its own call if it waits for nobody; None if that call has not
        begun.
        """
        if self.shape == FOR_ROOT:
            needed: tuple[int, ...] = (self.root,)
        elif self.shape == ALL or (self.shape == FOR_OTHERS and rank == self.root):
            needed = self.members
        elif self.shape == FOR_LOWER:
            needed = tuple(each for each in self.members if each <= rank)
        elif self.shape == FOR_SOURCES:
            needed = (rank, *self.calls[rank].step.sources)
        else:
            needed = (rank,)
        if any(each not in self.calls for each in needed):
            return None
        return max((self.calls[each] for each in needed), key=lambda call: call.start)


@dataclass
class SimulatedCall:
    """A call with its times. If it waited for another rank, `late` is that rank's call, and the wait lasted until
    `free`.
    """

    rank: int
    step: SimulatedStep
    start: float
    end: float = -1.0
    free: float = -1.0
    late: SimulatedCall | None = None
    parts: list[CallPart | Needed | Locked] = field(default_factory=list)


@dataclass(frozen=True)
class SimulatedRun:
    """The calls of each rank in order, and `program`, the steps that were simulated. In `program`, each receive from
    any source names the message that it received.
    """

    calls: list[list[SimulatedCall]]
    program: list[list[SimulatedStep]]

    @property
    def run_time(self) -> float:
        return max(each[-1].end for each in self.calls)

    def critical_path(self) -> Iterator[tuple[int, float, float]]:
        """Yields rank, begin and end of each piece of the critical path, the last piece first."""
        last = max((each[-1] for each in self.calls), key=lambda call: call.start)
        rank, until, place = last.rank, self.run_time, len(self.calls[last.rank]) - 1
        while True:
            while place >= 0 and (self.calls[rank][place].late is None or self.calls[rank][place].free > until):
                place -= 1
            if place < 0:
                yield rank, 0.0, until
                return
            call = self.calls[rank][place]
            yield rank, call.free, until
            assert call.late is not None
            rank, until = call.late.rank, call.late.start
            place = self.calls[rank].index(call.late) - 1


@dataclass
class Needed:
    """A call of another rank on a window that must begin before a call can be complete: the k-th call of `key`."""

    windows: Windows
    key: tuple[str, int, int, int]
    number: int

    group = None

    def known(self) -> bool:
        """Returns True if the call has begun."""
        return len(self.windows.calls.get(self.key, [])) > self.number

    def waits_for(self) -> SimulatedCall:
        """Returns the call that must begin first."""
        return self.windows.calls[self.key][self.number]


@dataclass
class Locked:
    """A lock of a window: all earlier locks in the target's queue that exclude it must have been released."""

    queue: list[tuple[SimulatedCall, SimulatedCall | None]]
    place: int

    group = None

    def before(self) -> list[SimulatedCall | None]:
        """Returns the calls that released these locks; None for a lock that is still held."""
        mine = self.queue[self.place][0].step.exclusive
        return [end for call, end in self.queue[: self.place] if mine or call.step.exclusive]

    def known(self) -> bool:
        """Returns True if this rank can have the lock."""
        return None not in self.before()

    def waits_for(self) -> SimulatedCall | None:
        """Returns the latest call by which another rank released the lock; None if there is none."""
        return max((end for end in self.before() if end), key=lambda call: call.start, default=None)


@dataclass
class Windows:
    """The calls on windows so far. calls: by function, window, caller and partner. queues: by window and target, the
    locks in the order in which they were asked for, with the calls that gave them back. asked: how many calls of a
    function a rank made for a partner.
    """

    calls: dict[tuple[str, int, int, int], list[SimulatedCall]] = field(default_factory=dict)
    queues: dict[tuple[int, int], list[tuple[SimulatedCall, SimulatedCall | None]]] = field(default_factory=dict)
    asked: dict[tuple[str, int, int, int], int] = field(default_factory=dict)

    def begin(self, call: SimulatedCall) -> None:
        """Tells other ranks that this call on a window has begun, and adds to the call the calls that it must wait for:
        a post, a complete or a lock.
        """
        step, rank, window = call.step, call.rank, call.step.communicator
        name = step.function.removeprefix("MPI_Win_")
        for peer in step.members:
            queue = self.queues.setdefault((window, peer), [])
            if name in ("post", "complete"):
                self.calls.setdefault((name, window, rank, peer), []).append(call)
            elif name in ("start", "wait"):
                key = ("post" if name == "start" else "complete", window, peer, rank)
                call.parts.append(Needed(self, key, self.asked.setdefault(key, 0)))
                self.asked[key] += 1
            elif name == "lock":
                queue.append((call, None))
                call.parts.append(Locked(queue, len(queue) - 1))
            else:
                place = max(at for at, (held, _) in enumerate(queue) if held.rank == rank)
                queue[place] = (queue[place][0], call)


class Deadlock(Exception):
    """Raised if the ranks of a program wait for one another for ever."""


class _Simulation:
    def __init__(self, program: list[list[SimulatedStep]]) -> None:
        self.program = [list(steps) for steps in program]
        self.calls: list[list[SimulatedCall]] = [[] for _ in program]
        self.next = [0] * len(program)
        self.posts: dict[tuple[int, int], CallPart] = {}
        self.sent: list[CallPart] = []
        self.posted: list[CallPart] = []
        self.groups: dict[tuple[int, int], CollectiveCall] = {}
        self.entered: dict[tuple[int, int], int] = {}
        self.windows = Windows()
        self.blocked: dict[int, SimulatedCall] = {}
        self.heap: list[tuple[float, int]] = [(0.0, rank) for rank in range(len(program))]

    def run(self) -> SimulatedRun:
        while self.heap:
            time, rank = heapq.heappop(self.heap)
            if self.next[rank] == len(self.program[rank]):
                continue
            place = self.next[rank]
            step = self.program[rank][place]
            self.next[rank] += 1
            if step.what == "compute":
                heapq.heappush(self.heap, (time + step.cost, rank))
                continue
            call = SimulatedCall(rank, step, time)
            self.calls[rank].append(call)
            self._begin(call, place)
            self.blocked[rank] = call
            for other in list(self.blocked.values()):
                self._try_to_end(other)
        if self.blocked:
            raise Deadlock
        return SimulatedRun(self.calls, self.program)

    def _begin(self, call: SimulatedCall, place: int) -> None:
        """Tells other ranks that a call has begun."""
        step, rank = call.step, call.rank
        if step.what in ("send", "isend", "sendrecv"):
            self._meet(CallPart(call, rank, step, sends=True), place)
        if step.what in ("recv", "irecv", "sendrecv"):
            self._meet(CallPart(call, rank, step), place)
        if step.what in ("all", "iall"):
            key = (step.communicator, rank)
            number = self.entered[key] = self.entered.get(key, -1) + 1
            fresh = CollectiveCall(SHAPES[step.function], step.members, step.root)
            group = self.groups.setdefault((step.communicator, number), fresh)
            group.calls[rank] = call
            group.file_costs.append(step.file_cost)
            self._keep(CallPart(call, rank, step, group=group))
        if step.what == "win":
            self.windows.begin(call)
        if step.what == "wait":
            call.parts = [self.posts[rank, handle] for handle in step.handles]

    def _keep(self, part: CallPart) -> None:
        """Lets the call itself or a later wait complete a part."""
        if part.step.handle >= 0:
            self.posts[part.rank, part.step.handle] = part
        else:
            part.call.parts.append(part)

    def _meet(self, part: CallPart, place: int) -> None:
        """Finds the other end of a message, which is the first one that was posted and fits."""
        self._keep(part)
        others = self.posted if part.sends else self.sent
        for other in others:
            send, receive = (part, other) if part.sends else (other, part)
            if _fits(send, receive):
                others.remove(other)
                part.partner, other.partner = other, part
                self._resolve(receive, send)
                return
        (self.sent if part.sends else self.posted).append(part)

    def _resolve(self, receive: CallPart, send: CallPart) -> None:
        """Writes the source and tag of the message into the receiver's step."""
        steps = self.program[receive.rank]
        place = next(at for at, step in enumerate(steps) if step is receive.step)
        receive.step = steps[place] = replace(receive.step, source=send.rank, source_tag=send.step.to_tag)
        receive.call.step = receive.step

    def _try_to_end(self, call: SimulatedCall) -> None:
        """Ends a call if everything that it waits for has happened, and lets its rank continue."""
        if not all(part.known() for part in call.parts):
            return
        late = [other for part in call.parts if (other := part.waits_for()) and other.rank != call.rank]
        latest = max(late, key=lambda other: other.start, default=None)
        call.free = call.start
        if latest is not None and latest.start > call.start:
            partial = any(part.group and part.group.shape == FOR_SOURCES for part in call.parts)
            certain = not partial or latest.start > call.start + SHORTEST_PARTIAL
            call.late, call.free = latest if certain else None, latest.start
        inside = max((max(part.group.file_costs) for part in call.parts if part.group), default=0.0)
        own = call.step.file_cost if call.step.what == "file" else inside
        call.end = call.free + own + call.step.cost
        del self.blocked[call.rank]
        heapq.heappush(self.heap, (call.end, call.rank))


def _fits(send: CallPart, receive: CallPart) -> bool:
    want, message = receive.step, send.step
    return (
        want.communicator == message.communicator
        and message.to == receive.rank
        and want.source in (ANY, send.rank)
        and want.source_tag in (ANY, message.to_tag)
    )


def simulated(program: list[list[SimulatedStep]]) -> SimulatedRun:
    """Returns the times of the steps of all ranks; raises Deadlock."""
    return _Simulation(program).run()


def changed(
    program: list[list[SimulatedStep]], change: Callable[[int, SimulatedStep], SimulatedStep]
) -> list[list[SimulatedStep]]:
    """Returns the program with each step replaced by `change(rank, step)`."""
    return [[change(rank, step) for step in steps] for rank, steps in enumerate(program)]
