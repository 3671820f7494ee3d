"""Computes POSIX records, call by call, from the meaning of the counters."""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass, field

from calllist import ListedCall
from meaning import BUCKETS, CallTimes, bucket, record_id
from rules import Rules

MEMORY_ALIGNMENT = 8
STDOUT = 1

OPENS = {"open": 1, "open64": 1, "creat": 1, "creat64": 1}
# For each call: True for a write, the number of the argument with the offset or None, and the number of the argument
# with the misalignment.
TRANSFERS = {
    "read": (False, None, 2),
    "write": (True, None, 2),
    "pread": (False, 2, 3),
    "pwrite": (True, 2, 3),
    "pread64": (False, 2, 3),
    "pwrite64": (True, 2, 3),
    "readv": (False, None, 3),
    "writev": (True, None, 3),
    "preadv": (False, 3, 4),
    "pwritev": (True, 3, 4),
    "preadv64": (False, 3, 4),
    "pwritev64": (True, 3, 4),
    "preadv2": (False, 3, 5),
    "pwritev2": (True, 3, 5),
    "preadv64v2": (False, 3, 5),
    "pwritev64v2": (True, 3, 5),
    "aio_read": (False, 2, 3),
    "aio_write": (True, 2, 3),
    "lio_read": (False, 2, 3),
    "lio_write": (True, 2, 3),
}


def program_of(name: str) -> int:
    """Returns the number of the program with which a file's name begins; -1 if it begins with none."""
    for part in name.split("/"):
        number = part.split(".")[0]
        if number.isdigit() and "." in part:
            return int(number)
    return -1


@dataclass
class PosixFile:
    """The values that the record of a file must have."""

    name: str
    ints: dict[str, int] = field(default_factory=dict)
    sizes: dict[bool, dict[int, int]] = field(default_factory=lambda: {False: {}, True: {}})
    first_sizes: dict[int, int] = field(
        default_factory=dict
    )  # Counts of the first 32 different sizes, reads and writes together.
    strides: dict[int, int] = field(default_factory=dict)
    first_strides: dict[int, int] = field(default_factory=dict)
    opened: CallTimes = field(default_factory=CallTimes)
    closed: CallTimes = field(default_factory=CallTimes)
    moved: dict[bool, CallTimes] = field(default_factory=lambda: {False: CallTimes(), True: CallTimes()})
    synced: int = 0  # Time in nanoseconds.
    asked: int = 0
    last_was_write: bool | None = None
    last_byte: dict[bool, int] = field(default_factory=lambda: {False: 0, True: 0})
    held: bool = False  # True if a call on a descriptor of this open file was counted.
    offset: int = 0  # Position that Darshan assumes for all descriptors of the file.
    transfers: list[tuple[bool, int, int, int, int]] = field(default_factory=list)

    def add(self, counter: str, n: int = 1) -> None:
        self.ints[counter] = self.ints.get(counter, 0) + n

    def is_recorded(self) -> bool:
        return bool(self.ints) or self.closed.start is not None

    def forget_last_bytes(self) -> None:
        self.last_byte = {False: 0, True: 0}


@dataclass
class OpenFile:
    """An open file description of the kernel, which duplicated descriptors share."""

    file: PosixFile
    append: bool = False
    inherited: bool = False  # True if the process was given it, and did not open it.
    streamed: bool = False
    # True if a call on the descriptor moved the position, so that a stream on it no longer knows the position.
    moved_here: bool = False


def count_first(counts: dict[int, int], value: int) -> None:
    """Counts a value as Darshan does: only the first 32 different values are counted, and 0 is one of them."""
    if value in counts or len(counts) < 32:
        counts[value] = counts.get(value, 0) + 1


