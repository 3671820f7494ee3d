#!/usr/bin/env bash
# Hold the types of the Python package against the oldest and the newest NumPy and pandas that pyproject.toml allows, and
# against the newest of the oldest Python: `make types`. Their files alone are needed, so that any Python will do; they are put
# into build/types.
set -euo pipefail
cd "$(dirname "$0")/.."

# bounds PACKAGE: the oldest version and the first that is not allowed.
bounds() { sed -nE "s/^ *\"$1>=([0-9.]+),<([0-9.]+)\",$/\1 \2/p" pyproject.toml; }

# against NAME PYTHON REQUIREMENT...: run mypy with these packages as a Python of that version has them.
against() {
    local name=$1 python=$2 folder=build/types/$1
    shift 2
    [ -x "$folder/bin/python" ] || .venv/bin/python -m venv --without-pip "$folder"
    local packages
    packages=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    # pip asks the Python that runs it whether a package suits; the tags of the wheels say it of the other Python.
    .venv/bin/python -m pip install -q --disable-pip-version-check --upgrade --only-binary :all: --no-deps --ignore-requires-python \
        --python-version "$python" --target "$packages" "$@" rich matplotlib pillow types-PyYAML
    # Older stubs have no defaults for the arguments of `ndarray`.
    .venv/bin/mypy --no-error-summary --python-executable "$folder/bin/python" --python-version "$python" \
        --cache-dir "build/types/cache-$name" $([ "$name" != newest ] || echo --disallow-any-generics)
    echo "types: hold with $(cd "$packages" && ls -d numpy-*.dist-info pandas-*.dist-info | sed 's/.dist-info//' | paste -sd ' ')"
}

read -r numpy numpy_end <<<"$(bounds numpy)"
read -r pandas pandas_end <<<"$(bounds pandas)"
against oldest 3.10 "numpy==$numpy.*" "pandas==$pandas.*"
against newest-of-oldest 3.10 "numpy<$numpy_end" "pandas<$pandas_end"
against newest 3.13 "numpy<$numpy_end" "pandas<$pandas_end"
