"""Random programs of ranks that compute, use files and talk to one another, for `why_simulator`, and their events."""

from __future__ import annotations

import random

from iolens.log.records import Records
from why_programs import RankLine, events_of
from why_simulator import EAGER, FOR_SOURCES, SHAPES, SimulatedCall, SimulatedRun, SimulatedStep

_WORLD, _PARTS, _WINDOW = 7, (8, 9), 10
_PARTIAL = sorted(function for function, shape in SHAPES.items() if shape == FOR_SOURCES)
_COLLECTIVES = sorted(set(SHAPES) - {"MPI_Init", "MPI_Finalize", "MPI_Win_fence", *_PARTIAL})
_BUFFERING = 1e-9
"""Seconds of a send of a small message, or of a collective call that does not wait for all ranks. They are fewer than
those of any other call, because a call that began in the middle of a longer call would count as its cause.
"""
_ROOTED = ("Bcast", "bcast", "Scatter", "Reduce", "Gather")
_OF_SOME = (*_ROOTED, "Scan", "Exscan", "Alltoallv")


class _Writer:
    """Writes the steps of all ranks in an order in which they can all be done."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ranks = self.random.randint(2, 7)
        self.steps: list[list[SimulatedStep]] = [[] for _ in range(self.ranks)]
        self.open: list[list[int]] = [[] for _ in range(self.ranks)]
        self.handles = 0
        # Numbers of the posted operations whose completion takes no time in addition to waits.
        self.instant: set[int] = set()
        everybody = tuple(range(self.ranks))
        self.members = {_WORLD: everybody}
        for communicator in _PARTS:
            size = self.random.randint(1, self.ranks)
            self.members[communicator] = tuple(sorted(self.random.sample(everybody, size)))

    def cost(self) -> float:
        """Returns the seconds that a call takes in addition to its waits."""
        return self.random.uniform(0.001, 0.1)

    def add(self, rank: int, step: SimulatedStep) -> None:
        """Adds a step of a rank, often with computing or a call of the file system before it."""
        if self.random.random() < 0.6:
            self.steps[rank].append(SimulatedStep("compute", cost=self.random.uniform(0.01, 2.0)))
        if self.random.random() < 0.4:
            self.steps[rank].append(self.file_call())
        self.steps[rank].append(step)

    def file_call(self) -> SimulatedStep:
        """Returns a call of the file system."""
        function = self.random.choice(("write", "read", "fsync"))
        return SimulatedStep("file", function, file_cost=self.random.uniform(0.01, 2.0), file=self.random.randint(1, 4))

    def post(self, rank: int) -> int:
        """Returns a new number for an operation that a rank posts and must complete."""
        self.handles += 1
        self.open[rank].append(self.handles)
        return self.handles

    def message(self) -> None:
        """Adds one message between two ranks."""
        sender, receiver = self.random.sample(range(self.ranks), 2)
        kind = self.random.random()
        wild_source, wild_tag = kind < 0.2, 0.2 <= kind < 0.35
        tag = 50 if wild_source else 60 + self.random.randint(0, 1) if wild_tag else self.random.randint(0, 2)
        large = self.random.random() < 0.3 and not wild_source
        size = EAGER * 100 if large else 8
        function = self.random.choice(("Send", "Ssend"))
        if wild_source or wild_tag:
            function = "Send"
        posts_send, posts_receive = self.random.random() < 0.4, self.random.random() < 0.4
        send = SimulatedStep("isend" if posts_send else "send", communicator=_WORLD, to=receiver, to_tag=tag, size=size)
        name = f"MPI_I{function.lower()}" if posts_send else f"MPI_{function}"
        send = _named(send, name, self.cost() if large else _BUFFERING, self.post(sender) if posts_send else -1)
        self.instant |= set() if large else {send.handle}
        receive = SimulatedStep(
            "irecv" if posts_receive else "recv",
            communicator=_WORLD,
            source=-2 if wild_source else sender,
            source_tag=-2 if wild_tag else tag,
            size=size,
        )
        name = "MPI_Irecv" if posts_receive else "MPI_Recv"
        receive = _named(receive, name, self.cost(), self.post(receiver) if posts_receive else -1)
        self.add(sender, send)
        self.add(receiver, receive)

    def exchange(self) -> None:
        """Adds a pair of MPI_Sendrecv."""
        pair = self.random.sample(range(self.ranks), 2)
        size = self.random.choice((8, EAGER * 100))
        for rank, other in (pair, pair[::-1]):
            both = SimulatedStep(
                "sendrecv", "MPI_Sendrecv", self.cost(), communicator=_WORLD, to=other, source=other, size=size
            )
            self.add(rank, _tagged(both, 20))

    def wait(self) -> None:
        """Adds a call that completes some of the operations that a rank posted."""
        rank = self.random.randrange(self.ranks)
        if not self.open[rank]:
            return
        count = self.random.randint(1, len(self.open[rank]))
        chosen = self.random.sample(self.open[rank], count)
        self.open[rank] = [each for each in self.open[rank] if each not in chosen]
        function = "MPI_Wait" if count == 1 else self.random.choice(("MPI_Waitall", "MPI_Waitsome"))
        cost = _BUFFERING if self.instant.issuperset(chosen) else self.cost()
        self.add(rank, SimulatedStep("wait", function, cost, handles=tuple(chosen)))

    def partial(self) -> None:
        """Adds a collective call in which each rank waits for some others, which its event does not name."""
        self.together(_PARTIAL)

    def together(self, functions: list[str] = _COLLECTIVES) -> None:
        """Adds a collective call on some communicator."""
        function = self.random.choice(functions)
        communicator = self.random.choice((_WORLD, *_PARTS))
        members = self.members[communicator]
        of_some = function.endswith(_OF_SOME) and not function.lower().endswith("allreduce")
        root = self.random.choice(members) if of_some and function.endswith(_ROOTED) else -1
        posts = function.startswith("MPI_I")
        cost = self.cost()
        for rank in members:
            writes = function == "MPI_File_write_all" and self.random.random() < 0.5
            step = SimulatedStep(
                "iall" if posts else "all",
                function,
                _BUFFERING if of_some else cost if function == "MPI_File_write_all" else self.cost(),
                file_cost=self.random.uniform(0.01, 1.0) if writes else 0.0,
                file=5 if writes else 0,
                communicator=communicator,
                root=root,
                members=members,
                sources=self.sources(function, rank, members) if functions is _PARTIAL else (),
                handle=self.post(rank) if posts else -1,
            )
            self.add(rank, step)
            self.instant |= {step.handle} if posts and of_some else set()

    def sources(self, function: str, rank: int, members: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the ranks whose data a rank gets: in MPI_Exscan all lower ones, and by MPI's tree perhaps others."""
        lower = [each for each in members if each < rank and function == "MPI_Exscan"]
        return (*lower, *self.random.sample(members, self.random.randint(0, len(members))))

    def exposure(self) -> None:
        """Adds an epoch in which some ranks reach the memory of another one."""
        target, *origins = self.random.sample(range(self.ranks), self.random.randint(2, self.ranks))
        for name, rank, partners in (("post", target, origins), *(("start", each, [target]) for each in origins)):
            self.add(rank, self.epoch(name, partners))
        for name, rank, partners in (*(("complete", each, [target]) for each in origins), ("wait", target, origins)):
            self.add(rank, self.epoch(name, partners))

    def locks(self) -> None:
        """Adds epochs of some ranks that lock the memory of one rank."""
        target = self.random.randrange(self.ranks)
        for rank in self.random.sample(range(self.ranks), self.random.randint(1, self.ranks)):
            exclusive = self.random.random() < 0.6
            self.add(rank, self.epoch("lock", [target], exclusive))
            self.add(rank, self.epoch("unlock", [target], exclusive))

    def epoch(self, name: str, partners: list[int], exclusive: bool = False) -> SimulatedStep:
        """Returns a call on the window. An unlock takes little time, because the simulated locks were taken in the
        order of these calls.
        """
        cost = _BUFFERING if name == "unlock" else self.cost()
        members = tuple(partners)
        return SimulatedStep("win", f"MPI_Win_{name}", cost, communicator=_WINDOW, members=members, exclusive=exclusive)

    def everybody(self, function: str) -> None:
        """Adds a call of all ranks."""
        for rank in range(self.ranks):
            common = SimulatedStep("all", function, self.cost(), communicator=_WORLD, members=self.members[_WORLD])
            self.add(rank, common)

    def large_message(self) -> None:
        """Adds a large message whose receive comes late, and a small one: the log shows what MPI buffers."""
        for size, tag in ((8, 90), (EAGER * 100, 91)):
            send = SimulatedStep("send", "MPI_Send", self.cost(), communicator=_WORLD, to=1, to_tag=tag, size=size)
            self.steps[0].append(send)
        self.steps[1].append(SimulatedStep("compute", cost=3.0))
        for size, tag in ((8, 90), (EAGER * 100, 91)):
            take = SimulatedStep(
                "recv", "MPI_Recv", self.cost(), communicator=_WORLD, source=0, source_tag=tag, size=size
            )
            self.steps[1].append(take)


