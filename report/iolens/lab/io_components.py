"""Names of MPI-IO components, as `mpi.io_component` of experiment.yaml and `iolens run --io-component` take them."""

from __future__ import annotations

LUSTRE = "lustre"
"""Name of ROMIO's Lustre driver, in every MPI library that has it."""

_OF_OPEN_MPI = ("romio321", "ompio")
"""Components of Open MPI, by the names that Open MPI 4 gives them."""

ROMIO = "romio"
"""Name, in a log, of the only component of MPICH and of libraries derived from it."""

TWO_PHASE = "two-phase"
"""Name, in results, of the bundled programs' own two-phase transfers, which use no MPI-IO."""

IO_COMPONENTS = (*_OF_OPEN_MPI, LUSTRE)
