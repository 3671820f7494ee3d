"""A caution about two subjects that read the same bytes at very different speeds: one may have read from a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.advise.limits import DEFAULTS
from iolens.metrics.subjects.files_aligned import aligned_files
from iolens.pages import words

if TYPE_CHECKING:
    from iolens.metrics.subjects.subject import Subjects

_MUCH_FASTER = 4.0
"""Minimum ratio between the times of reading the same bytes in two runs for which a cache is suspected."""


def cold_caches(subjects: Subjects) -> str:
    """Returns a note on the unwritten file whose read times differ by the largest factor between two subjects, because
    it may have been in a cache. Empty if no factor is large enough.
    """
    found, first = aligned_files(subjects), subjects.letters[0]
    worst = (_MUCH_FASTER, "")
    for letter in subjects.letters[1:]:
        same = found[(found[f"standing {letter}"] == "same") & (found[f"bytes_written {first}"] == 0)]
        same = same[same[f"bytes_read {first}"] >= DEFAULTS["much_bytes"]]
        for row in same.to_dict("records"):
            fast, slow = sorted((letter, first), key=lambda each: float(row[f"seconds {each}"]))
            least, most = float(row[f"seconds {fast}"]), float(row[f"seconds {slow}"])
            if least > 0 and most >= DEFAULTS["least_seconds"] and most / least > worst[0]:
                bytes_said = f"{words.size(row[f'bytes_read {first}'])} of {row['file']}"
                said = (
                    f"{fast} read {bytes_said} in {words.duration(least)}, {slow} in {words.duration(most)}: was it "
                    f"in a cache for {fast}? Repeat both, or drop caches before each."
                )
                worst = most / least, said
    return worst[1]
