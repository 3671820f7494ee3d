"""Prints, for a shell, the variables that MPI programs of tests need on this machine: eval "$(python
tests/mpi_environment.py)".

They are those of `iolens run` for more ranks than cores; an argument names the MPI-IO component of Open MPI.
"""

from __future__ import annotations

import shlex
import sys

from iolens.lab.run.mpi_launch import mpi

RANKS = 1024
"""A number of ranks that is larger than the number of cores on any machine where tests run."""


def main(component: str | None = None) -> None:
    """Prints one `export NAME=VALUE` a line."""
    launcher = mpi.find_launcher(None)
    flavour = mpi.flavour_of_launcher(launcher)
    settings = mpi.environment(flavour, RANKS, component, launcher=launcher)
    print("\n".join(f"export {name}={shlex.quote(value)}" for name, value in settings.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
