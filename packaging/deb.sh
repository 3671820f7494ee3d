#!/usr/bin/env bash
# Build the Debian package into dist/, in a root made for that: `make deb`, as root, with debootstrap; some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/roots.sh

version=$(.venv/bin/python -c 'import iolens; print(iolens.__version__)')
source=build/deb/iolens-$version
rm -rf build/deb
mkdir -p "$source" dist
git ls-files -z | tar --null -T - -c | tar -x -C "$source"
mv "$source/packaging/debian" "$source/debian"
cat >"$source/debian/changelog" <<END
iolens ($version) unstable; urgency=medium

  * CHANGELOG.md says what is new.

 -- $(sed -n 's/^Maintainer: //p' "$source/debian/control")  $(date -u -R -d "@$(git log -1 --format=%ct)")
END
fresh deb "$suite" "$source"
inside deb "apt-get -qq update
    cd iolens-$version
    apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends build-dep ./ >/dev/null
    dpkg-buildpackage -us -uc -b >../log 2>&1 || { tail -n 30 ../log; exit 1; }"
cp build/roots/deb/upper/try/iolens_*.deb dist
echo "deb: $(ls dist/iolens_"$version"_*.deb)"