def _named(step: SimulatedStep, function: str, cost: float, handle: int) -> SimulatedStep:
    return SimulatedStep(**{**vars(step), "function": function, "cost": cost, "handle": handle})


def _tagged(step: SimulatedStep, tag: int) -> SimulatedStep:
    return SimulatedStep(**{**vars(step), "to_tag": tag, "source_tag": tag})


def random_program(seed: int, kind: str = "") -> list[list[SimulatedStep]]:
    """Returns the steps of each rank of a random program, some of them one-sided (`exposure` or `locks`) or collective
    calls that wait for some ranks (`partial`).
    """
    writer = _Writer(seed)
    writer.everybody("MPI_Init")
    writer.large_message()
    kinds = (writer.message, writer.message, writer.message, writer.exchange, writer.wait, writer.wait, writer.together)
    kinds += (getattr(writer, kind),) * 3 if kind else ()
    for _ in range(writer.random.randint(1, 40)):
        writer.random.choice(kinds)()
    for rank in range(writer.ranks):
        if writer.open[rank]:
            writer.add(rank, SimulatedStep("wait", "MPI_Waitall", _BUFFERING, handles=tuple(writer.open[rank])))
    writer.everybody("MPI_Finalize")
    return writer.steps


def events_of_run(run: SimulatedRun) -> Records:
    """Returns the rows that a log has of a run."""
    lines = [RankLine() for _ in run.calls]
    for line, calls in zip(lines, run.calls, strict=True):
        posts: dict[int, int] = {}
        for call in calls:
            _write(line, call, posts)
    return events_of(*lines)


