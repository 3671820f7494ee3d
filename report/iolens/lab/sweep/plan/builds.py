"""The builds of the program that the runs of a sweep request, and the commands that start them."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import iolens
from iolens.errors import IolensError, UsageError
from iolens.lab.files import write_aside
from iolens.lab.installation import find_library, find_program, need_library
from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.around import Around
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.launchers.placement import options_for
from iolens.lab.run.command_line import take_apart, with_environment
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.mpi_launch.allocation import allocation
from iolens.lab.run.mpi_launch.lustre_driver import INTEL_MPI, Build, build_with_driver
from iolens.lab.run.mpi_launch.mpi import mpi_output
from iolens.lab.run.record import run_key
from iolens.lab.say import say
from iolens.lab.storage.backend import Backend
from iolens.lab.sweep.define.classes import LUSTRE_LIKE
from iolens.lab.sweep.define.command import files_in, filled, with_paths
from iolens.lab.sweep.define.experiment import APART, NEVER, OWN, ROMIO, Experiment
from iolens.lab.sweep.define.spec import Built, PointSpec
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.values import LISTED
from iolens.lab.workloads.build import build_settings, build_workload, source_digest
from iolens.lab.workloads.foreign import FOREIGN
from iolens.lab.workloads.recipe import USUAL, Recipe
from iolens.lab.workloads.workload import RESULT
from iolens.lab.workloads.workloads import workload_of
from iolens.places import BUILD_FOR_LUSTRE


def builds_of(
    experiment: Experiment, storage: Backend, folder: Path, specs: Iterable[PointSpec]
) -> Mapping[Built, Build]:
    """Finds the program and an MPI for each component that the runs request, and makes the requested builds below the
    folder of the results; raises before any run has started if one of them is missing.
    """
    for library in ("libiolens.so", *storage.libraries):
        need_library(library)
    wanted = dict.fromkeys(spec.built for spec in specs)
    launcher = LAUNCHERS[experiment.launcher]
    find = _build_of_command if experiment.command else _build_for
    usual = {component: find(component, experiment.program, launcher) for component, _ in wanted}
    return {
        built: usual[built[0]] if built[1].is_usual else _built_anew(usual[built[0]], built, folder)
        for built in sorted(wanted, key=str)
    }


def _build_for(component: str | None, name: str, launcher: Launcher) -> Build:
    """Returns the program built for an MPI that has the component; facts that the program does not report come from the
    launcher.
    """
    if component == LUSTRE:
        return build_with_driver(name, launcher.starter)
    program = find_program(name)
    linked = mpi.flavour_of_program(program)
    starter = launcher.starter(linked)
    return Build(program, linked or mpi.flavour_of_launcher(starter), starter)


def _build_of_command(component: str | None, name: str, launcher: Launcher) -> Build:
    """Returns the program of a whole command; a script has the MPI of the launcher on PATH, if there is one."""
    if component == LUSTRE:
        raise UsageError(
            "mpi.io_component: iolens starts the ranks with another MPI for the Lustre driver, so it needs "
            "workload.program and workload.ranks instead of workload.command"
        )
    program, starter = Path(name), shutil.which("mpirun") or shutil.which("mpiexec")
    linked = mpi.flavour_of_program(program)
    return Build(program, linked or (mpi.flavour_of_launcher(starter) if starter else None), starter or "")


_SMALL = 16 * 2**20
"""Size in bytes up to which a file that a command names or reads belongs to the key of its runs."""


def _parts_of_command(experiment: Experiment) -> dict[str, Any]:
    """Returns what a command and the steps around it add to the key of a run."""
    names = ("command", "before", "after", "check", "copy", "outputs")
    told = {name: value for name in names if (value := getattr(experiment, name))}
    told |= {"place": experiment.place} if experiment.place else {}
    return told | ({"exit_code": experiment.exit_code} if experiment.exit_code else {})


def key_of(experiment: Experiment, storage: Backend, spec: PointSpec) -> str:
    """Returns a key of everything that decides the outcome of a run, which excludes paths."""
    build = spec.build
    names = ("libiolens.so", f"libiolens-{build.flavour}.so", *storage.libraries)
    libraries = [path for path in map(find_library, names) if path]
    parts: dict[str, Any] = {
        "arguments": spec.arguments,
        "ranks": spec.ranks,
        "launcher": build.starter,
        "environment": spec.environment,
        "requested": spec.requested,
        "hints": spec.hints,
        "io": spec.io_component,
        "storage": experiment.storage,
        **({"build": build.made} if build.made else {}),
        **({"mapping": spec.mapping} if spec.mapping else {}),
        **({"options": spec.options} if spec.options else {}),
        **({"pool": experiment.pool} if experiment.pool else {}),
        **_parts_of_command(experiment),
    }
    named = files_in(experiment.command, experiment.inputs) if experiment.inputs else []
    named += [path for name in experiment.reads if (path := (experiment.inputs or Path()) / name).is_file()]
    small = [path for path in dict.fromkeys(named) if path.stat().st_size <= _SMALL]
    return run_key(parts, [build.program, *small, *libraries, *storage.settings(spec.mount)])


_BUILDS = "builds"
"""Folder of a sweep's own builds, below the folder of its results."""

