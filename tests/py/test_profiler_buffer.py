"""A buffer touches no memory that it does not use: in a short process new pages cost more time than filling them."""

from __future__ import annotations

import subprocess

import profiler_harness as harness


def test_room_that_is_not_used_takes_no_pages() -> None:
    # Forces a rebuild, because the program contains the library's sources.
    (harness.PROGRAMS / "buffer_units").unlink(missing_ok=True)
    program = harness.build_program("buffer_units")
    assert subprocess.check_output([program], text=True) == "1\n"
