"""Replaces names by pseudonyms: the same name and key give the same pseudonym, which cannot be reversed without the
key. A pseudonym is the beginning of HMAC-SHA256(key, name) in base 32 (RFC 4648): 60 bits, so that the probability of
two equal pseudonyms among a million names is below one in a million.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from iolens.errors import IolensError
from iolens.log.record_id import record_id

_LETTERS = 12
KEEPS = ("extensions", "mounts", "program")
_SEPARATOR = re.compile(rb"([/:,;=\s]+)")
_EXTENSION = re.compile(rb"\.[A-Za-z0-9]{1,8}")
PLAIN = re.compile(
    rb"[+-]?[0-9]{1,12}(\.[0-9]{1,6})?[kKmMgG]?(iB|B)?|\.{0,2}|\*|true|false|yes|no|on|off|enabled?|disabled?|auto(matic)?"
)
"""Words in hints, settings and paths that reveal nothing about anybody."""

OWN_NAMES = re.compile(
    rb"<(STDIN|STDOUT|STDERR)>|APMPI|heatmap:(POSIX|STDIO|MPIIO|DFS|DAOS)|darshan-(apmpi|apxc|bgq)-[a-z]+"
)
"""Names of pseudo files that profilers record."""


@dataclass
class Pseudonyms:
    """The pseudonyms of a log's names; `keep` is a subset of KEEPS, `hidden` contains all words that were
    replaced so far.
    """

    key: bytes
    keep: frozenset[str] = frozenset()
    mounts: tuple[bytes, ...] = ()
    numbers: frozenset[bytes] = frozenset()
    hidden: dict[bytes, bytes] = field(default_factory=dict)
    ids: dict[int, int] = field(default_factory=dict)

    def digest(self, name: bytes) -> bytes:
        """Returns 32 bytes that depend on the whole name and the key."""
        return hmac.digest(self.key, name, "sha256")

    def number(self, name: bytes, below: int) -> int:
        """Returns a number from 1 up to `below`."""
        return int.from_bytes(self.digest(name)[:16], "big") % (below - 1) + 1

    def word(self, word: bytes) -> bytes:
        """Returns the pseudonym of one component of a path, of a host, or of any other word."""
        found = self.hidden.get(word)
        if found is None:
            found = base64.b32encode(self.digest(b"word:" + word))[:_LETTERS].lower()
            self.hidden[word] = found
        return found

    def component(self, word: bytes) -> bytes:
        """Returns the pseudonym of a component of a path; the extension stays if extensions are kept."""
        if word in (b"", b".", b"..", b"*"):
            return word
        stem, dot, end = word.rpartition(b".")
        if "extensions" in self.keep and stem and _EXTENSION.fullmatch(dot + end):
            return self.word(stem) + dot + end
        return self.word(word)

    def path(self, path: bytes) -> bytes:
        """Returns a path, or `path:name in the file`, with each component replaced; the separators stay, and so does
        the mount point if mounts are kept.
        """
        if OWN_NAMES.fullmatch(path):
            return path
        kept = b""
        if "mounts" in self.keep:
            kept = max((m for m in self.mounts if lies_on(path, m)), key=len, default=b"")
        parts = _SEPARATOR.split(path[len(kept) :])
        return kept + b"".join(part if i % 2 else self.component(part) for i, part in enumerate(parts))

    def text(self, text: bytes) -> bytes:
        """Returns the value of a hint or setting in which numbers and switches stay, and other words are replaced."""
        parts = _SEPARATOR.split(text)
        return b"".join(part if i % 2 or self.is_plain(part) else self.component(part) for i, part in enumerate(parts))

    def is_plain(self, word: bytes) -> bool:
        """Returns whether a word reveals nothing about any person or site; the numbers of the job and of the user do
        reveal something.
        """
        return bool(PLAIN.fullmatch(word)) and word not in self.numbers

    def sentence(self, text: bytes) -> bytes:
        """Returns a sentence without the words that were replaced elsewhere."""
        parts = re.split(rb"([^\w.-]+)", text)
        return b"".join(self.hidden.get(part) or self.hidden.get(part.rstrip(b".")) or part for part in parts)

    def name_records(self, names: Iterable[tuple[int, bytes]]) -> None:
        """Gives every named record a new id, that of its new name; records of pseudo files such as <STDIN> keep
        theirs.
        """
        for key, name in names:
            if OWN_NAMES.fullmatch(name):
                self.ids[key] = key
            elif key not in self.ids:
                self.ids[key] = record_id(self.path(name)) if record_id(name) == key else self.unnamed(key)
        if len(set(self.ids.values())) < len(self.ids):
            raise IolensError("two records of the log would get the same pseudonym; give another --key")

    def unnamed(self, key: int) -> int:
        """Returns the new id of a record without a name."""
        return self.number(b"record:%d" % key, 1 << 64)

    def record(self, key: int) -> int:
        """Returns the new id of a record: the one that `name_records` chose or, for a record without a name, one made
        from the old id. Every call returns the same id.
        """
        found = self.ids.get(key)
        if found is None:
            found = self.ids[key] = self.unnamed(key)
        return found


def lies_on(path: bytes, mount: bytes) -> bool:
    """Returns whether a path is a mount point's or below it."""
    return path == mount or path.startswith(mount.rstrip(b"/") + b"/")
