"""The compilation of a bundled workload: the C compiler behind the MPI's own command, and the flags."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

_CHOOSING = ("OMPI_CC", "MPICH_CC", "I_MPI_CC", "CC")
"""Variables that tell an MPI's compiler command which C compiler to use: Open MPI's, MPICH's, Intel's, and that of the
command that setup makes for Intel's packages.
"""


@dataclass(frozen=True)
class Recipe:
    """The compiler and the flags of a build; None: the defaults of the MPI's command and of the workloads' Makefile.
    `flags` replace all flags that affect the code, so that nothing is added to them.
    """

    compiler: str | None = None
    flags: str | None = None

    @property
    def is_usual(self) -> bool:
        """Returns True for the recipe of `make build`."""
        return self == USUAL

    @property
    def variables(self) -> Mapping[str, str]:
        """Returns the variables that make the compiler command of any MPI use this compiler."""
        return dict.fromkeys(_CHOOSING, self.compiler) if self.compiler else {}

    @property
    def folder(self) -> str:
        """Returns a readable folder name that no other recipe has."""
        words = re.sub("[^A-Za-z0-9.+-]+", "_", f"{self.compiler or ''}{self.flags or ''}").strip("_-")[:60]
        return f"{words}_{hashlib.sha256(repr(self).encode()).hexdigest()[:8]}"

    @property
    def text(self) -> str:
        """Returns the recipe in words: 'clang -O3', 'the usual compiler -O3', 'clang, the usual flags'."""
        compiler = self.compiler or "the usual compiler"
        return f"{compiler} {self.flags}" if self.flags else f"{compiler}, the usual flags"


USUAL = Recipe()
