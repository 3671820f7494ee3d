"""Find the application in a launcher's command line, so that the preload reaches it and never the launcher."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

_OPEN_MPI = {
    **dict.fromkeys(
        "-n -np --np -c --n -x --host -host -H --hostfile -hostfile --machinefile -machinefile --map-by --bind-to "
        "--rank-by -N --npernode -npernode --npersocket -npersocket --wdir -wdir -wd --path -path --prefix --tune "
        "-tune --app -app -s --preload-files --output-filename "
        "--timeout --report-uri --stdin --personality "
        "--rankfile -rf --slot-list --cpu-set --cpu-list --runtime-options --display --pmixmca-file".split(),
        1,
    ),
    **dict.fromkeys("--mca -mca --gmca -gmca --pmixmca --prtemca".split(), 2),
}
_HYDRA = {
    **dict.fromkeys(
        "-n -np -f -hosts -hostfile -ppn -wdir -path -host -genvlist -envlist -iface -launcher -launcher-exec "
        "-bootstrap -bootstrap-exec -rmk -bind-to -map-by -membind -configfile -outfile-pattern -errfile-pattern "
        "-prepend-pattern -order-nodes -arch".split(),
        1,
    ),
    **dict.fromkeys("-genv -env".split(), 2),
}
_SRUN = dict.fromkeys(
    "-A -b -c -C -d -D -e -E -G -i -I -J -L -m -M -n -N -o -p -P -q -r -R -S -t -T -w -W -x --account --mpi --nodes "
    "--ntasks --ntasks-per-node --cpus-per-task --partition --time --export --nodelist --distribution --chdir "
    "--output --error --input --job-name --mem --gres --qos --exclude --hint --cpu-bind --relative --jobid "
    "--constraint --reservation --threads-per-core --cpu-freq --dependency --licenses --mem-per-cpu".split(),
    1,
)
_APRUN = dict.fromkeys("-n -N -d -S -j -e -L -m -cc -cp -p -r -t -B -F -q".split(), 1)

_LAUNCHERS: Mapping[str, Mapping[str, int]] = {
    "mpirun": {**_HYDRA, **_OPEN_MPI},
    "mpiexec": {**_HYDRA, **_OPEN_MPI},
    "mpiexec.hydra": _HYDRA,
    "orterun": _OPEN_MPI,
    "prterun": _OPEN_MPI,
    "srun": _SRUN,
    "aprun": _APRUN,
}
"""Options of each launcher that take values, with the number of words that follow them."""


_START = 'exec "$0" "$@"'
"""Command at the end of a shell script: it replaces the shell by the program that is named in the arguments."""

_ENV_WITH_VALUE = ("-u", "-C")
"""Options of env that take the next word as a value."""


class CommandLine(NamedTuple):
    """A command line split into parts: `launcher` (None for a plain program) and the index of every application."""

    words: tuple[str, ...]
    launcher: str | None
    applications: tuple[int, ...]

    @property
    def application(self) -> str | None:
        """Returns the first application as the user wrote it; None if the launcher was given none."""
        return self.words[self.applications[0]] if self.applications else None


def take_apart(words: Sequence[str]) -> CommandLine:
    """Finds the applications of a command; a program that is not a known launcher is its own application."""
    name = Path(words[0]).name
    if name not in _LAUNCHERS:
        return CommandLine(tuple(words), None, (0,))
    options = _LAUNCHERS[name]
    applications = []
    index = 1
    while index < len(words):
        if words[index].startswith("-") and words[index] != "--":
            index += 1 + options.get(words[index], 0)
            continue
        if words[index] == "--":
            index += 1
        if index < len(words):
            applications.append(index)
        # An MPMD command has further applications, each after a `:`.
        index = words.index(":", index) + 1 if ":" in words[index:] else len(words)
    return CommandLine(tuple(words), name, tuple(applications))


def command_name(words: Sequence[str]) -> str:
    """Returns the name of the program or launcher that a command line starts; words that set variables are skipped."""
    rest = list(words)
    if rest[:2] == ["sh", "-c"] and "".join(rest[2:3]).endswith(_START):
        rest = rest[3:]
    while rest and Path(rest[0]).name == "env":
        rest = rest[1:]
        while rest and (rest[0].startswith("-") or "=" in rest[0]):
            rest = rest[1 + (rest[0] in _ENV_WITH_VALUE) :]
    return Path(rest[0] if rest else words[0]).name


def with_environment(
    command: CommandLine,
    environment: Mapping[str, str],
    preloaded: Mapping[str, str] = MappingProxyType({}),
    beyond: Sequence[int] = (),
) -> list[str]:
    """Returns the command with `env NAME=value …` ahead of every application; the launcher's own words stay unchanged.
    Applications whose index is in `beyond` do not get the libraries in `preloaded`.
    """
    words: list[str] = []
    for index, word in enumerate(command.words):
        settings = {**environment, **({} if index in beyond else preloaded)}
        if index in command.applications and settings:
            words += _variable_words(settings, word)
        words.append(word)
    return words


def _variable_words(environment: Mapping[str, str], program: str) -> list[str]:
    """Returns the words ahead of a program that set its environment. A program whose path has a `=` is started by a
    shell: env would take it for a variable. The shell itself runs without the preloaded libraries.
    """
    pairs = environment.items()
    if "=" not in program:
        return ["env", *(f"{name}={value}" for name, value in pairs)]
    exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in pairs)
    return ["sh", "-c", f"export {exports}; {_START}"]
