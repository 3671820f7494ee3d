#!/usr/bin/env bash
# Build the wheel of the last commit in two clones in folders of different names, and compare the bytes:
# `make wheel-reproducible`, twice the time of `make wheel`. ARCH as there.
set -euo pipefail
cd "$(dirname "$0")/.."

here=$PWD
tools=$(realpath -m "${WHEEL_TOOLS:-build/wheel/tools}")
sums=()
for folder in build/again/one "build/again/another place"; do
    rm -rf "$folder"
    git clone -q --no-hardlinks . "$folder"
    # Both clones use the same virtual environment; wheel.sh takes the package from its own folder.
    ln -s "$here/.venv" "$folder/.venv"
    (cd "$folder" && WHEEL_TOOLS=$tools CCACHE_DISABLE=1 bash packaging/wheel.sh >"$here/build/again/log" 2>&1) || {
        tail -n 20 build/again/log >&2
        exit 1
    }
    sums+=("$(cd "$folder/dist" && sha256sum ./*.whl)")
done
[ "${sums[0]}" = "${sums[1]}" ] || {
    printf 'the wheels differ:\n%s\n%s\n' "${sums[@]}" >&2
    exit 1
}
echo "the same bytes twice: ${sums[0]}"
