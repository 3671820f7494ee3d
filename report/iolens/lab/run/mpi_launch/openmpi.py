"""The variables that tell Open MPI's launcher and library about a machine; version 5 renamed most of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

Need = Literal["as root", "no single copy", "oversubscribed", "yielding", "unbound", "one node"]


class MpiVariables(NamedTuple):
    """Variables that meet one need: for Open MPI up to version 4, and for Open MPI from version 5 on, whose launcher is
    PRRTE's.
    """

    old: Mapping[str, str]
    new: Mapping[str, str]

    def of(self, version: int | None) -> Mapping[str, str]:
        """Returns the variables that this major version reads; those of all versions if it is unknown."""
        if version is None:
            return {**self.old, **self.new}
        return self.new if version >= 5 else self.old


_ALLOW_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_PRRTE_ALLOW_ROOT = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}

_SETTINGS: Mapping[Need, MpiVariables] = {
    "as root": MpiVariables(_ALLOW_ROOT, {**_ALLOW_ROOT, **_PRRTE_ALLOW_ROOT}),
    "no single copy": MpiVariables({"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}, {"OMPI_MCA_smsc": "^cma"}),
    "oversubscribed": MpiVariables(
        {"OMPI_MCA_rmaps_base_oversubscribe": "1"}, {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    ),
    "yielding": MpiVariables(_YIELD, _YIELD),
    "unbound": MpiVariables(
        {"OMPI_MCA_hwloc_base_binding_policy": "none"}, {"PRTE_MCA_hwloc_default_binding_policy": "none"}
    ),
    "one node": MpiVariables({}, {"OMPI_MCA_reachable": "weighted"}),
}
"""Variables by need. `single copy`: ranks of one node copy large messages directly from each other's memory; if the
system forbids that, each send prints an error. `as root`: without these variables mpirun refuses to run as root, even
for `--version`. `one node`: on a node with IPv4 and IPv6 addresses, each rank of Open MPI 5 prints that it cannot reach
the others by TCP, which it does not need.
"""


def openmpi_variables(needs: Iterable[Need], version: int | None) -> dict[str, str]:
    """Returns the variables that meet all these needs in a major version of Open MPI."""
    return {key: value for need in needs for key, value in _SETTINGS[need].of(version).items()}


def major_version(said: str) -> int | None:
    """Returns the major version of Open MPI that `mpirun --version` names; None if it names none."""
    found = re.search(r"Open ?MPI\)? v?(\d+)\.", said)
    return int(found[1]) if found else None
