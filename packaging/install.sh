#!/usr/bin/env bash
# Copy what was built to PREFIX (below DESTDIR, when that is set), so that it works without this folder:
#   bin/iolens, bin/iolens-recover, bin/iolens-job-summary    the commands
#   lib/iolens/lib                    libraries to preload
#   lib/iolens/bin                    workloads and helpers, under names that would hide others' on PATH
#   lib/iolens/venv                   the Python package with what it needs
#   include                           marks that a program may set for the profiler, C and Fortran
#   share/iolens                      configuration of the emulated storage, experiments, scripts for a site
#   share/man, share/bash-completion … manual pages, and what shells complete
# Usage: [DESTDIR=DIR] install.sh PREFIX BUILD WORKLOADS ADAPTERS, the last three being build trees with bin/ and lib/
set -euo pipefail
cd "$(dirname "$0")/.."
# Others are to read what is installed, also where root's files are its own alone.
umask 022

[ $# = 4 ] || {
    echo "install.sh: set PREFIX, BUILD, WORKLOADS and ADAPTERS, or run make install, which sets them" >&2
    exit 2
}
prefix=$1 build=$2 workloads=$3 adapters=$4
case $prefix in
/*) ;;
*)
    echo "install.sh: PREFIX must be an absolute path, not '$prefix'" >&2
    exit 2
    ;;
esac
root=${DESTDIR:-}$prefix
home=$root/lib/iolens
venv=$home/venv

copy_programs() {
    local file
    install -d "$root/bin" "$home/bin" "$home/lib" "$root/include" "$root/share/iolens"
    install -m 644 profiler/include/* "$root/include"
    install -m 755 "$workloads"/bin/* "$home/bin"
    install -m 755 "$build"/bin/iolens "$root/bin"
    install -m 755 "$build"/bin/{iolens-recover,iolens-selfbench,ost-simulate,ost-replay} "$home/bin"
    install -m 755 "$build"/lib/*.so "$home/lib"
    for file in openmpi mpich mpiabi; do
        file=libiolens-$file.so
        [ -f "$build/lib/$file" ] || [ ! -f "$adapters/lib/$file" ] || install -m 755 "$adapters/lib/$file" "$home/lib"
    done
    # What debuggers read names the folder that they were built in.
    strip --strip-debug "$root/bin/iolens" "$home"/lib/*.so "$home"/bin/{iolens-recover,iolens-selfbench,ost-simulate,ost-replay}
    install -m 644 storage/*.yaml "$root/share/iolens"
    for file in slurm/*; do
        install -D -m 644 "$file" "$root/share/iolens/$file"
    done
    for file in packaging/{site,modulefiles}/*; do
        install -D -m 644 "$file" "$root/share/iolens/${file#packaging/}"
    done
    for file in workloads/*/*.yaml course/*.yaml course/*/*.yaml; do
        install -D -m 644 "$file" "$root/share/iolens/$file"
    done
    ln -sfn ../lib/iolens/bin/iolens-recover "$root/bin/iolens-recover"
}

# No script of pip's is kept, nor another trace of the folder that it was made in: DESTDIR is not where it will lie.
make_environment() {
    local packages
    rm -rf "$venv" build/python
    # Before Python 3.11, an environment that another one makes has a link to that one's Python.
    "$(readlink -f .venv/bin/python)" -m venv --without-pip "$venv"
    packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    IOLENS_PARTS=separate .venv/bin/python -m pip install -q --disable-pip-version-check --target "$packages" .
    rm -rf "$packages/bin"
    find "$venv/bin" -type f -delete
    sed -i '/^command = /d' "$venv/pyvenv.cfg"
    rm -f "$packages"/iolens-*.dist-info/direct_url.json
}

make_manuals() {
    local shell place
    .venv/bin/python packaging/man.py "$root/share/man/man1" "$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%F)"
    while read -r shell place; do
        install -d "$root/share/${place%/*}"
        .venv/bin/iolens completion "$shell" >"$root/share/$place"
    done <<'END'
bash bash-completion/completions/iolens
zsh zsh/site-functions/_iolens
fish fish/vendor_completions.d/iolens.fish
END
}

# Isolated (-I): neither the folder that it is used in nor PYTHONPATH can put a module of that name in the place of ours.
make_command() {
    sed "s/MODULE/$2/" >"$root/bin/$1" <<'END'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../lib/iolens/venv/bin/python" -I -m MODULE "$@"
END
    chmod 755 "$root/bin/$1"
}

copy_programs
make_environment
make_command iolens-job-summary iolens.cli.job_summary
make_manuals
echo "installed into $root"
if ! command -v mpicc >/dev/null || [ "$(command -v mpicc)" = "$PWD/.venv/bin/mpicc" ]; then
    echo "install: the programs use the MPI in $PWD/.venv, so keep that folder; to use your site's MPI instead, load it and run make clean install"
fi
