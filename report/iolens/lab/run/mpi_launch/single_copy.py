"""Find out whether a process may read another's memory, which is how Open MPI sends large messages within a node.

Two processes of one parent try it, as a launcher starts them: the second reads from the first with
process_vm_readv(2). Containers without the right to trace refuse it, and so does a strict Yama
(/proc/sys/kernel/yama/ptrace_scope).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

_PR_SET_PTRACER = 0x59616D61
"""Option of prctl(2) that lets any process of this user read this one's memory; Open MPI's ranks set it themselves."""

_TEXT = b"single copy"


@cache
def single_copy_works() -> bool:
    """Returns True when one process of this user may read another's memory on this node. The first call finds it out by
    a trial, and later calls return its result.

    The two processes are forks of this one, because starting a new Python would take longer than everything else before
    the launcher starts.
    """
    try:
        return _try_it()
    except OSError:
        return False


def _try_it() -> bool:
    """Returns True if one child process can read `_TEXT` from the memory of another one."""
    import ctypes

    class Part(ctypes.Structure):
        """The structure iovec."""

        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    library, anyone = ctypes.CDLL(None, use_errno=True), ctypes.c_ulong(-1).value
    text = ctypes.create_string_buffer(_TEXT)
    (ready, told), (waiting, end) = os.pipe(), os.pipe()

    def own() -> bool:
        os.close(end)
        library.prctl(_PR_SET_PTRACER, anyone, 0, 0, 0)
        os.write(told, b"x")
        os.read(waiting, 1)
        return True

    def read() -> bool:
        copy = ctypes.create_string_buffer(len(_TEXT))
        here, there = (Part(ctypes.addressof(buffer), len(_TEXT)) for buffer in (copy, text))
        count = library.process_vm_readv(owner, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        return bool(count == len(_TEXT) and copy.raw == _TEXT)

    try:
        owner = _started_child(own)
        os.read(ready, 1)
        status = os.waitpid(_started_child(read), 0)[1]
    finally:
        for descriptor in (ready, told, waiting, end):
            os.close(descriptor)
    os.waitpid(owner, 0)
    return status == 0


def _started_child(work: Callable[[], bool]) -> int:
    """Starts a child process that does only this work; it ends with exit code 0 if the work returns True."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return child