def _write(line: RankLine, call: SimulatedCall, posts: dict[int, int]) -> None:
    step = call.step
    times = (step.function, call.start, call.end)
    if step.handle >= 0:
        posts[step.handle] = len(line.rows)
    if step.what == "file":
        line.file(call.start, call.end, step.file, step.function)
        return
    shared = {"communicator": step.communicator, "bytes": step.size}
    if step.what in ("send", "isend", "sendrecv"):
        line.add("send" if step.what == "sendrecv" else step.what, *times, peer=step.to, tag=step.to_tag, **shared)
    if step.what in ("recv", "irecv", "sendrecv"):
        kind = "recv" if step.what == "sendrecv" else step.what
        line.add(kind, *times, peer=step.source, tag=step.source_tag, **shared)
    if step.what in ("all", "iall"):
        line.add(step.what, *times, size=len(step.members), peer=step.root, **shared)
        if step.file_cost:
            line.file(call.free, call.free + step.file_cost, step.file, "pwrite")
    if step.what == "win":
        ends = step.function in ("MPI_Win_complete", "MPI_Win_wait")
        line.epoch(
            step.function.removeprefix("MPI_Win_"),
            call.start,
            call.end,
            *(() if ends else step.members),
            exclusive=step.exclusive,
        )
        for row in line.rows[-(1 if ends else len(step.members)) :]:
            row["communicator"] = step.communicator
    for handle, part in zip(step.handles, call.parts if step.what == "wait" else (), strict=True):
        message = part.step
        is_receive = part.group is None and not part.sends
        peer, tag = (message.source, message.source_tag) if is_receive else (message.to, message.to_tag)
        line.add("done", *times, request=posts[handle], peer=peer, tag=tag)
