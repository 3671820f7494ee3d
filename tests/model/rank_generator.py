"""Random programs for several ranks, with files that all, some or one of them use, by POSIX, stdio and MPI-IO."""

from __future__ import annotations

from calllist import ListedProgram
from generator import WHOLE, Writer

SHARED = ("a", "b")
MOVES = "read write iread iwrite read_at write_at iread_at iwrite_at".split()
COLLECTIVE = [f"{verb}{at}_all{end}" for verb in ("read", "write") for at in ("", "_at") for end in ("", "_split")]
AMODES = ["MPI_MODE_CREATE|MPI_MODE_RDWR"] * 5 + [
    "MPI_MODE_CREATE|MPI_MODE_WRONLY",
    "MPI_MODE_RDONLY",
    "MPI_MODE_CREATE|MPI_MODE_EXCL|MPI_MODE_RDWR",
    "MPI_MODE_CREATE|MPI_MODE_RDWR|MPI_MODE_DELETE_ON_CLOSE",
]
PLAIN = {"a": "w", "a+": "r+"}
ALONE = (Writer.append_log, Writer.held_bytes, Writer.linked_folders)
"""Programs for one rank alone, because they change names and ends of files, and other ranks must not use these
files.
"""


def shared(word: str) -> bool:
    """Returns True if a word of a call is the name of a file that any rank may use."""
    return word.strip("@/.") in SHARED


def without_appending(line: str) -> str:
    words = line.replace("|O_APPEND", "").replace("mkostemps", "mkstemp").split()
    if words[0] in ("fopen", "fopen64", "freopen", "fdopen"):
        words[-1] = PLAIN.get(words[-1], words[-1])
    return " ".join(words)


def passes_on(line: str) -> bool:
    """Returns True if the call (rename or link) turns a file of one rank into one that any rank may use, or back."""
    words = line.split()
    names = [word for word in words if word.startswith("@")]
    return words[0].startswith(("rename", "link")) and len({shared(name) for name in names}) == 2


class RankWriter(Writer):
    """Calls of one rank alone. It does not append to shared files, whose end depends on the other ranks."""

    def __init__(self, seed: str, rank: int) -> None:
        super().__init__(seed)
        self.own = f"r{rank}"

    def put(self, *words: object) -> None:
        line = " ".join(str(word) for word in words)
        self.lines.append(without_appending(line) if any(map(shared, line.split())) else line)

    def name(self) -> str:
        if self.random.random() < 0.5:
            return super().name().replace("c", "b")
        return "@" + self.own

    def link(self) -> None:
        self.open()

    def below_folder(self) -> None:
        self.open()

    def fdopen(self) -> None:
        self.stream_transfer()

    def append_log(self) -> None:
        self.strided()

    def printing(self) -> None:
        self.transfer()

    def part(self) -> list[str]:
        """Adds a few calls."""
        before = len(self.lines)
        if self.random.random() < 0.4:
            self.random.choice([work for work in WHOLE if work not in ALONE])(self)
        else:
            self.chaos()
        return self.lines[before:]


class JobWriter(RankWriter):
    """Writes a random program for all ranks of a job, with calls of single ranks and collective calls."""

    def __init__(self, seed: str, ranks: int) -> None:
        super().__init__(seed, 0)
        self.ranks = ranks
        self.each = [RankWriter(f"{seed}:{rank}", rank) for rank in range(ranks)]
        self.job: list[str] = []
        self.slot = 0

    def some_ranks(self) -> list[int]:
        if self.random.random() < 0.5:
            return list(range(self.ranks))
        return sorted(self.random.sample(range(self.ranks), self.random.randrange(1, self.ranks)))

    def apart(self) -> None:
        for rank in self.some_ranks():
            self.job += [f"rank {rank}", *self.each[rank].part()]

    def together(self) -> None:
        """Adds the same lines on all ranks, in slots that no rank's own part uses."""
        writer = RankWriter(f"{self.random.random()}", 0)
        writer.own = "a"
        writer.next_fd, writer.next_stream = 40, 20
        writer.new_fd = lambda: writer.fds.append(41 + len(writer.fds) % 20) or writer.fds[-1]  # type: ignore[method-assign]
        self.job += [f"rank 0-{self.ranks - 1}", *(line for line in writer.part() if not line.startswith("mkst"))]

    def mpi_file(self) -> None:
        self.slot = (self.slot + 1) % 30
        slot, type_ = self.slot, self.random.choice([1, 1, 4, 8])
        everyone = f"rank 0-{self.ranks - 1}"
        alone = self.random.random() < 0.25
        name, hints = f"@mpi.{self.random.choice('xyz')}", int(self.random.random() < 0.4)
        if alone:
            for rank in self.some_ranks():
                self.job += [f"rank {rank}", f"mpi_open {slot} self {name} {self.random.choice(AMODES)} {hints}"]
                self.job += [self.move(slot, type_, MOVES) for _ in range(self.random.randrange(0, 6))]
                self.job += [f"mpi_close {slot}"] if self.random.random() < 0.8 else []
            return
        amode = self.random.choice(AMODES)
        self.job += [everyone, f"mpi_open {slot} world {name} {amode} {hints}"]
        if self.random.random() < 0.4:
            self.job.append(
                f"mpi_set_view {slot} {self.random.choice([0, 0, 4096])} {type_} {self.random.randrange(2)}"
            )
        for _ in range(self.random.randrange(1, 6)):
            self.step(slot, type_, amode, everyone)
        if self.random.random() < 0.8:
            self.job += [everyone, f"mpi_close {slot}"]

    def step(self, slot: int, type_: int, amode: str, everyone: str) -> None:
        """Chooses a call that the file's mode allows, because ranks may wait for ever in a forbidden collective
        call.
        """
        forbidden = "write" if "RDONLY" in amode else "read" if "WRONLY" in amode else "nothing"
        which = self.random.random()
        if which < 0.45:
            for rank in self.some_ranks():
                moves = [self.move(slot, type_, MOVES) for _ in range(self.random.randrange(1, 4))]
                self.job += [f"rank {rank}", *moves]
        elif which < 0.85:
            op = self.random.choice([op for op in COLLECTIVE if forbidden not in op])
            for rank in range(self.ranks):
                self.job += [f"rank {rank}", self.move(slot, type_, [op])]
        else:
            whole = [] if forbidden == "write" else [f"mpi_set_size {slot} 65536", f"mpi_preallocate {slot} 8192"]
            self.job += [everyone, self.random.choice([f"mpi_sync {slot}", "mpi_barrier", *whole])]

    def move(self, slot: int, type_: int, ops: list[str]) -> str:
        op, items = self.random.choice(ops), self.some_size() // type_
        offset = self.random.randrange(0, 20) * max(1, items) if "_at" in op else ""
        return f"mpi_{op} {slot} {items} {type_} {offset}".rstrip()


def make_job(number: int, seed: int, ranks: int) -> ListedProgram:
    """Makes program `number` of the hunt `seed` for this many ranks. The same numbers always make the same program."""
    writer = JobWriter(f"{seed}:{number}:{ranks}", ranks)
    for _ in range(writer.random.choice([1, 1, 2, 3])):
        writer.random.choices([writer.apart, writer.together, writer.mpi_file], [4, 2, 4])[0]()
    if any(map(passes_on, writer.job)):
        return ListedProgram(number, [without_appending(line) for line in writer.job])
    return ListedProgram(number, writer.job)
