"""Names of MPI-IO components, as `mpi.io_component` of experiment.yaml and `iolens run --io-component` take them."""

from __future__ import annotations

LUSTRE = "lustre"
"""ROMIO's Lustre driver, in whichever MPI has it."""

_OF_OPEN_MPI = ("romio321", "ompio")
"""Open MPI's own component, by the names of Open MPI 4."""

ROMIO = "romio"
"""The component of MPICH and of the libraries made of it, as a log names it: they have no other."""

TWO_PHASE = "two-phase"
"""Name, in results, of the bundled programs' own two-phase transfers, which use no MPI-IO."""

IO_COMPONENTS = (*_OF_OPEN_MPI, LUSTRE)
