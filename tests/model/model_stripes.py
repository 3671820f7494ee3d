"""Computes the bytes on each storage target and the LUSTRE record, for files that all have the same stripes."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

LOV_USER_MAGIC_V1 = 0x0BD10BD0
RAID0 = 1

Moved = dict[int, list[int]]
"""The bytes read and written in each stripe, by its number."""


@dataclass(frozen=True)
class ModelStripes:
    """Stripes of `size` bytes, placed on `targets` in turn."""

    size: int
    targets: tuple[int, ...]

    def attribute(self) -> bytes:
        """Returns Lustre's answer to a request for "lustre.lov": struct lov_user_md_v1."""
        head = struct.pack("<II16sIHH", LOV_USER_MAGIC_V1, RAID0, b"", self.size, len(self.targets), 0)
        return head + b"".join(struct.pack("<16sII", b"", 0, target) for target in self.targets)

    def moved(self, transfers: Iterable[tuple[bool, int, int, int, int]]) -> Moved:
        """Returns the bytes per stripe of transfers (write, offset, bytes, begin, end) of the POSIX or stdio model."""
        moved: Moved = {}
        for write, offset, size, _, _ in transfers:
            end = offset + size
            offset = max(offset, 0)  # A byte that ungetc() put before the start of a file is on no stripe.
            while offset < end:
                stripe = offset // self.size
                piece = min(end, (stripe + 1) * self.size) - offset
                moved.setdefault(stripe % len(self.targets), [0, 0])[write] += piece
                offset += piece
        return moved
