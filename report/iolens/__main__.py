"""`python -m iolens`, where the command is not on PATH."""

from __future__ import annotations

import sys

from iolens.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
