"""Random programs: ordinary ones, and ones that an adversary would write."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from calllist import ListedProgram

EDGES = [100, 1024, 10240, 102400]
FAR = [1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30, 1 << 31, 1 << 32, 1 << 40, (1 << 62) - 5000]
NAMES = ["a", "b", "c"]
CREATE = ["O_RDWR|O_CREAT", "O_RDWR|O_CREAT|O_TRUNC", "O_RDWR|O_CREAT|O_APPEND"]
OPEN_FLAGS = [
    *CREATE,
    *["O_RDWR|O_CREAT"] * 4,
    "O_RDONLY",
    "O_WRONLY|O_CREAT",
    "O_WRONLY|O_APPEND|O_CREAT",
    "O_RDWR|O_EXCL|O_CREAT",
]
STREAM_MODES = ["w", "w+", "w+", "r", "r+", "a", "a+"]
POSITIONAL = ["pread", "pwrite", "pread64", "pwrite64"]
PARTS_AT = ["preadv", "pwritev", "preadv64", "pwritev64"]
PARTS_FLAGS = ["preadv2", "pwritev2", "preadv64v2", "pwritev64v2"]
THREADED = 0.05  # Share of programs that have threads.
SPAWNING = 0.03  # Share of programs with descriptors that start another process.
LEFT_OPEN = 0.3  # Share of programs with streams that are left open until the process ends.
AIO = ["aio_read", "aio_write", "lio_read", "lio_write"]


@dataclass
class WideStream:
    """A stream of wide characters, and what decides if fseek returns on it."""

    slot: int
    mode: str
    own_buffer: bool  # setvbuf gave it a buffer.
    positioned_empty: bool = False  # True if rewind or fseek was called before a call had letters.
    has_letters: bool = False  # A call read or wrote letters, or found the end of the file.

    def seek_returns(self) -> bool:
        """Returns False where fseek of glibc 2.36 may loop for ever, with and without the profiler.

        fseek decodes the bytes in front of the new position into the stream's buffer of letters, and tries again and
        again if they do not fit. Beside a buffer from setvbuf, that of letters holds a quarter as many letters as the
        other holds bytes. If rewind or fseek came before the first letters, it has no room until letters are written,
        or read in a stream to which no empty text was written before.
        """
        return not self.own_buffer and not self.positioned_empty


class Writer:
    """The lines of one program, and the descriptors and streams that they probably left open."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.fds: list[int] = []
        self.folders: list[int] = []
        self.streams: list[int] = []
        self.next_fd = 0
        self.next_stream = 0
        self.links: set[str] = set()
        self.sizes = self.some_sizes()

    def put(self, *words: object) -> None:
        self.lines.append(" ".join(map(str, words)))

    # ---------------------------------------------------------------- values

    def some_sizes(self) -> list[int]:
        """Chooses the sizes that this program prefers: a few, or many."""
        choose = self.random.random()
        if choose < 0.5:
            return [self.size() for _ in range(self.random.choice([1, 2, 3, 5]))]
        if choose < 0.9:
            return [self.size() for _ in range(12)]
        return [self.random.randrange(1, 3000) for _ in range(60)]

    def size(self) -> int:
        choose = self.random.random()
        if choose < 0.12:
            return self.random.choice([0, 1, 2])
        if choose < 0.4:
            return self.random.choice(EDGES[:3]) + self.random.choice([-1, 0, 1])
        if choose < 0.45:
            return EDGES[3] + self.random.choice([-1, 0, 1])
        if choose < 0.455:
            return self.random.choice(FAR[:2]) + self.random.choice([-1, 0, 1])
        return self.random.choice([8, 16, 100, 512, 4096, 4096, 8192, self.random.randrange(1, 20000)])

    def some_size(self) -> int:
        return self.random.choice(self.sizes) if self.random.random() < 0.9 else self.size()

    def offset(self) -> int:
        choose = self.random.random()
        if choose < 0.25:
            return self.random.choice([0, 0, 1, 4095, 4096, 4097])
        if choose < 0.85:
            return self.random.choice(self.sizes) * self.random.randrange(0, 12) + self.random.choice([0, 0, 0, 1])
        if choose < 0.95:
            return self.random.randrange(0, 100000)
        return self.random.choice(FAR) + self.random.choice([-1, 0, 1])

    def misalign(self) -> list[int]:
        return [self.random.choice([0, 1, 4, 8])] if self.random.random() < 0.2 else []

    def name(self) -> str:
        style = "@" if self.random.random() < 0.9 else self.random.choice(["@/", "@./", "@../"])
        return style + self.random.choice(NAMES)

    def fd(self) -> int:
        if not self.fds:
            self.open()
        return self.random.choice(self.fds)

    def stream(self) -> int:
        if not self.streams:
            self.fopen()
        return self.random.choice(self.streams)

    def new_fd(self) -> int:
        self.next_fd = (self.next_fd + 1) % 40
        self.fds.append(self.next_fd)
        return self.next_fd

    # ---------------------------------------------------------------- single calls

    def open(self) -> None:
        which = self.random.random()
        if which < 0.75:
            flags = self.random.choice(OPEN_FLAGS)
            mode = self.random.choice(["0644", "0644", "0600", "0"]) if "CREAT" in flags else ""
            self.put(self.random.choice(["open", "open64"]), self.new_fd(), self.name(), flags, mode)
        elif which < 0.85:
            self.put(self.random.choice(["creat", "creat64"]), self.new_fd(), self.name(), "0640")
        elif which < 0.95:
            op = self.random.choice(["openat", "openat", "openat2"])
            self.put(op, self.new_fd(), -1, self.name(), self.random.choice(CREATE), "0644")
        else:
            self.put(self.random.choice(["mkstemp", "mkostemps"]), self.new_fd(), "@t")

    def below_folder(self) -> None:
        if not self.folders:
            self.put("mkdir", "@d", "0755")
            self.next_fd = (self.next_fd + 1) % 40
            self.folders.append(self.next_fd)
            self.put("open", self.next_fd, "@d", "O_RDONLY|O_DIRECTORY")
        folder = self.folders[0]
        op = self.random.choice(
            ["openat", "openat64", "openat2", "statx", "fstatat", "unlinkat", "mkdirat", "renameat"]
        )
        name = self.random.choice(["@-a", "@-b", "@-./a"])
        if op.startswith("openat"):
            self.put(op, self.new_fd(), folder, name, self.random.choice(CREATE), "0644")
        elif op == "renameat":
            self.put(op, folder, name, folder, self.random.choice(["@-a", "@-b"]))
        else:
            self.put(op, folder, name, 0 if op != "mkdirat" else "0755")

    def transfer(self) -> None:
        fd = self.fd()
        which = self.random.random()
        size, parts = self.some_size(), self.random.choice([1, 2, 3, 7])
        if which < 0.4:
            self.put(self.random.choice(["read", "write"]), fd, size, *self.misalign())
        elif which < 0.75:
            self.put(self.random.choice(POSITIONAL), fd, size, self.offset(), *self.misalign())
        elif which < 0.83:
            self.put(self.random.choice(["readv", "writev"]), fd, size, parts, *self.misalign())
        elif which < 0.91:
            self.put(self.random.choice(PARTS_AT), fd, size, parts, self.offset(), *self.misalign())
        elif which < 0.985:
            offset = -1 if self.random.random() < 0.3 else self.offset()
            op, misalign = self.random.choice(PARTS_FLAGS), self.misalign()
            appends = op.startswith("pwritev2") and self.random.random() < 0.1
            self.put(op, fd, size, parts, offset, "RWF_APPEND" if appends else 0, *misalign)
        else:
            self.put(self.random.choice(AIO), fd, size, min(self.offset(), 1 << 40), *self.misalign())

    def seek(self) -> None:
        op, fd = self.random.choice(["lseek", "lseek64"]), self.fd()
        which = self.random.choice(["SEEK_SET", "SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE"])
        offset = self.offset() if which == "SEEK_SET" else self.random.choice([0, 0, 1, -1, -100, 5000])
        self.put(op, fd, offset, which)

    def duplicate(self) -> None:
        old = self.fd()
        which = self.random.choice(["dup", "dup2", "dup2", "dup3", "fcntl_dupfd", "fcntl_dupfd_cloexec"])
        onto = self.random.random() < 0.4 and which in ("dup2", "dup3")
        new = self.random.choice(self.fds) if onto else self.new_fd()
        self.put(which, new, old, *([10] if which.startswith("fcntl") else []))

    def close(self) -> None:
        fd = self.fd()
        self.fds.remove(fd)
        self.put("close" if self.random.random() < 0.95 else "close_range", fd)

    def look(self) -> None:
        op = self.random.choice(
            ["stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "statx", "statx_fd", "fstatat"]
        )
        if op in ("fstat", "fstat64", "statx_fd"):
            self.put(op, self.fd())
        elif op in ("statx", "fstatat"):
            self.put(op, -1, self.name(), 0)
        else:
            self.put(op, self.name())

    def change(self) -> None:
        which = self.random.random()
        if which < 0.3:
            self.put("rename", self.name(), self.name())
        elif which < 0.4:
            self.put("renameat", -1, self.name(), -1, self.name())
        elif which < 0.5:
            flag = self.random.choice(["0", "RENAME_NOREPLACE", "RENAME_EXCHANGE"])
            self.put("renameat2", -1, self.name(), -1, self.name(), flag)
        elif which < 0.7:
            self.put(self.random.choice(["unlink", "remove"]), self.name())
        elif which < 0.75:
            self.put("link", self.name(), "@h" + str(self.random.randrange(3)))
        elif which < 0.85:
            self.put(self.random.choice(["ftruncate", "ftruncate64"]), self.fd(), self.offset())
        elif which < 0.9:
            self.put(self.random.choice(["truncate", "truncate64"]), self.name(), self.offset())
        elif which < 0.95:
            self.put("posix_fallocate", self.fd(), 0, self.random.randrange(1, 20000))
        else:
            self.put("fallocate", self.fd(), "FALLOC_FL_KEEP_SIZE", 0, self.random.randrange(1, 20000))

    def link(self) -> None:
        """Makes a symbolic link, whose target never changes."""
        name = f"l{len(self.links)}"
        target = self.random.choice(NAMES)
        if name not in self.links and len(self.links) < 3:
            self.links.add(name)
            self.put("symlink", "@/" + target, "@" + name)
        elif name not in self.links and self.random.random() < 0.2:
            self.put("rename", "@l0", "@m0")
        self.put(
            "open", self.new_fd(), "@" + self.random.choice(sorted(self.links)), self.random.choice(CREATE), "0644"
        )

    def linked_folders(self) -> None:
        """Adds calls that open and rename files by paths with and without a link to their folder."""
        self.put("mkdir", "@d", "0755")
        self.put("symlink", "@/d", "@e")
        self.links.add("e")
        for _ in range(self.random.randrange(2, 12)):
            one, other = (f"@{self.random.choice(['d', 'e', './e'])}/{self.random.choice('ab')}" for _ in range(2))
            which = self.random.random()
            if which < 0.5:
                self.put("open", self.new_fd(), one, self.random.choice(CREATE), "0644")
            elif which < 0.8:
                self.put("rename", one, self.random.choice([other, self.name()]))
            elif which < 0.9:
                self.put("rename", self.name(), other)
            else:
                self.put(self.random.choice(["unlink", "stat"]), one)

    def printing(self) -> None:
        """Adds calls that redirect the standard output to a file and back, while other descriptors of that file are
        used.
        """
        for _ in range(self.random.randrange(1, 4)):
            self.put("print", self.random.choice([0, 1, 10, 500]))
            self.put("stdout_to", self.fd())
            for _ in range(self.random.randrange(0, 6)):
                work = self.random.choice([self.transfer, self.transfer, self.seek])
                printing = [("print", self.random.choice([0, 1, 10, 500])), ("print_flush",)]
                self.put(*self.random.choice(printing)) if self.random.random() < 0.5 else work()
            if self.random.random() < 0.7:
                self.put("print_flush")
                self.put("stdout_back")

    def between(self) -> None:
        if self.random.random() < 0.5:
            self.put("sendfile", self.fd(), self.fd(), self.random.choice([-1, 0, 100]), self.some_size())
        else:
            offsets = [self.random.choice([-1, 0, 4096]) for _ in range(2)]
            self.put("copy_file_range", self.fd(), self.fd(), *offsets, self.some_size())

    def other(self) -> None:
        op = self.random.choice(["fsync", "fdatasync", "mmap"])
        self.put(op, self.fd(), *(["4096", "0"] if op == "mmap" else []))

    # ---------------------------------------------------------------- streams

    def fopen(self) -> None:
        self.next_stream = (self.next_stream + 1) % 20
        self.streams.append(self.next_stream)
        if self.random.random() < 0.05:
            self.put(self.random.choice(["tmpfile", "tmpfile64"]), self.next_stream)
            return
        op = self.random.choice(["fopen", "fopen", "fopen64"])
        self.put(op, self.next_stream, self.name(), self.random.choice(STREAM_MODES))

    def stream_transfer(self) -> None:
        stream, which = self.stream(), self.random.random()
        if which < 0.45:
            op = self.random.choice(
                ["fread", "fread", "fwrite", "fwrite", "fwrite", "fread_unlocked", "fwrite_unlocked"]
            )
            size = self.some_size()
            item = self.random.choice([1, 1, 1, 2, 8, size])
            self.put(op, stream, item, size // max(item, 1))
        elif which < 0.6:
            self.put(self.random.choice("fgetc getc getc_unlocked fputc putc putc_unlocked getw".split()), stream)
        elif which < 0.7:
            self.put(self.random.choice(["fputs", "fputs_unlocked", "fprintf", "vfprintf"]), stream, self.letters())
        elif which < 0.8:
            self.put(self.random.choice(["fgets", "fgets_unlocked"]), stream, self.random.choice([1, 2, 10, 300]))
        elif which < 0.86:
            self.put("getline", stream) if self.random.random() < 0.7 else self.put("getdelim", stream, 97)
        elif which < 0.9:
            self.put("fscanf", stream, self.random.choice([1, 5, 100]))
        else:
            self.put("putw", stream, 65)

    def letters(self) -> int:
        return self.random.choice([0, 1, 2, 10, 99, 100, 101, 4096, 5000])

    def stream_other(self) -> None:
        stream, which = self.stream(), self.random.random()
        if which < 0.4:
            op = self.random.choice(["fseek", "fseeko", "fseeko64"])
            whence = self.random.choice(["SEEK_SET", "SEEK_CUR", "SEEK_END"])
            self.put(op, stream, self.random.choice([0, 0, 1, -1, 10, 4096, 1 << 33]), whence)
        elif which < 0.5:
            self.put("fsetpos", stream, self.random.choice([0, 1, 4096]))
        elif which < 0.75:
            op = self.random.choice(["fflush", "fflush", "rewind", "ftell", "fflush_all"])
            self.put(op, *([stream] if op != "fflush_all" else []))
        elif which < 0.85:
            self.put("ungetc", stream, 120)
        elif which < 0.9:
            self.put("fileno", stream, self.new_fd())
        elif which < 0.95:
            file = self.name() if self.random.random() < 0.7 else "same"
            self.put("freopen", stream, file, self.random.choice(STREAM_MODES))
        else:
            self.put("clearerr", stream)

    def fclose(self) -> None:
        stream = self.stream()
        self.streams.remove(stream)
        self.put("fclose", stream)

    def fdopen(self) -> None:
        fd = self.fd()
        self.fds.remove(fd)
        self.next_stream = (self.next_stream + 1) % 20
        self.streams.append(self.next_stream)
        self.put("fdopen", self.next_stream, fd, self.random.choice(["r", "r+", "w", "a", "a+"]))

    # ---------------------------------------------------------------- whole programs

    def read_to_the_end(self) -> None:
        """Writes a file, then reads it in equal pieces until its end."""
        size, pieces = max(1, self.some_size()), self.random.randrange(1, 12)
        fd = self.new_fd()
        self.put("open", fd, "@a", "O_RDWR|O_CREAT|O_TRUNC", "0644")
        for _ in range(pieces):
            self.put("write", fd, size)
        self.put("lseek", fd, 0, "SEEK_SET")
        for _ in range(pieces + 1 + self.random.randrange(2)):
            self.put("read", fd, size)

    def append_log(self) -> None:
        for _ in range(self.random.randrange(1, 4)):
            fd = self.new_fd()
            self.put("open", fd, "@a", "O_WRONLY|O_CREAT|O_APPEND", "0644")
            for _ in range(self.random.randrange(1, 6)):
                self.put("write", fd, self.some_size())
            self.put("close", fd)
            self.fds.remove(fd)

    def strided(self) -> None:
        fd, size = self.new_fd(), self.some_size()
        self.put("open", fd, "@a", "O_RDWR|O_CREAT", "0644")
        op = self.random.choice(["pwrite", "pread", "pwrite64"])
        steps = [size + self.random.choice([1, 50, 4096, 100000]) for _ in range(self.random.choice([1, 1, 3, 6]))]
        at = self.random.choice([0, 0, 1, 4096])
        for i in range(self.random.randrange(2, 30)):
            self.put(op, fd, size, at)
            at += steps[i % len(steps)] if self.random.random() < 0.9 else 1

    def text_file(self) -> None:
        self.next_stream = (self.next_stream + 1) % 20
        stream = self.next_stream
        self.streams.append(stream)
        self.put("fopen", stream, "@b", "w+")
        for _ in range(self.random.randrange(1, 10)):
            self.put(self.random.choice(["fprintf", "fputs"]), stream, self.letters())
        self.put("rewind", stream)
        for _ in range(self.random.randrange(1, 12)):
            self.put(*self.random.choice([("fgets", stream, 300), ("fgetc", stream), ("getline", stream)]))

    def wide_file(self) -> None:
        """Adds calls on streams of wide characters, some of which stay open; such streams allow no other calls. None is
        unbuffered, because ftell is then wrong by a byte after reading a letter of several bytes.
        """
        streams = [self.wide_stream(slot) for slot in range(30, self.random.randrange(31, 34))]
        for _ in range(self.random.randrange(1, 25)):
            stream, which = self.random.choice(streams), self.random.random()
            if which < 0.5:
                self.wide_write(stream)
            elif which < 0.8:
                self.wide_read(stream, word=which >= 0.75)
            elif which < 0.95:
                self.wide_move(stream)
            else:
                self.put(*self.random.choice([("fflush_all",), ("ftell", stream.slot), ("fclose", stream.slot)]))
        if self.random.random() < 0.4:
            self.put("leave")

    def wide_stream(self, slot: int) -> WideStream:
        file, mode = self.random.choice(["@a", "@w"]), self.random.choice(STREAM_MODES)
        self.put("fopen", slot, file, mode)
        own_buffer = self.random.random() < 0.3
        if own_buffer:
            self.put("setvbuf", slot, self.random.choice([7, 100, 5000]))
        return WideStream(slot, mode, own_buffer)

    def wide_write(self, stream: WideStream) -> None:
        if self.random.random() < 0.4:
            op, letters = self.random.choice(["fputwc", "fputwc_unlocked", "putwc"]), 1
        else:
            op, letters = self.random.choice(["fputws", "fputws_unlocked", "fwprintf"]), self.letters()
        self.put(op, stream.slot, letters, self.random.choice([1, 1, 2, 3, 4]))
        stream.has_letters |= letters > 0 and stream.mode != "r"

    def wide_read(self, stream: WideStream, word: bool) -> None:
        if word:
            op, *room = "fwscanf", self.random.choice([1, 5, 100])
        else:
            op, *room = self.random.choice([("fgetws", 300), ("fgetws_unlocked", 2), ("getwc",)])
        self.put(op, stream.slot, *room)
        stream.has_letters |= stream.mode not in ("w", "a")

    def wide_move(self, stream: WideStream) -> None:
        op = self.random.choice(["rewind", "fflush", *["fseek"] * stream.seek_returns()])
        self.put(op, stream.slot, *([0, "SEEK_END"] if op == "fseek" else []))
        stream.positioned_empty |= op != "fflush" and not stream.has_letters

    def held_bytes(self) -> None:
        """Leaves bytes in several streams of few files when the process ends."""
        streams = range(1, self.random.randrange(3, 7))
        for stream in streams:
            modes = ["a", "a", "a+", "w", "w+", "r+"]
            self.put("fopen", stream, self.random.choice(["@a", "@a", "@b"]), self.random.choice(modes))
        for _ in range(self.random.randrange(1, 14)):
            stream, which = self.random.choice(streams), self.random.random()
            if which < 0.6:
                self.put(self.random.choice(["fputs", "fprintf"]), stream, self.letters())
            elif which < 0.75:
                whence = self.random.choice(["SEEK_SET", "SEEK_END"])
                self.put("fseek", stream, self.random.choice([0, 10, 3000]), whence)
            elif which < 0.9:
                others = [("fflush", stream), ("fscanf", stream, 5), ("freopen", stream, "@a", "a")]
                self.put(*self.random.choice(others))
            else:
                self.put("fflush_all")
        self.put("leave")

    def many_sizes(self) -> None:
        fd = self.new_fd()
        self.put("open", fd, "@a", "O_RDWR|O_CREAT", "0644")
        values = [self.random.randrange(1, 2000) for _ in range(self.random.choice([4, 6, 10, 30, 32, 33, 45]))]
        for _ in range(self.random.randrange(10, 120)):
            self.put(self.random.choice(["write", "pread"]), fd, self.random.choice(values), *([0] * 0))
            if self.lines[-1].startswith("pread"):
                self.lines[-1] += f" {self.random.choice(values)}"

    def chaos(self) -> None:
        actions: list[tuple[Callable[[], None], float]] = [
            (self.transfer, 10),
            (self.open, 2),
            (self.seek, 2),
            (self.duplicate, 1),
            (self.close, 1.2),
            (self.look, 1),
            (self.change, 1.2),
            (self.link, 0.15),
            (self.between, 0.4),
            (self.other, 0.5),
            (self.below_folder, 0.3),
            (self.printing, 0.1),
        ]
        streams: list[tuple[Callable[[], None], float]] = [
            (self.fopen, 1),
            (self.stream_transfer, 8),
            (self.stream_other, 3),
            (self.fclose, 0.7),
            (self.fdopen, 0.3),
        ]
        which = self.random.random()
        chosen = actions if which < 0.6 else streams if which < 0.85 else actions + streams
        works, weights = zip(*chosen, strict=True)
        for work in self.random.choices(works, weights, k=self.random.choice([3, 6, 12, 25, 40])):
            work()


class ThreadWriter(Writer):
    """Calls of one of several threads on files of its own.

    It closes no descriptor, because the kernel may give the number to another thread at once, and the journal does not
    show to which thread.
    """

    def __init__(self, seed: str, thread: int) -> None:
        super().__init__(seed)
        self.own = f"t{thread}"
        self.first_fd, self.first_stream = 12 * thread, 6 * thread
        self.next_fd, self.next_stream = self.first_fd, self.first_stream

    def name(self) -> str:
        return super().name()[:-1] + self.own + self.random.choice("ab")

    def new_fd(self) -> int:
        if len(self.fds) == 12:
            return self.random.choice(self.fds)
        self.fds.append(self.first_fd + len(self.fds))
        return self.fds[-1]

    def open(self) -> None:
        if len(self.fds) < 12:
            flags = self.random.choice(OPEN_FLAGS)
            self.put("open", self.new_fd(), self.name(), flags, "0644" if "CREAT" in flags else "")

    def fopen(self) -> None:
        if len(self.streams) < 6:
            self.streams.append(self.first_stream + len(self.streams))
            self.put("fopen", self.streams[-1], self.name(), self.random.choice(STREAM_MODES))

    def part(self) -> list[str]:
        """Adds a few calls."""
        works = [self.transfer] * 6 + [self.seek, self.open, self.look, self.other]
        if self.random.random() < 0.4:
            works = [self.stream_transfer] * 6 + [self.fopen, self.look]
        for work in self.random.choices(works, k=self.random.choice([3, 6, 12, 25])):
            work()
        return self.lines


class ChildWriter(Writer):
    """Calls of a process that inherited open files. It removes no name, because the kernel reports files by name."""

    def __init__(self, seed: str, fds: list[int], next_fd: int) -> None:
        super().__init__(seed)
        self.fds, self.next_fd = fds, next_fd

    def fdopen(self) -> None:
        """Opens no stream for appending, because fdopen would then make all descriptors of the open file append."""
        super().fdopen()
        if self.lines[-1].split()[-1] in ("a", "a+"):
            self.lines[-1] = self.lines[-1].rsplit(" ", 1)[0] + " r+"

    def part(self) -> list[str]:
        """Adds a few calls."""
        works = [self.transfer] * 12 + [self.seek, self.seek, self.duplicate, self.look, self.other, self.open]
        works += [self.between, self.close, self.fdopen, self.stream_transfer, self.stream_other, self.printing]
        for work in self.random.choices(works, k=self.random.choice([1, 2, 4, 8, 20])):
            work()
        return self.lines


def with_child(writer: Writer, seed: str) -> None:
    """Makes a program that starts another process in the middle."""
    ends = [writer.random.choice([-1, *writer.fds]) for _ in range(2)]
    given = [slot for slot, end in zip((62, 63), ends, strict=True) if end >= 0]
    child = ChildWriter(seed, list(dict.fromkeys(writer.fds)) + given * 3, writer.next_fd)
    writer.lines += [f"{writer.random.choice(['spawn', 'spawn_by_fork'])} 1 {ends[0]} {ends[1]}"]
    for _ in range(writer.random.choice([0, 2, 6])):
        writer.random.choice([writer.transfer, writer.seek, writer.close, writer.open])()
    writer.lines += ["child 1", *child.part()]


WHOLE = [
    *(Writer.read_to_the_end, Writer.append_log, Writer.strided, Writer.text_file, Writer.many_sizes),
    *(Writer.held_bytes, Writer.linked_folders, Writer.wide_file),
]


def make_program(number: int, seed: int) -> ListedProgram:
    """Makes program `number` of the hunt `seed`; the same two numbers always make the same program."""
    writer = Writer(f"{seed}:{number}")
    if writer.random.random() < THREADED:
        lines = []
        for thread in range(writer.random.choice([2, 3])):
            lines += [f"thread {thread}", *ThreadWriter(f"{seed}:{number}:{thread}", thread).part()]
        return ListedProgram(number, lines)
    if writer.random.random() < 0.25:
        writer.random.choice(WHOLE)(writer)
        if writer.random.random() < 0.3:
            writer.chaos()
    else:
        writer.chaos()
    if writer.fds and writer.random.random() < SPAWNING:
        with_child(writer, f"{seed}:{number}:child")
    elif writer.streams and writer.random.random() < LEFT_OPEN:
        writer.put("leave")
    return ListedProgram(number, writer.lines)
