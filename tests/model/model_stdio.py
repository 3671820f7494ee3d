"""Computes STDIO records, call by call, from the meaning of the counters."""

from __future__ import annotations

from dataclasses import dataclass, field

from calllist import ListedCall
from meaning import CallTimes
from model_posix import STDOUT, OpenFile, PosixModel
from rules import Rules

GOT_ITEMS = {"fread", "fread_unlocked"}
PUT_ITEMS = {"fwrite", "fwrite_unlocked"}
GOT_LETTER = {"fgetc", "getc", "getc_unlocked", "ungetc"}
PUT_LETTER = {"fputc", "putc", "putc_unlocked"}
GOT_STRING = {"fgets", "fgets_unlocked"}
GOT_TEXT = GOT_STRING | {"getline", "getdelim"}
PUT_TEXT = {"fputs", "fputs_unlocked"}
PRINTED = {"fprintf", "vfprintf"}
GOT_WIDE_LINE = {"fgetws", "fgetws_unlocked"}
GOT_WIDE = GOT_WIDE_LINE | {"fgetwc", "fgetwc_unlocked", "getwc"}
PUT_WIDE = {"fputwc", "fputwc_unlocked", "putwc", "fputws", "fputws_unlocked", "fwprintf"}
UNCOUNTED = {"fileno", "ftell", "clearerr", "setvbuf"}
OPENING = {"fopen", "fopen64", "tmpfile", "tmpfile64", "fdopen"}  # Calls that make a new stream.
SEEKS = {"fseek", "fseeko", "fseeko64", "fsetpos", "rewind"}
EMPTYING = {
    "exit",
    "flushed",
}  # Calls that flush all streams; the bytes that a stream held then lie right before its position.
UNSEEN = {  # Calls that Darshan does not record.
    *("fread_unlocked", "fwrite_unlocked", "getc_unlocked", "putc_unlocked", "fgets_unlocked", "fputs_unlocked"),
    *("getline", "getdelim", "getc", "putc"),
    *(GOT_WIDE | PUT_WIDE | {"fwscanf"}),
}


@dataclass
class StdioFile:
    """The values that the record of a file must have."""

    name: str
    ints: dict[str, int] = field(default_factory=dict)
    opened: CallTimes = field(default_factory=CallTimes)
    closed: CallTimes = field(default_factory=CallTimes)
    moved: dict[bool, CallTimes] = field(default_factory=lambda: {False: CallTimes(), True: CallTimes()})
    asked: int = 0
    offset: int = 0
    murky: bool = (
        False  # True if another call moved the stream's descriptor, so that the place of the stream's bytes is unknown.
    )
    appended: bool = False  # True if a stream of the file appends.
    unsure: int = 0  # Bytes of lines with zeros, which count only if the recorder knew the position.
    transfers: list[tuple[bool, int, int, int, int]] = field(default_factory=list)
    # Transfers by the place of their bytes.
    placed: list[tuple[bool, int, int, int, int]] = field(default_factory=list)

    def add(self, counter: str, n: int = 1) -> None:
        self.ints[counter] = self.ints.get(counter, 0) + n


@dataclass
class Stream:
    file: StdioFile
    append: bool
    descriptor: OpenFile | None = None  # Open file whose descriptors move the same position.
    pending: int = 0  # Number of bytes in the buffer of an appending stream.
    wide: list[int] = field(default_factory=list)  # Bytes of each wide character that was written to the stream.
    position: int = 0  # Position after the last call on the stream.
    displaced: bool = False  # True if another call has moved the position.

    def held(self, left: int) -> int:
        """Returns the number of bytes in the buffer, from the C library's number of bytes or of wide characters."""
        return sum(self.wide[len(self.wide) - left :]) if self.wide else left


