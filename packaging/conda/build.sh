#!/usr/bin/env bash
# Run by conda-build in the source folder: the Python package, then what is not Python, where the package looks for it.
set -euo pipefail

IOLENS_PARTS=separate $PYTHON -m pip install . --no-deps --no-build-isolation -vv
for part in storage profiler; do
    make -C $part BUILD=../build/conda CC="$CC" MPICC=mpicc all
done
$PYTHON packaging/stage.py "$SP_DIR/iolens/parts" "$PREFIX/share" build/conda