class PosixModel:
    """The files of one process. `folder` is its working directory, by its real path."""

    def __init__(
        self,
        folder: str,
        rules: Rules,
        block_size: int,
        slots: dict[tuple[int, int], int],
        # For each stream: the path of its file, and whether the stream appends.
        streams: dict[tuple[int, int], tuple[str, bool]],
        alignment: int,  # Alignment of opened files; differs from the block size for striped files.
    ) -> None:
        self.folder = folder
        self.slots = slots
        self.streams = streams
        self.rules = rules
        self.block_size = block_size
        self.alignment = alignment
        self.files: dict[str, PosixFile] = {}
        self.fds: dict[int, list[OpenFile]] = {}
        self.links: dict[str, str] = {}
        self.kept_output: list[OpenFile | None] = []
        self.mixed_up: set[int] = set()  # Numbers of the programs for which Darshan's records are not predictable.
        self.handlers = {
            "mkstemp": self.made,
            "mkostemps": self.made,
            "openat": self.openat,
            "openat64": self.openat,
            "openat2": self.openat,
            "inherits": self.inherits,
            "stdout_to": self.stdout_to,
            "stdout_back": self.stdout_back,
            "dup": self.dup,
            "dup2": self.dup,
            "dup3": self.dup,
            "fcntl_dupfd": self.dup,
            "fcntl_dupfd_cloexec": self.dup,
            "close": self.close,
            "close_range": self.close,
            "lseek": self.seek,
            "lseek64": self.seek,
            "stat": self.stat,
            "stat64": self.stat,
            "lstat": self.stat,
            "lstat64": self.stat,
            "fstatat": self.statat,
            "statx": self.statat,
            "fstat": self.fstat,
            "fstat64": self.fstat,
            "statx_fd": self.fstat,
            "fsync": self.sync,
            "fdatasync": self.sync,
            "mmap": self.mmap,
            "rename": self.rename,
            "renameat": self.renameat,
            "renameat2": self.renameat,
            "symlink": self.symlink,
            "sendfile": self.between,
            "copy_file_range": self.between,
            "fileno": self.fileno,
            "fclose": self.fclose,
            "freopen": self.freopen,
        }
        self.handlers.update(dict.fromkeys(OPENS, self.open))
        self.handlers.update(dict.fromkeys(TRANSFERS, self.transfer))

    def see(self, call: ListedCall) -> None:
        handler = self.handlers.get(call.name)
        if handler:
            handler(call)

    # ---------------------------------------------------------------- names

    def path(self, program: int, word: str, base: str | None = None) -> str:
        """Returns the path for a word of the call list, spelt as the program spells it."""
        name = word[1:]
        if name.startswith("-"):
            spelled = name[1:]
        elif name.startswith("/"):
            return f"{self.folder}/{program}.{name[1:]}"
        elif name.startswith("./"):
            spelled = f"./{program}.{name[2:]}"
        elif name.startswith("../"):
            spelled = f"..//{os.path.basename(self.folder)}/{program}.{name[3:]}"
        else:
            spelled = f"{program}.{name}"
        return f"{base or self.folder}/{spelled}"

    def canonical(self, path: str) -> str:
        """Returns the path by which a record is named."""
        path = os.path.normpath(path) if self.rules.ours("folders") else self.squeezed(path)
        return self.followed(path) if self.rules.ours("links") else path

    def followed(self, path: str) -> str:
        """Returns the path without links, resolved folder by folder."""
        for _ in range(8):
            for link, target in self.links.items():
                if path == link or path.startswith(f"{link}/"):
                    path = target + path[len(link) :]
        return path

    def entry(self, path: str) -> str:
        """Returns the resolved path of a name; if the name is a link, the path of the link itself."""
        folder, name = os.path.split(os.path.normpath(path))
        return f"{self.canonical(folder)}/{name}"

    @staticmethod
    def squeezed(path: str) -> str:
        while "//" in path:
            path = path.replace("//", "/")
        while "/./" in path:
            path = path.replace("/./", "/")
        return path

    def at(self, slot_fd: int, program: int, word: str) -> str:
        base = self.folder
        if slot_fd >= 0 and slot_fd in self.fds:
            base = self.fds[slot_fd][-1].file.name
        return self.canonical(self.path(program, word, base))

    def file(self, name: str) -> PosixFile:
        if name not in self.files:
            self.files[name] = PosixFile(name)
            if self.rules.recorder == "darshan":
                self.files[name].ints["MMAPS"] = -1
        return self.files[name]

    def open_file(self, fd: int) -> OpenFile | None:
        stack = self.fds.get(fd)
        return stack[-1] if stack else None

    def put(self, fd: int, opened: OpenFile) -> None:
        """Registers the file of a descriptor. Darshan keeps the earlier file as well, and may use either."""
        if self.rules.ours("taken over"):
            self.fds[fd] = [opened]
            return
        stack = self.fds.setdefault(fd, [])
        if stack and stack[-1] is not opened:
            self.mixed_up |= {program_of(opened.file.name), program_of(stack[-1].file.name)}
        stack.append(opened)

    def drop(self, fd: int) -> None:
        stack = self.fds.get(fd)
        if stack:
            stack.pop()

    # ---------------------------------------------------------------- opening and closing

    def opens(self, call: ListedCall, name: str, mode: int, append: bool) -> None:
        file = self.file(name)
        if mode:
            file.ints["MODE"] = mode
        file.offset = 0
        file.forget_last_bytes()
        self.add_open(call, int(call.result), OpenFile(file, append))

    def add_open(self, call: ListedCall, fd: int, opened: OpenFile) -> None:
        opened.file.held = True
        opened.file.add("OPENS")
        opened.file.opened.add(call.begin, call.end)
        opened.file.asked += call.end - call.begin
        self.put(fd, opened)

    def open(self, call: ListedCall) -> None:
        if call.result < 0:
            return
        flags = "O_CREAT" if call.name.startswith("creat") else call.args[2]
        mode = call.args[2] if call.name.startswith("creat") else call.args[3] if len(call.args) > 3 else "0"
        name = self.canonical(self.path(call.program, call.args[1]))
        self.opens(call, name, int(mode, 8) if "O_CREAT" in flags else 0, "O_APPEND" in flags)

    def openat(self, call: ListedCall) -> None:
        if call.result < 0:
            return
        flags = call.args[3]
        mode = int(call.args[4], 8) if "O_CREAT" in flags and len(call.args) > 4 else 0
        name = self.at(self.slot_fd(call, 1), call.program, call.args[2])
        self.opens(call, name, mode, "O_APPEND" in flags)

    def slot_fd(self, call: ListedCall, argument: int) -> int:
        """Returns the descriptor in another slot than the call's own."""
        slot = int(call.args[argument])
        return self.slots.get((call.program, slot), -1) if slot >= 0 else -1

    def made(self, call: ListedCall) -> None:
        if call.result < 0:
            return
        letters = int(call.extra[0]).to_bytes(8, "little", signed=True)[:6].decode()
        suffix = ".x" if call.name == "mkostemps" else ""
        name = self.canonical(self.path(call.program, call.args[1])) + letters + suffix
        self.opens(call, name, 0, call.name == "mkostemps")

    def dup(self, call: ListedCall) -> None:
        opened = self.open_file(call.fd)
        if call.result >= 0 and opened:
            opened.file.add("DUPS")
            self.add_open(call, call.result, opened)
        elif call.result >= 0:
            self.gone(call.result)

    def inherits(self, call: ListedCall) -> None:
        """Opens a file under the kernel's name for it; a file without a name is not recorded."""
        name = struct.pack("<3q", *call.extra).split(b"\0")[0].decode()
        if name:
            file = self.file(f"{self.folder}/{name}")
            opened = self.open_file(call.before) or OpenFile(file, append=bool(call.result & os.O_APPEND))
            opened.inherited = True
            opened.streamed |= call.fd == STDOUT
            self.put(call.fd, opened)

    def stdout_to(self, call: ListedCall) -> None:
        """Redirects the standard output. The interpreter keeps a copy of its descriptor until stdout_back, and makes
        this copy without the C library.
        """
        self.kept_output = self.kept_output or [self.open_file(STDOUT)]
        opened = self.open_file(call.fd)
        if opened:
            opened.streamed = True
        self.dup(call)

    def stdout_back(self, call: ListedCall) -> None:
        kept, self.kept_output = self.kept_output, []
        if call.result < 0:
            return
        self.gone(call.result)
        if kept and kept[0]:
            kept[0].file.add("DUPS")
            self.add_open(call, call.result, kept[0])

    def close(self, call: ListedCall) -> None:
        opened = self.open_file(call.fd)
        if not opened or call.result < 0 or (call.name == "close_range" and not self.rules.ours("close_range")):
            return
        self.drop(call.fd)
        opened.file.held = True
        opened.file.forget_last_bytes()
        opened.file.closed.add(call.begin, call.end)
        opened.file.asked += call.end - call.begin

    def fileno(self, call: ListedCall) -> None:
        stream = self.streams.get((call.program, call.slot))
        if call.result < 0 or stream is None:
            return
        name, append = stream
        file = self.file(name)
        file.add("FILENOS")
        opened = self.open_file(call.result)
        if not opened or opened.file is not file:
            opened = OpenFile(file, append)
        opened.streamed = True
        self.add_open(call, call.result, opened)

    def fclose(self, call: ListedCall) -> None:
        self.gone(call.fd)

    def freopen(self, call: ListedCall) -> None:
        self.gone(call.fd)

    def gone(self, fd: int) -> None:
        if self.rules.recorder == "iolens":
            self.fds.pop(fd, None)

    # ---------------------------------------------------------------- moving bytes

    def transfer(self, call: ListedCall) -> None:
        write, offset_argument, misalign = TRANSFERS[call.name]
        opened = self.open_file(call.fd)
        if call.result < 0 or not opened:
            return
        offset = self.offset_of(call, opened, write, offset_argument)
        aligned = len(call.args) <= misalign or int(call.args[misalign]) % MEMORY_ALIGNMENT == 0
        opened.moved_here |= offset_argument is None or call.args[offset_argument] == "-1"
        self.moves(call, opened.file, write, offset, call.result, aligned)

    def offset_of(self, call: ListedCall, opened: OpenFile, write: bool, argument: int | None) -> int:
        given = None if argument is None else int(call.args[argument])
        appends = write and (opened.append or "RWF_APPEND" in call.args)
        if appends and self.rules.ours("append"):
            return (call.after if given in (None, -1) else call.size) - call.result
        if (
            given == -1 and self.rules.recorder == "iolens"
        ):  # The call is preadv2 with offset -1, which means the descriptor's position.
            given = None
        if given is not None:
            return given
        return call.before if self.rules.ours("position") else opened.file.offset

    def moves(
        self, call: ListedCall, file: PosixFile, write: bool, offset: int, size: int, aligned: bool = True
    ) -> None:
        end = offset + size - 1
        file.held = True
        file.transfers.append((write, offset, size, call.begin, call.end))
        kind, kinds, past = ("WRITE", "WRITES", "WRITTEN") if write else ("READ", "READS", "READ")
        last = file.last_byte[write]
        file.add(kinds)
        file.add(f"BYTES_{past}", size)
        if size or not self.rules.ours("empty"):
            file.ints[f"MAX_BYTE_{past}"] = max(file.ints.get(f"MAX_BYTE_{past}", 0), end)
        file.add(f"SEQ_{kinds}", offset > last)
        file.add(f"CONSEC_{kinds}", offset == last + 1)
        stride = offset - last - 1 if offset > last and last != 0 and offset > 0 else 0
        file.last_byte[write] = end
        file.offset = offset + size
        file.add(f"SIZE_{kind}_{BUCKETS[bucket(size)]}")
        file.sizes[write][size] = file.sizes[write].get(size, 0) + 1
        file.strides[stride] = file.strides.get(stride, 0) + 1
        count_first(file.first_sizes, size)
        count_first(file.first_strides, stride)
        file.add("MEM_NOT_ALIGNED", not aligned)
        file.add("FILE_NOT_ALIGNED", offset % self.alignment != 0)
        file.add("RW_SWITCHES", file.last_was_write is not None and file.last_was_write != write)
        file.last_was_write = write
        file.moved[write].add(call.begin, call.end, size)

    def between(self, call: ListedCall) -> None:
        """Counts sendfile and copy_file_range as a read of one file and a write of the other."""
        if call.result < 0 or not self.rules.ours("between files"):
            return
        source, target = self.open_file(call.extra[0]), self.open_file(call.fd)
        given = [int(word) for word in call.args[2:4]]
        to_offset, from_offset = given if call.name == "copy_file_range" else (-1, given[0])
        if source:
            source.moved_here |= from_offset < 0
            offset = from_offset if from_offset >= 0 else call.extra[1]
            self.moves(call, source.file, False, offset, call.result)
        if target:
            target.moved_here |= to_offset < 0
            offset = to_offset if to_offset >= 0 else call.after - call.result
            self.moves(call, target.file, True, offset, call.result)

    # ---------------------------------------------------------------- the rest

    def meta(self, call: ListedCall, file: PosixFile, counter: str) -> None:
        file.add(counter)
        file.asked += call.end - call.begin

    def seek(self, call: ListedCall) -> None:
        opened = self.open_file(call.fd)
        if call.result >= 0 and opened:
            self.meta(call, opened.file, "SEEKS")
            opened.file.held = True
            opened.file.offset = call.result
            opened.moved_here = True

    def stat(self, call: ListedCall) -> None:
        self.stats(call, self.path(call.program, call.args[0]))

    def statat(self, call: ListedCall) -> None:
        base = self.open_file(self.slot_fd(call, 0))
        self.stats(call, self.path(call.program, call.args[1], base.file.name if base else None))

    def stats(self, call: ListedCall, path: str) -> None:
        if call.result == 0 and stat.S_ISREG(call.extra[0]) and self.rules.ours("stat"):
            self.meta(call, self.file(self.canonical(path)), "STATS")

    def fstat(self, call: ListedCall) -> None:
        opened = self.open_file(call.fd)
        if call.result == 0 and stat.S_ISREG(call.extra[0]) and opened and self.rules.ours("stat"):
            self.meta(call, opened.file, "STATS")
            opened.file.held = True

    def sync(self, call: ListedCall) -> None:
        opened = self.open_file(call.fd)
        if call.result == 0 and opened:
            opened.file.add("FSYNCS" if call.name == "fsync" else "FDSYNCS")
            opened.file.held = True
            opened.file.synced += call.end - call.begin

    def mmap(self, call: ListedCall) -> None:
        opened = self.open_file(call.fd)
        if call.result == 0 and opened and self.rules.ours("mmap"):
            opened.file.add("MMAPS")
            opened.file.held = True

    def rename(self, call: ListedCall) -> None:
        self.renames(call, call.args[0], call.args[1], None, None)

    def renameat(self, call: ListedCall) -> None:
        if self.rules.ours("renameat") and "RENAME_EXCHANGE" not in call.args:
            from_base = self.open_file(self.slot_fd(call, 0))
            to_base = self.open_file(self.slot_fd(call, 2))
            names = [base.file.name if base else None for base in (from_base, to_base)]
            self.renames(call, call.args[1], call.args[3], *names)

    def renames(
        self, call: ListedCall, source: str, target: str, source_base: str | None, target_base: str | None
    ) -> None:
        if call.result != 0:
            return
        spelled = [self.path(call.program, source, source_base), self.path(call.program, target, target_base)]
        find = self.entry if self.rules.ours("links") else self.canonical
        name, new_name = map(find, spelled)
        if name in self.links:
            self.links[new_name] = self.links.pop(name)
            return
        if name not in self.files or not self.files[name].is_recorded():
            return
        self.meta(call, self.files[name], "RENAME_SOURCES")
        new = self.file(new_name)
        new.add("RENAME_TARGETS")
        number = record_id(name)
        new.ints["RENAMED_FROM"] = new.ints.get("RENAMED_FROM") or (number - (1 << 64) if number >> 63 else number)

    def symlink(self, call: ListedCall) -> None:
        """Adds a link. TARGET is used as the list spells it, relative to the folder of the link."""
        if call.result == 0:
            target = os.path.normpath(self.path(call.program, call.args[0]))
            self.links[self.entry(self.path(call.program, call.args[1]))] = target

    # ---------------------------------------------------------------- the record

    def expected_ints(self, file: PosixFile) -> dict[str, int]:
        """Returns every counter whose value follows from the calls; the largest times and the most common values are
        compared separately.
        """
        want = dict(file.ints)
        want["MEM_ALIGNMENT"] = MEMORY_ALIGNMENT
        want["FILE_ALIGNMENT"] = self.alignment if file.held else self.block_size
        return want

    def counted_sizes(self, file: PosixFile) -> dict[int, int]:
        if not self.rules.ours("values"):
            return file.first_sizes
        both = dict(file.sizes[False])
        for value, n in file.sizes[True].items():
            both[value] = both.get(value, 0) + n
        return both

    def counted_strides(self, file: PosixFile) -> dict[int, int]:
        return file.strides if self.rules.ours("values") else file.first_strides
