"""Text that a program writes into a file appears on the screen as well."""

from __future__ import annotations

import os
import time
from pathlib import Path

from iolens.lab.run.echo import echoed


def test_all_bytes_are_shown_in_order(tmp_path: Path) -> None:
    path, shown = tmp_path / "stdout.txt", tmp_path / "screen"
    out = os.open(shown, os.O_WRONLY | os.O_CREAT)
    with echoed([(path, out)]), path.open("wb", buffering=0) as file:
        for number in range(2000):
            file.write(b"%d\n" % number)
    os.close(out)
    assert shown.read_bytes() == path.read_bytes() == b"".join(b"%d\n" % number for number in range(2000))


def test_lines_appear_while_the_program_runs(tmp_path: Path) -> None:
    path = tmp_path / "stdout.txt"
    reader, writer = os.pipe()
    with echoed([(path, writer)]):
        path.write_bytes(b"first\n")
        assert os.read(reader, 100) == b"first\n"
    os.close(reader)
    os.close(writer)


def test_a_reader_that_left_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "stdout.txt"
    reader, writer = os.pipe()
    os.close(reader)
    with echoed([(path, writer)]):
        path.write_bytes(b"x" * 100_000)
        time.sleep(0.1)
    os.close(writer)
    assert path.stat().st_size == 100_000
