"""`iolens workloads`: lists the bundled programs, and builds them with the MPI of this machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program, source_of_workloads


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `iolens workloads`."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "build"),
        default="list",
        help="list the programs (default), or build them",
    )
    parser.add_argument("--mpicc", default="mpicc", metavar="COMMAND", help="compiler of the MPI (default: mpicc)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="build into DIR/bin (default: your own folder, where iolens searches)",
    )


def run(args: argparse.Namespace) -> int:
    """Lists the workloads, or builds them."""
    if args.action == "build":
        from iolens.lab.workloads.build import build_workload

        made = build_workload(args.mpicc, args.output)
        print(f"built {', '.join(path.name for path in sorted(made.iterdir()))} into {made}")
        return 0
    from iolens.lab.workloads.workloads import WORKLOADS

    for name in WORKLOADS:
        print(f"{name:22}{_where(name)}")
    source = source_of_workloads()
    for path in sorted((source / "workloads").glob("*/*.yaml")) if source else []:
        print(f"{'experiment':22}{path}")
    return 0


def _where(name: str) -> str:
    """Returns the path of a workload, or the command that builds it."""
    try:
        return str(find_program(name))
    except IolensError:
        return "not built; `iolens workloads build` builds it"
