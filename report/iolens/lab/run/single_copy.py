"""Find out whether a process may read another's memory, which is how Open MPI sends large messages within a node.

Run as a program, it tries: two processes of one parent, as a launcher starts them, the second of which reads from the
first with process_vm_readv(2). Containers without the right to trace refuse it, and so does a strict Yama
(/proc/sys/kernel/yama/ptrace_scope).
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

_PR_SET_PTRACER = 0x59616D61
"""prctl(2): let any process of this user read; Open MPI's ranks say so themselves."""

_TEXT = b"single copy"


@cache
def single_copy_works() -> bool:
    """Returns True when one process of this user may read another's memory here; tried once, in processes of
    its own.
    """
    try:
        done = subprocess.run([sys.executable, "-I", "-S", __file__], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def try_it() -> bool:
    """Lets one child read the text from the memory of another."""
    import ctypes

    class Part(ctypes.Structure):
        """struct iovec."""

        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    library, anyone = ctypes.CDLL(None, use_errno=True), ctypes.c_ulong(-1).value
    text = ctypes.create_string_buffer(_TEXT)
    (ready, told), (waiting, end) = os.pipe(), os.pipe()
    owner = os.fork()
    if owner == 0:
        os.close(end)
        library.prctl(_PR_SET_PTRACER, anyone, 0, 0, 0)
        os.write(told, b"x")
        os.read(waiting, 1)
        os._exit(0)
    os.read(ready, 1)
    reader = os.fork()
    if reader == 0:
        copy = ctypes.create_string_buffer(len(_TEXT))
        here, there = (Part(ctypes.addressof(buffer), len(_TEXT)) for buffer in (copy, text))
        count = library.process_vm_readv(owner, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        os._exit(0 if count == len(_TEXT) and copy.raw == _TEXT else 1)
    status = os.waitpid(reader, 0)[1]
    os.close(end)
    os.waitpid(owner, 0)
    return status == 0


if __name__ == "__main__":
    sys.exit(0 if try_it() else 1)
