"""The surroundings of every command: standard streams that may be closed or full, known errors, and the exit code."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from iolens.errors import IolensError
from iolens.foreign import printable_text

_STANDARD_STREAMS = ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY))
"""Each descriptor of a standard stream, and the mode in which /dev/null takes its place if it is closed: the wrong
direction, so that reading and writing fail as on a closed descriptor.
"""


class Heedless(io.FileIO):
    """A stream for messages. If a message cannot be written, it is dropped and the program goes on."""

    def write(self, data: object) -> int:
        """Writes as many bytes as possible; returns the size of the whole buffer."""
        view = memoryview(data)  # type: ignore[arg-type]
        with suppress(OSError):
            return super().write(view) or view.nbytes
        return view.nbytes


def secure_streams() -> None:
    """Gives this process its three standard streams, even if it was started without them.

    The next file that is opened would otherwise get the number of a closed descriptor, and messages would go into that
    file. A closed descriptor is replaced by /dev/null, which a started program does not inherit: it finds the
    descriptor closed as it was.
    """
    for descriptor, flags in _STANDARD_STREAMS:
        if _is_closed(descriptor):
            os.open(os.devnull, flags)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115  # the stream lives as long as the process
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    messages = io.BufferedWriter(Heedless(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(messages, encoding, "backslashreplace", line_buffering=True)


def _is_closed(descriptor: int) -> bool:
    """Tells whether a descriptor is closed."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_GETFD)
    except OSError:
        return True
    return False


def exit_code_of(name: str, command: Callable[[], int]) -> int:
    """Runs a command; returns its exit code, and turns a known error into one line of `name` and an exit code:
    1 for a failure, 2 for wrong usage, 128 + n for signal n.
    """
    try:
        code = command()
    except SystemExit as asked:  # argparse has printed help or a usage error.
        raise SystemExit(_flushed(name, int(asked.code or 0))) from None
    except IolensError as error:
        print(printable_text(f"{name}: {error}", keep="\n"), file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt as interruption:
        print(f"{name}: interrupted", file=sys.stderr)
        code = 128 + int(interruption.args[0] if interruption.args else signal.SIGINT)
    except MemoryError:
        print(f"{name}: there is not enough memory, on this machine or within its limits (ulimit -v)", file=sys.stderr)
        code = 1
    except OSError as error:
        code = _failed(name, error)
    return _flushed(name, code)


def _flushed(name: str, code: int) -> int:
    """Writes the buffered output; returns the exit code, or 1 in place of 0 if output is lost."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _failed(name, error) if code == 0 else code
    return code


def _failed(name: str, error: OSError) -> int:
    """Prints the system's error, unless the reader of the output has closed it; returns exit code 1."""
    if error.filename is None:
        _give_up_output()
    if not isinstance(error, BrokenPipeError):
        what = f"{name}: {error.filename or 'standard output'}: {error.strerror or error}"
        print(printable_text(what), file=sys.stderr)
    return 1


def _give_up_output() -> None:
    """Keeps Python from trying once more, when it ends, to write output that could not be written."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
