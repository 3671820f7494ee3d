"""Names the MPI library of this build of the profiler."""

from __future__ import annotations

from iolens.lab.installation import find_library
from iolens.lab.run.mpi_launch.mpi import Flavour

FLAVOUR: Flavour = "openmpi" if find_library("libiolens-openmpi.so") else "mpich"
PRELOAD = str(find_library("libiolens.so"))
