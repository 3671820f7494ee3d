"""Puts itself into a state that a program inherits, then becomes that program.

    inherited_caller.py STATE WORD ...

Each state is a function of this name. Python itself ignores SIGPIPE and SIGXFSZ, so both are set in every state.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_SECUREBITS, PR_SET_TIMERSLACK, PR_SET_CHILD_SUBREAPER = 1, 28, 29, 36
PR_SET_NO_NEW_PRIVS, PR_SET_THP_DISABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 38, 41, 22, 24
ADDR_NO_RANDOMIZE = 0x0040000
SYS_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def prctl(option: int, *values: int) -> None:
    if LIBC.prctl(option, *(ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4])) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def ignore(*numbers: int) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def nothing() -> None:
    pass


def ignores_pipe() -> None:
    ignore(signal.SIGPIPE)


def ignores_xfsz() -> None:
    ignore(signal.SIGXFSZ)


def ignores_usr1() -> None:
    ignore(signal.SIGUSR1)


def ignores_chld() -> None:
    ignore(signal.SIGCHLD)


def ignores_all() -> None:
    ignore(*(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}))


def blocks_some() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMAX})


def blocks_and_has_pending() -> None:
    blocks_some()
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMAX):
        os.kill(os.getpid(), number)


def limits() -> None:
    for number, limit in (
        (resource.RLIMIT_CORE, 4096),
        (resource.RLIMIT_FSIZE, 1 << 30),
        (resource.RLIMIT_NOFILE, 300),
    ):
        resource.setrlimit(number, (limit, limit))
    for number, limit in (
        (resource.RLIMIT_STACK, 4 << 20),
        (resource.RLIMIT_CPU, 3000),
        (resource.RLIMIT_MEMLOCK, 65536),
    ):
        resource.setrlimit(number, (limit, resource.getrlimit(number)[1]))


def scheduling() -> None:
    os.umask(0o027)
    os.nice(5)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    LIBC.syscall(SYS_IOPRIO_SET[os.uname().machine], 1, 0, 3 << 13)
    for name, value in (("oom_score_adj", "300"), ("coredump_filter", "0x3f")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(value)


def process_attributes() -> None:
    prctl(PR_SET_TIMERSLACK, 123456)
    prctl(PR_SET_THP_DISABLE, 1)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    LIBC.personality(ADDR_NO_RANDOMIZE)


def parent_death() -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGUSR2)


def subreaper() -> None:
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def privileges() -> None:
    prctl(PR_CAPBSET_DROP, 25)
    prctl(PR_SET_SECUREBITS, 1 << 4)


def seccomp() -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
    prctl(PR_SET_SECCOMP, 2, ctypes.addressof(program))


def timers() -> None:
    signal.setitimer(signal.ITIMER_REAL, 3000, 7)
    signal.setitimer(signal.ITIMER_VIRTUAL, 3000, 5)
    signal.setitimer(signal.ITIMER_PROF, 3000)


def descriptors() -> None:
    path = os.path.join(os.environ["STATE_FOLDER"], "inherited")
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(file, b"x" * 1000)
    os.lseek(file, 123, os.SEEK_SET)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    appended = os.open(sys.argv[0], os.O_RDONLY | os.O_APPEND)
    for source, target in ((file, 7), (reader, 15), (writer, 99), (appended, 250)):
        os.dup2(source, target)


def no_streams() -> None:
    for number in range(3):
        os.close(number)


def only_output() -> None:
    os.close(0)
    os.close(2)


def removed_folder() -> None:
    folder = os.path.join(os.environ["STATE_FOLDER"], "removed")
    os.mkdir(folder)
    os.chdir(folder)
    os.rmdir(folder)


def empty_environment() -> None:
    os.environ.clear()


def odd_environment() -> None:
    os.environ.update(
        {"EMPTY": "", "LINES": "a\nb", "LC_ALL": "C", "BASH_FUNC_f%%": "() { :; }", "IOLENS_LOGPATH": "."}
    )
    os.environb[b"BYTES"] = b"\xff\xfe"


def namespaces() -> None:
    if LIBC.unshare(0x04000000 | 0x08000000) != 0:  # UTS and IPC
        raise OSError(ctypes.get_errno(), "unshare")


def states() -> dict[str, Callable[[], None]]:
    others = {"prctl", "ignore", "states", "main"}
    return {
        name: one
        for name, one in globals().items()
        if callable(one) and type(one) is type(states) and name not in others
    }


def main() -> None:
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    states()[sys.argv[1]]()
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
