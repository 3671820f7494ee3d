"""The runtimes of containers, and for each its options: how it binds a file and sets a variable inside, and where its
options end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.run.containers.container_names import runtime_name


@dataclass(frozen=True)
class Runtime:
    """A program that starts containers.

    `flags` are its options without a value, short and long; all other options take one. A variable whose name outside
    begins with `prefix` is set inside; if `prefix` is "", the option `variable` sets it. `examine` are the options that
    start only a shell inside, in place of the image's own program. With `as_host`, a process inside has the same user,
    process id and /dev/shm as outside.
    """

    name: str
    subcommands: tuple[str, ...]
    letters: str
    flags: frozenset[str]
    bind: str
    as_host: bool
    prefix: str = ""
    variable: str = ""
    examine: tuple[str, ...] = ()


_APPTAINER_FLAGS = frozenset(
    "allow-setuid cleanenv compat contain containall disable-cache docker-login fakeroot help ipc keep-privs net "
    "no-compat no-eval no-home no-https no-init no-oci no-pid no-privs no-tmp-sandbox no-umask nohttps nv nvccli oci "
    "oom-kill-disable passphrase pid rocm sharens sif-fuse tmp-sandbox underlay unsquash userns uts vm vm-err writable "
    "writable-tmpfs".split()
)
_DOCKER_FLAGS = frozenset(
    "detach disable-content-trust help init interactive no-healthcheck oom-kill-disable privileged publish-all quiet "
    "read-only rm sig-proxy tty use-api-socket".split()
)
_PODMAN_FLAGS = _DOCKER_FLAGS | frozenset(
    "env-host http-proxy no-hostname no-hosts passwd read-only-tmpfs replace rmi rootfs tls-verify unsetenv-all".split()
)
_INSTEAD = ("--rm", "--interactive=false", "--tty=false", "--entrypoint", "sh")

RUNTIMES: Mapping[str, Runtime] = {
    runtime.name: runtime
    for runtime in (
        Runtime(
            "apptainer", ("exec", "run"), "eCcfhinpuw", _APPTAINER_FLAGS, "--bind", as_host=True, prefix="APPTAINERENV_"
        ),
        Runtime(
            "singularity",
            ("exec", "run"),
            "eCcfhinpuw",
            _APPTAINER_FLAGS,
            "--bind",
            as_host=True,
            prefix="SINGULARITYENV_",
        ),
        Runtime(
            "docker", ("run",), "diPqt", _DOCKER_FLAGS, "--volume", as_host=False, variable="--env", examine=_INSTEAD
        ),
        Runtime(
            "podman", ("run",), "diPqt", _PODMAN_FLAGS, "--volume", as_host=False, variable="--env", examine=_INSTEAD
        ),
    )
}


def runtime_of(program: str) -> Runtime | None:
    """Returns the runtime that a program is; None if it is not a runtime."""
    name = runtime_name(program)
    return RUNTIMES[name] if name else None


@dataclass(frozen=True)
class Started:
    """The parts of a command that starts a container: the words up to the subcommand, the subcommand's options, the
    image, and the command inside, which is empty if the image's own command runs.
    """

    runtime: Runtime
    head: tuple[str, ...]
    options: tuple[str, ...]
    image: str
    inside: tuple[str, ...]


def take_start_apart(words: Sequence[str], runtime: Runtime) -> Started:
    """Returns the parts of a command that begins with a container's runtime; raises UsageError if it does not start a
    container whose end can be waited for.
    """
    begin = next((i for i, word in enumerate(words) if i and word in runtime.subcommands), None)
    if begin is None:
        wanted = " or ".join(f"`{runtime.name} {name}`" for name in runtime.subcommands)
        raise UsageError(
            f"--container needs a command that starts a container, with {wanted}; iolens cannot enter a running "
            f"container"
        )
    index = begin + 1
    while index < len(words) and words[index].startswith("-") and words[index] != "--":
        index += 1 + _takes_next(words[index], runtime)
    index += index < len(words) and words[index] == "--"
    if index >= len(words):
        raise UsageError(f"no image was found after `{' '.join(words[: begin + 1])}` and its options")
    options = tuple(words[begin + 1 : index])
    if not runtime.as_host and any(option in ("-d", "--detach", "--detach=true") for option in options):
        raise UsageError(f"{runtime.name} would not wait for the container's end; leave --detach out")
    if words[index].startswith("instance://"):
        raise UsageError(f"the profiler cannot be bound into a container that already runs, such as {words[index]}")
    return Started(runtime, tuple(words[: begin + 1]), options, words[index], tuple(words[index + 1 :]))


def _takes_next(option: str, runtime: Runtime) -> bool:
    """Returns whether the word after an option is its value. Short options may be written together, followed by the
    value of the last one.
    """
    if option.startswith("--"):
        return "=" not in option and option[2:] not in runtime.flags
    valued = option[1:].lstrip(runtime.letters)
    return len(valued) == 1


def bind_option(runtime: Runtime, source: Path, target: str, writable: bool) -> list[str]:
    """Returns the option that shows a file or folder of this machine inside."""
    if set(str(source)) & set(":,"):
        raise IolensError(f"{source} cannot be bound into a container: {runtime.name} splits its options at : and ,")
    return [runtime.bind, f"{source}:{target}{'' if writable else ':ro'}"]
