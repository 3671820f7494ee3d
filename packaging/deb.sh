#!/usr/bin/env bash
# Build the Debian package into dist/, in a root made for that: `make deb`, as root, with debootstrap; some minutes.
# It is for this machine's release of Debian, or for SUITE=trixie, and has that name in its version.
set -euo pipefail
cd "$(dirname "$0")/.."
SUITE=${SUITE:-$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME")} || {
    echo "deb: this machine does not run Debian; name the release to build for, such as make deb SUITE=trixie" >&2
    exit 1
}
[ "${1:-}" != --suite ] || exec echo "$SUITE"
source packaging/roots.sh

# sources: the names of the project's files, from git, or from the folder where this is no clone.
sources() {
    git ls-files -z 2>/dev/null && return
    find . -path ./build -prune -o -path ./dist -prune -o -path ./results -prune -o -path ./.venv -prune -o \
        \( -name __pycache__ -o -name '*.egg-info' -o -name '.*_cache' -o -name uplot \) -prune -o \( -type f -o -type l \) -print0
}

version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' report/iolens/__init__.py)
source=build/deb/iolens-$version
rm -rf build/deb
mkdir -p "$source" dist
bash packaging/plotting.sh || {
    echo "deb: nothing was built, because npm could not download uPlot; install npm or check its registry, then run make deb again" >&2
    exit 1
}
sources | tar --null -T - -c | tar -x -C "$source"
cp -a report/iolens/pages/html/uplot "$source/report/iolens/pages/html"
mv "$source/packaging/debian" "$source/debian"
cat >"$source/debian/changelog" <<END
iolens ($version+$SUITE) $SUITE; urgency=medium

  * CHANGELOG.md says what is new.

 -- $(sed -n 's/^Maintainer: //p' "$source/debian/control")  $(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}")
END
fresh deb "$SUITE" "$source"
inside deb "apt-get -qq update
    cd iolens-$version
    apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends build-dep ./ >/dev/null
    dpkg-buildpackage -us -uc -b >../log 2>&1 || { tail -n 30 ../log; exit 1; }"
cp "${roots:-build/roots}"/deb/upper/try/iolens_*.deb dist
echo "deb: $(ls dist/iolens_"$version+$SUITE"_*.deb)"
