"""Where iolens and Darshan are meant to differ: the rows of the table in profiler/README.md, by their first column.

The model asks `rules.ours(SUBJECT)` wherever the two part. What Darshan's log differs in beyond this list is an error,
of the model or of the list; test_model.py holds the list to the table.
"""

from __future__ import annotations

from dataclasses import dataclass

# Rows that the model acts on.
MODELLED = {
    "stat": "`stat`, `fstat`, `lstat`, `statx`, `fstatat` of glibc 2.33 and later",
    "unseen stdio": "fortified calls (`__read_chk`, `__fprintf_chk` …), `puts`, `getline`, `putc`, unlocked variants, "
    "`scanf`",
    "mmap": "`mmap`",
    "between files": "`sendfile`, `copy_file_range`, `splice`",
    "renameat": "`renameat`, `renameat2`",
    "close_range": "`close_range`",
    "values": "most common sizes and strides",
    "position": "position of two descriptors of one file",
    "append": "appending",
    "folders": "`..` and `dirfd`",
    "links": "symbolic links",
    "standard streams": "`<STDIN>`, `<STDOUT>`, `<STDERR>`",
    "empty": '`fputs("")`, `getw` at the end of a file',
}


@dataclass(frozen=True)
class Rules:
    """Which of the two libraries' records the model is to say."""

    library: str = "iolens"

    def ours(self, subject: str) -> bool:
        if subject not in MODELLED:
            raise KeyError(f"{subject}: not a row of the table")
        return self.library == "iolens"
