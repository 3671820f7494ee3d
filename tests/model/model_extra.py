"""Computes the rows of the private table posix_extra, call by call: calls without a slot in Darshan's POSIX record."""

from __future__ import annotations

import os

from calllist import ListedCall
from model_posix import PosixModel

NAMES = {  # Maps a call to its column, the number of its path argument, and whether a link of that name is followed.
    "unlink": ("unlinks", 0, False),
    "remove": ("unlinks", 0, False),
    "rmdir": ("rmdirs", 0, False),
    "mkdir": ("mkdirs", 0, False),
    "link": ("links", 0, False),
    "truncate": ("truncates", 0, True),
    "truncate64": ("truncates", 0, True),
}
FOLDERS = {"unlinkat": "unlinks", "mkdirat": "mkdirs"}  # These calls are on a name below a descriptor's folder.
DESCRIPTORS = {
    "ftruncate": "truncates",
    "ftruncate64": "truncates",
    "fallocate": "allocates",
    "posix_fallocate": "allocates",
    "sendfile": "sendfiles",
    "copy_file_range": "copies",
}
BETWEEN = {"sendfile", "copy_file_range"}
COLUMNS = "unlinks links truncates allocates mkdirs rmdirs sendfiles copies".split()


class ExtraModel:
    """Counts calls on the files and folders of one process by name; `posix` resolves names and descriptors."""

    def __init__(self, posix: PosixModel) -> None:
        self.posix = posix
        self.files: dict[str, dict[str, int]] = {}

    def see(self, call: ListedCall) -> None:
        known = NAMES.get(call.name) or FOLDERS.get(call.name) or DESCRIPTORS.get(call.name)
        # posix_fallocate returns the number of an error, copies return a number of bytes, all other calls 0 or -1.
        if known is None or call.result < 0 or (call.name == "posix_fallocate" and call.result != 0):
            return
        if call.name in NAMES:
            column, argument, follows = NAMES[call.name]
            name = self.posix.path(call.program, call.args[argument])
            self.count(self.posix.canonical(name) if follows else self.posix.entry(name), column)
        elif call.name in FOLDERS:
            column = "rmdirs" if "AT_REMOVEDIR" in call.args else FOLDERS[call.name]
            self.count(self.at(call, 0, 1), column)
        else:
            for fd in {call.fd, int(call.extra[0])} if call.name in BETWEEN else {call.fd}:
                self.of_descriptor(fd, DESCRIPTORS[call.name])

    def at(self, call: ListedCall, folder: int, argument: int) -> str:
        base = self.posix.open_file(self.posix.slot_fd(call, folder))
        return os.path.normpath(self.posix.path(call.program, call.args[argument], base.file.name if base else None))

    def of_descriptor(self, fd: int, column: str) -> None:
        opened = self.posix.open_file(fd)
        if opened:
            self.count(opened.file.name, column)

    def count(self, name: str, column: str) -> None:
        row = self.files.setdefault(name, dict.fromkeys(COLUMNS, 0))
        row[column] += 1
