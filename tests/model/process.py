"""Collects the models of all records of one process, and gives them its journal."""

from __future__ import annotations

from calllist import ListedCall
from model_extra import ExtraModel
from model_mpiio import MpiioModel
from model_posix import PosixModel
from model_stdio import StdioModel
from model_stripes import ModelStripes
from rules import Rules

FILLS_SLOT = set(
    "open open64 creat creat64 openat openat64 openat2 mkstemp mkostemps "
    "dup dup2 dup3 fcntl_dupfd fcntl_dupfd_cloexec".split()
)


class ModelProcess:
    """Works out from the list of calls of one process what its log must contain. `folder` is the working directory of
    the process; `block_size` of the file system; `ranks` of the job, 1 without MPI; `layout` of its files where they
    are striped.
    """

    def __init__(
        self, folder: str, rules: Rules, block_size: int, ranks: int = 1, layout: ModelStripes | None = None
    ) -> None:
        self.layout = layout
        self.slots: dict[tuple[int, int], int] = {}  # Descriptor in each slot, by (program, slot).
        self.stream_names: dict[tuple[int, int], tuple[str, bool]] = {}
        self.posix = PosixModel(
            folder, rules, block_size, self.slots, self.stream_names, layout.size if layout else block_size
        )
        self.stdio = StdioModel(self.posix, rules)
        self.extra = ExtraModel(self.posix)
        self.mpiio = MpiioModel(self.posix, rules, ranks)

    def see(self, call: ListedCall) -> None:
        self.extra.see(call)
        self.posix.see(call)
        self.stdio.see(call)
        self.mpiio.see(call)
        self.follow_slots(call)

    def follow_slots(self, call: ListedCall) -> None:
        program, name = call.program, call.name
        if name in FILLS_SLOT:
            if call.result >= 0:
                self.slots[program, int(call.args[0])] = call.result
        elif name == "fileno":
            self.slots[program, int(call.args[1])] = call.result
        elif name == "inherits":
            self.slots[program, call.slot] = call.fd
        elif name in ("close", "close_range") and call.begin:
            self.slots.pop((program, call.slot), None)
        elif name in ("fclose", "freopen", "fdopen"):
            for slot in [s for s, fd in self.slots.items() if s[0] == program and fd == call.fd]:
                del self.slots[slot]
        if name in ("fopen", "fopen64", "tmpfile", "tmpfile64", "freopen", "fdopen", "fclose"):
            stream = (program, int(call.args[0]))
            opened = self.stdio.streams.get(stream)
            self.stream_names.pop(stream, None)
            if opened:
                self.stream_names[stream] = (opened.file.name, opened.append)