_STAMP = "recipe.json"
"""File in the folder of a build that records its source, compiler and flags. The build is reused while these are
unchanged, so that a sweep that continues on another day runs the same program.
"""

_MPICC = "mpicc"

_WRAPPER = "opal_wrapper"
"""The program to which all of Open MPI's compiler commands are links."""


def check_recipes(program: str, recipes: Iterable[Recipe]) -> None:
    """Raises if a program cannot be rebuilt, or if a compiler is missing or unusable with an MPI."""
    asked = [recipe for recipe in recipes if not recipe.is_usual]
    if asked and (workload_of(program) is FOREIGN or "/" in program):
        raise UsageError(
            f"compiler and flags: only bundled workloads are built, but {program} is not one of them; leave both out"
        )
    for name in dict.fromkeys(recipe.compiler for recipe in asked if recipe.compiler):
        path = shutil.which(name)
        if path is None:
            raise UsageError(f"compiler: {name} was not found; install it, load its module, or give its path")
        # An MPI compiler command that is told to use itself would start itself endlessly.
        if Path(name).name.startswith("mpi") or Path(path).resolve().name == _WRAPPER:
            raise UsageError(
                f"compiler: {name} is the compiler command of an MPI; name the C compiler that it should use, such as "
                f"gcc"
            )


def builds_folder(folder: Path, built: Built) -> Path:
    """Returns the folder of a build, below the folder of the results."""
    component, recipe = built
    return folder / _BUILDS / f"{'lustre_' if component == LUSTRE else ''}{recipe.folder}"


def _built_anew(base: Build, built: Built, folder: Path) -> Build:
    """Builds the program of `base` for the same MPI with another recipe, below the results folder `folder`.

    A build of the same source, compiler and flags from an earlier sweep is reused. Raises IolensError with the
    compiler's output if compilation fails.
    """
    recipe, target, name = built[1], builds_folder(folder, built), base.program.name
    wrapper = _wrapper_of(base)
    version = _version_of(wrapper, recipe)
    made = {"compiler": recipe.compiler or _compiler_named(wrapper), "version": version}
    made |= {"flags": recipe.flags} if recipe.flags else {}
    stamp = {**made, "mpicc": wrapper, "links": mpi_output(wrapper, "-show").strip(), "source": source_digest()}
    stamp |= {"iolens": iolens.__version__, "program": name}
    program = target / "bin" / name
    if stamp != _read_stamp(target) or not program.is_file():
        with alone(folder):
            say(f"building {name} with {recipe.text}")
            shutil.rmtree(target, ignore_errors=True)
            build_workload(wrapper, target, recipe, name)
            _check_build(program, base, wrapper, recipe)
            write_aside(target / _STAMP, json.dumps(stamp, indent=1) + "\n")
    return replace(base, program=program.resolve(), made=made)


def _wrapper_of(base: Build) -> str:
    """Returns the compiler command of the MPI that a program was built for."""
    if base.program.parent == BUILD_FOR_LUSTRE / "bin":
        return str(INTEL_MPI / "bin" / "iolens-mpicc")
    found = shutil.which(_MPICC)
    if found is None:
        raise IolensError(f"{_MPICC} was not found; load your MPI's module")
    return found


def _compiler_named(wrapper: str) -> str:
    """Returns the compiler that an MPI's compiler command uses by default."""
    words = shlex.split(mpi_output(wrapper, "-show"))
    return words[0] if words else Path(wrapper).name


def _version_of(wrapper: str, recipe: Recipe) -> str:
    """Returns the first line of the compiler's version; raises if the MPI's command uses another compiler."""
    said = _first_line(mpi_output(*with_environment(take_apart([wrapper, "--version"]), recipe.variables)))
    if recipe.compiler and said != _first_line(mpi_output(recipe.compiler, "--version")):
        raise UsageError(f"compiler: {wrapper} does not use {recipe.compiler}; it reports {said!r}")
    return said


def _check_build(program: Path, base: Build, wrapper: str, recipe: Recipe) -> None:
    """Raises if the new build is static, so that no profiler can be loaded, or belongs to another MPI than the usual
    build.
    """
    if mpi.is_static(program):
        raise UsageError(f"flags: {recipe.flags} links {program.name} statically, so no profiler can be loaded into it")
    flavour = mpi.flavour_of_program(program)
    if flavour != base.flavour:
        raise IolensError(
            f"{wrapper} builds for {flavour or 'no MPI'}, but {base.program} uses {base.flavour}; put the command of "
            f"that MPI first on PATH"
        )


