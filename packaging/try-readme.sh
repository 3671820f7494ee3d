#!/usr/bin/env bash
# Run in a bare Debian the commands of README.md under "Start", in a clone, with nothing else: `make roads`, as root, with debootstrap and a network. Usage: try-readme.sh SUITE root|user [--short]
#   root      the person is root, as in a container
#   user      the person has no sudo; the machine has the packages that the page names for that case
#   --short   instead of `make test`, the commands of CONTRIBUTING from set-up to check, with the tests of two files; where
#             no Debian can be made, one sentence says why, and the exit code is 0
# GRID: the variables of `make run` (a short sweep). TESTS: the tests that `make test` runs instead of all.
# The root lies in build/roots/readme-SUITE-PERSON; ROOTS names another folder. It is removed when all has passed, and stays
# until the next trial otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/roots.sh

suite=$1 person=$2 short=${3:-}
grid="${GRID-STRIPES='1 4' AGGREGATORS=1 CB_BUFFER=1M REPEAT=2 CONFIRM=1}"
name=readme-$suite-$person
room=6 # GB that a trial may fill: a whole one took 4.5

# block DOCUMENT SECTION NUMBER: a code block below a heading.
block() {
    awk -v heading="## $2" -v wanted="$3" '
        /^## /              { section = index($0, heading) == 1; number = 0 }
        section && /^```sh/ { number++; inside = 1; next }
        /^```/              { inside = 0 }
        section && inside && number == wanted' "$1"
}

# Makes a clone of the last commit and adds the uncommitted changes of this folder, because these are tried too.
clone() {
    local place=$roots/$name/upper/try/iolens
    git clone -q "$PWD" "$place"
    git ls-files -z --deleted | (cd "$place" && xargs -0 -r rm -f)
    git ls-files -z --cached --others --exclude-standard | xargs -0 -r ls -d 2>/dev/null | tar -T - -c | tar -x -C "$place"
}

# possible: returns 0 if a Debian can be made here, and prints why not otherwise.
possible() {
    [ "$(id -u)" = 0 ] || { echo "this is not root"; return 1; }
    command -v debootstrap >/dev/null || { echo "debootstrap is not installed"; return 1; }
    unshare --mount --pid --fork true 2>/dev/null || { echo "this root may not mount"; return 1; }
    mkdir -p "$roots"
    local free
    free=$(df --output=avail --block-size=1G "$roots" | tail -n 1)
    [ "$free" -ge "$room" ] || { echo "a trial may fill $room GB, and $((free)) GB are free in $roots"; return 1; }
    mirror 2>&1 >/dev/null
}

# attempt WHAT COMMANDS: runs these commands as the person in the clone.
attempt() {
    local begin=$SECONDS
    enter "$name" "$person" "cd /try/iolens; $2"
    echo "try-readme: Debian $suite, $person: $1 passed after $((SECONDS - begin)) s"
}

main() {
    local why packages start run test contributing page=docs/how-to/make-run.md
    start=$(block README.md "Start" 1)
    run="$(grep -o 'apt-get update && apt-get install -y make' README.md); $(grep -oE '^make run( |$)' <<<"$start")"
    [ "$person" = root ] || run=$(grep -oE '^make run( |$)' <<<"$start")
    test=$(grep -oE '^make test( |$)' <<<"$start")
    contributing="$(block CONTRIBUTING.md "Set up and build" 1); $(block CONTRIBUTING.md "Test" 1 | grep -v '^make test')"
    packages=$(grep -oE 'apt-get install -y make gcc [a-z0-9 -]+' "$page" | head -n 1)
    [[ $run == *"make run"* ]] && [ -n "$test" ] && [ -n "$packages" ] || {
        echo "try-readme: the commands to try are missing in README.md, section \"Start\", or in $page" >&2
        exit 1
    }
    if ! why=$(possible); then
        echo "try-readme: not tried in a bare Debian $suite: $why" >&2
        [ -n "$short" ] && exit 0 || exit 1
    fi
    fresh "$name" "$suite"
    clone
    if [ "$person" = user ]; then
        enter "$name" root "apt-get -qq update && DEBIAN_FRONTEND=noninteractive $packages >/dev/null 2>&1
            useradd --create-home user && chown -R user: /try/iolens"
    fi
    attempt "\`make run\`" "$run $grid"
    if [ -n "$short" ]; then
        attempt "what CONTRIBUTING says" "$contributing"
    else
        attempt "\`make test\`" "$test ${TESTS:+TESTS='$TESTS'}"
    fi
    rm -rf "${roots:?}/$name"
}

# The script ends on this line, because the shell would read later lines of a file that was changed meanwhile.
main
exit