class StdioModel:
    """The streams of one process; names and descriptors are those that `posix` knows."""

    def __init__(self, posix: PosixModel, rules: Rules) -> None:
        self.posix = posix
        self.rules = rules
        self.files: dict[str, StdioFile] = {}
        self.streams: dict[tuple[int, int], Stream] = {}
        self.handlers = {
            "fopen": self.fopen,
            "fopen64": self.fopen,
            "tmpfile": self.tmpfile,
            "tmpfile64": self.tmpfile,
            "print": self.printed_out,
            "print_flush": self.printed_out,
            "freopen": self.freopen,
            "fdopen": self.fdopen,
            "fclose": self.fclose,
            "fflush": self.flush,
            "getw": self.getw,
            "putw": self.putw,
            "fscanf": self.scanned,
            "fwscanf": self.scanned,
            "exit": self.emptied,
            "flushed": self.emptied,
        }
        for names, handler in (
            (GOT_ITEMS, self.got_items),
            (PUT_ITEMS, self.put_items),
            (GOT_LETTER, self.got_letter),
            (PUT_LETTER, self.put_letter),
            (GOT_TEXT, self.got_text),
            (PUT_TEXT, self.put_text),
            (PRINTED, self.printed),
            (GOT_WIDE, self.got_wide),
            (PUT_WIDE, self.put_wide),
            (SEEKS, self.seek),
        ):
            self.handlers.update(dict.fromkeys(names, handler))

    def see(self, call: ListedCall) -> None:
        stream = self.stream(call)
        handler = self.handlers.get(call.name)
        on_stream = call.name in UNCOUNTED or (handler and call.name not in OPENING | EMPTYING)
        if stream and on_stream:
            stream.displaced |= call.before != stream.position
            stream.position = call.after
        if handler and not (call.name in UNSEEN and not self.rules.ours("unseen stdio")):
            handler(call)
        if stream and on_stream and stream.append and self.rules.ours("append"):
            self.lands(call, stream)

    def file(self, name: str) -> StdioFile:
        if name not in self.files:
            self.files[name] = StdioFile(name)
        return self.files[name]

    def stream(self, call: ListedCall) -> Stream | None:
        return self.streams.get((call.program, call.slot))

    # ---------------------------------------------------------------- opening and closing

    def add_open(self, call: ListedCall, slot: int, stream: Stream) -> None:
        stream.file.add("OPENS")
        stream.file.appended |= stream.append
        stream.file.opened.add(call.begin, call.end)
        stream.file.asked += call.end - call.begin
        self.streams[call.program, slot] = stream

    def fopen(self, call: ListedCall) -> None:
        if call.result:
            name = self.posix.canonical(self.posix.path(call.program, call.args[1]))
            file = self.file(name)
            file.offset = 0
            self.add_open(call, int(call.args[0]), Stream(file, call.args[2].startswith("a")))

    def tmpfile(self, call: ListedCall) -> None:
        """Opens a stream on a file without a name, which shares the record of its folder."""
        if call.result:
            self.add_open(call, int(call.args[0]), Stream(self.file("/tmp"), False))

    def printed_out(self, call: ListedCall) -> None:
        """Counts printed bytes for the file that the program itself has given to the standard output's descriptor, if
        any, else for the standard output.
        """
        opened = self.posix.open_file(STDOUT)
        own = opened is not None and not opened.inherited and self.rules.ours("redirected")
        file = self.file(opened.file.name if opened and own else "<STDOUT>")
        if call.result < 0:
            return
        file.murky |= own  # What was printed before may still lie in the stream's buffer.
        size = call.extra[0]
        if not own:
            file.ints["OPENS"] = 1
        file.add("WRITES" if call.name == "print" else "FLUSHES")
        file.add("BYTES_WRITTEN", size)
        file.offset += size
        file.moved[True].add(call.begin, call.end)
        transfer = (True, file.offset - size, size, call.begin, call.end)
        if call.name == "print":
            file.transfers.append(transfer)
        self.place(file, transfer, "FLUSHES")
        if opened:
            opened.moved_here = True  # The descriptor's stream shares the position with the standard output.

    def freopen(self, call: ListedCall) -> None:
        before = self.streams.pop((call.program, call.slot), None)
        if call.args[1] != "same":
            self.fopen(call)
        elif call.result and before:
            before.file.offset = 0
            self.add_open(call, call.slot, Stream(before.file, call.args[2].startswith("a")))

    def fdopen(self, call: ListedCall) -> None:
        opened = self.posix.open_file(call.fd)
        if call.result and opened:
            file = self.file(opened.file.name)
            file.add("FDOPENS")
            opened.append |= call.args[2].startswith("a")  # fdopen sets O_APPEND for an appending stream.
            opened.moved_here = opened.streamed  # True if two streams share one position.
            opened.streamed = True
            self.add_open(call, int(call.args[0]), Stream(file, opened.append, opened, position=call.before))

    def fclose(self, call: ListedCall) -> None:
        stream = self.streams.pop((call.program, call.slot), None)
        if stream:
            stream.file.closed.add(call.begin, call.end)
            stream.file.asked += call.end - call.begin

    # ---------------------------------------------------------------- moving bytes

    def moves(self, call: ListedCall, write: bool, size: int, counter: str | None = None) -> None:
        stream = self.stream(call)
        if not stream:
            return
        file = stream.file
        offset = file.offset
        if self.rules.ours("position"):
            offset = call.before
            opened = stream.descriptor or self.posix.open_file(call.fd)
            printed_into = (
                call.fd == STDOUT
            )  # freopen of a stream on standard output flushes stdout, which moves the descriptor.
            file.murky |= printed_into or bool(opened and opened.moved_here)
        file.offset += size
        past = "WRITTEN" if write else "READ"
        file.add(counter or ("WRITES" if write else "READS"))
        file.add(f"BYTES_{past}", size)
        file.moved[write].add(call.begin, call.end)
        transfer = (write, offset, size, call.begin, call.end)
        if not counter:
            file.transfers.append(transfer)
        if write and stream.append and self.rules.ours("append"):
            stream.pending += size
        else:
            self.place(file, transfer, counter)

    def place(self, file: StdioFile, transfer: tuple[bool, int, int, int, int], counter: str | None = None) -> None:
        write, offset, size, _, _ = transfer
        most = "MAX_BYTE_WRITTEN" if write else "MAX_BYTE_READ"
        if size or not self.rules.ours("empty"):
            file.ints[most] = max(file.ints.get(most, 0), offset + size - 1)
        if not counter:
            file.placed.append(transfer)

    def lands(self, call: ListedCall, stream: Stream) -> None:
        """Moves the file's end by the bytes that left the stream's buffer in this call; closing writes all bytes."""
        closes = call.name in ("fclose", "freopen")
        left = stream.pending if closes else stream.pending - stream.held(call.extra[2])
        if left > 0:
            begin = call.size if closes else call.size - left
            self.place(stream.file, (True, begin, left, call.begin, call.end))
        stream.pending -= left

    def emptied(self, call: ListedCall) -> None:
        stream = self.stream(call)
        if not stream:
            return
        if stream.append and stream.pending:
            self.place(stream.file, (True, call.after - stream.pending, stream.pending, call.begin, call.end))
        stream.pending = 0
        opened = stream.descriptor
        stream.file.murky |= bool(opened and opened.moved_here)

    def got_items(self, call: ListedCall) -> None:
        if call.result > 0:
            self.moves(call, False, call.result * int(call.args[1]))

    def put_items(self, call: ListedCall) -> None:
        if call.result > 0:
            self.moves(call, True, call.result * int(call.args[1]))

    def got_letter(self, call: ListedCall) -> None:
        if call.result != -1:
            self.moves(call, False, 1)

    def put_letter(self, call: ListedCall) -> None:
        if call.result != -1:
            self.moves(call, True, 1)

    def got_text(self, call: ListedCall) -> None:
        if call.result < 0:
            return
        behind_zeros = call.result - call.extra[0] if call.name in GOT_STRING else 0
        counts_zeros = self.rules.ours("zeros")
        self.moves(call, False, call.result if counts_zeros else call.result - behind_zeros)
        stream = self.stream(call)
        if counts_zeros and stream and (stream.displaced or call.after - call.before != call.result):
            stream.file.unsure += behind_zeros
            stream.file.murky |= behind_zeros > 0

    def put_text(self, call: ListedCall) -> None:
        if call.result >= 0:
            self.moves(call, True, int(call.args[1]))

    def printed(self, call: ListedCall) -> None:
        if call.result > 0:
            self.moves(call, True, call.result)

    def got_wide(self, call: ListedCall) -> None:
        """Takes the number of bytes from the change of the position that the C library reports; a call of fgetws that
        returned an empty text moved no bytes.
        """
        if call.result > 0:
            size = call.after - call.before
            self.moves(call, False, size)
            stream = self.stream(call)
            if call.name in GOT_WIDE_LINE and stream and stream.displaced and call.result > call.extra[0]:
                stream.file.unsure += size
                stream.file.murky = True

    def put_wide(self, call: ListedCall) -> None:
        """Counts the bytes of each letter in UTF-8; the last letter of a longer text is a line end of one byte."""
        stream, letters, size = self.stream(call), int(call.args[1]), int(call.args[2])
        alone = call.name.endswith(("wc", "wc_unlocked"))
        widths = [size] if alone else [size] * (letters - 1) + [1] * (letters > 0)
        if call.result < 0 or stream is None or (call.name == "fwprintf" and not letters):
            return
        stream.wide += widths
        self.moves(call, True, sum(widths))
        # After a rewind the C library may report a position of a wide stream that differs from the position at which it
        # writes.
        stream.file.murky |= not stream.append and call.after - call.before != sum(widths)

    def getw(self, call: ListedCall) -> None:
        # A call on the descriptor may have moved the position, so that it changes by 4 although fewer bytes were read.
        at_end = call.result == -1 and (call.extra[0] == 1 or call.after - call.before != 4)
        if not (at_end and self.rules.ours("empty")):
            self.moves(call, False, 4)

    def putw(self, call: ListedCall) -> None:
        if call.result == 0:
            self.moves(call, True, 4)

    def scanned(self, call: ListedCall) -> None:
        if call.result != 0:
            self.moves(
                call, False, max(0, call.after - call.before)
            )  # A call on the descriptor may have moved the position back.

    def flush(self, call: ListedCall) -> None:
        if call.result == 0:
            self.moves(call, True, 0, "FLUSHES")

    def seek(self, call: ListedCall) -> None:
        stream = self.stream(call)
        if stream and call.result == 0:
            stream.file.add("SEEKS")
            stream.file.asked += call.end - call.begin
            stream.file.offset = call.after
