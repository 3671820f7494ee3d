"""Names of MPI-IO components, as `mpi.io_component` of experiment.yaml and `iolens run --io-component` take them."""

from __future__ import annotations

LUSTRE = "lustre"
"""ROMIO's Lustre driver, in whichever MPI has it."""

_OF_OPEN_MPI = ("romio321", "ompio")
"""Open MPI's own component, by the names of Open MPI 4."""

IO_COMPONENTS = (*_OF_OPEN_MPI, LUSTRE)