def _read_stamp(folder: Path) -> object:
    """Returns the recorded source, compiler and flags of a build; None if no complete record exists."""
    try:
        return json.loads((folder / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _first_line(text: str) -> str:
    """Returns the first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _assignments(variables: Mapping[str, str]) -> list[str]:
    """Returns variables as assignments that precede a command."""
    return [f"{key}={value}" for key, value in variables.items()]


def build_command(program: str, recipe: Recipe, target: Path | None = None) -> str:
    """Returns the command that makes a build by hand, from the folder above the source of the workloads."""
    words = [*_assignments(recipe.variables), "make", "-C", "workloads", *([f"BUILD={target}"] if target else [])]
    return shlex.join([*words, *build_settings(_MPICC, recipe, program)])


def build_commands(program: str, changes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Returns the build command for the recipe that these changes add up to, each a table that may have `compiler` and
    `flags`; empty for the usual recipe.
    """
    recipe = USUAL
    for change in changes:
        recipe = replace(recipe, **{key: str(change[key]) for key in LISTED if change.get(key)})
    return () if recipe.is_usual else (build_command(program, recipe),)


def with_command(experiment: Experiment, storage: Backend, spec: PointSpec) -> PointSpec:
    """Returns the specification with the command that runs its program. Raises UsageError for a mapping that the
    starter of the ranks cannot do.
    """
    hints = {} if _hints_by_file_alone(spec) else spec.hints
    asked_later = storage.get_stripes is not None and storage.make is None
    # The file system is asked for the stripes after the run, so the program must keep its data until then.
    keep = spec.keep.data != NEVER or asked_later
    found = replace(spec, flavour=spec.build.flavour, around=_around(experiment, spec))
    if experiment.command:
        places = {"directory": spec.data, "json": spec.folder.absolute() / RESULT, "ranks": spec.ranks}
        command = with_paths(experiment.command, experiment.inputs or Path.cwd())
        return replace(found, starter=(), words=(*filled(command, places), *filled(spec.arguments, places)))
    words = experiment.workload.words(spec.arguments, spec.folder, spec.data, hints, keep)
    starter = _starter_words(spec, LAUNCHERS[experiment.launcher])
    return replace(found, starter=starter, words=(str(spec.build.program), *words))


def _around(experiment: Experiment, spec: PointSpec) -> Around:
    """Returns the working folder of a run, and what is done before and after it."""
    places = {"directory": spec.data, "json": spec.folder.absolute() / RESULT, "ranks": spec.ranks}
    folders = {APART: spec.data, OWN: experiment.inputs, None: None}
    folder = folders[experiment.working_folder]
    steps = {"before": experiment.before, "after": experiment.after, "check": experiment.check}
    texts = {name: filled([text], places)[0] for name, text in steps.items() if text}
    return Around(
        str(folder) if folder else None, **texts, exit_code=experiment.exit_code, environment=spec.environment
    )


def _hints_by_file_alone(spec: PointSpec) -> bool:
    """Returns True for the ROMIO of Open MPI 5. That ROMIO loses every hint that a program passes, and then also
    ignores a hint of the same name in the file of hints.
    """
    if spec.io_component != ROMIO or LUSTRE_LIKE in spec.arguments:
        return False
    return spec.build.flavour == "openmpi" and mpi.has_romio_of_5(spec.build.starter)


def _starter_words(spec: PointSpec, launcher: Launcher) -> tuple[str, ...]:
    """Returns the words of the command line before the number of ranks: the experiment's own, or the build's starter
    with options.
    """
    start = spec.options.get("start")
    words = shlex.split(start) if start else [spec.build.starter]
    per_node = spec.options.get("ranks_per_node") if _places_by_itself(launcher) else None
    return (*words, *options_for(words[0], spec.mapping, per_node))


def _places_by_itself(launcher: Launcher) -> bool:
    """Returns True if the command must give the number of ranks per node: on several nodes that were not requested from
    a batch system.
    """
    return not launcher.elsewhere and len(allocation().nodes) > 1


def check_ranks_per_node(runs: Sequence[PointSpec], launcher: Launcher) -> None:
    """Raises if the nodes of a run, with the requested number of ranks on each, cannot hold its ranks."""
    for spec in runs:
        per_node = spec.options.get("ranks_per_node")
        nodes = launcher.nodes(spec.options) if launcher.elsewhere else len(allocation().nodes)
        if per_node and spec.ranks > nodes * per_node:
            where = "one node" if nodes == 1 else f"each of {nodes} nodes"
            more = "" if launcher.elsewhere else f"; the launcher {launcher.name} has no more nodes"
            raise UsageError(
                f"ranks_per_node: {per_node} on {where} are fewer than the {spec.ranks} ranks of run {spec.id}{more}"
            )
