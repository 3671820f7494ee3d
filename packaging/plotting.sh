#!/usr/bin/env bash
# Put uPlot, which draws the interactive figures of HTML reports, into the Python package: 55 kB, MIT licence.
# It comes from its npm package, and is taken only if it is the version that the reports are tested with. Without it
# reports have still figures, and say so.
set -euo pipefail
cd "$(dirname "$0")/../report/iolens/pages/html"

version=1.6.32
check_sums() {
    sha256sum --quiet --check - >/dev/null 2>&1 <<'END'
19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f  uPlot.iife.min.js
df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04  uPlot.min.css
8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd  LICENSE
END
}

fetch() {
    why="npm is not installed; install it, and run packaging/plotting.sh"
    command -v npm >/dev/null || return 1
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
