"""A buffer touches no memory that it does not use: in a short process new pages cost more than what is in them."""

from __future__ import annotations

import subprocess

import profiler_harness as harness


def test_room_that_is_not_used_takes_no_pages() -> None:
    (harness.PROGRAMS / "buffer_units").unlink(missing_ok=True)  # it is made of the library's own sources
    program = harness.build_program("buffer_units")
    assert subprocess.check_output([program], text=True) == "1\n"
