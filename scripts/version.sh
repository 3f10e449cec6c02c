#!/bin/sh
# The project's version: `scripts/version.sh` prints it; `scripts/version.sh check` fails unless manifest, lock file and changelog say the
# same; `scripts/version.sh cut X.Y.Z` sets it in all three and dates the changelog's newest section. It commits nothing.
set -eu
cd "$(dirname "$0")/.."

# The version under [workspace.package].
manifest() {
    awk -F'"' '/^\[/ { inside = $0 == "[workspace.package]" } inside && /^version = / { print $2 }' Cargo.toml
}

# The versions of the project's own crates in the lock file: those without a source. Crates that are never released are at 0.0.0.
locked() {
    awk -F'"' '
        function tell() { if (own && version != "" && version != "0.0.0") print version }
        /^\[\[package\]\]/ { tell(); version = ""; own = 1 }
        /^version = / { version = $2 }
        /^source = / { own = 0 }
        END { tell() }' Cargo.lock | sort -u
}

newest() {
    sed -n 's/^## \[\([^]]*\)\].*/\1/p' CHANGELOG.md | head -n 1
}

fail() {
    echo "version: $*" >&2
    exit 1
}

check() {
    version=$(manifest)
    [ "$(locked)" = "$version" ] || fail "Cargo.lock has $(locked | tr '\n' ' ')where Cargo.toml has $version - run 'cargo update --workspace'"
    [ "$(newest)" = "$version" ] || fail "CHANGELOG.md begins with $(newest) where Cargo.toml has $version - give the version a section"
}

# replace FILE PROGRAM: the file as awk makes it anew. `old` and `new` are set.
replace() {
    awk -v old="$old" -v new="$new" -v date="$(date -u +%F)" "$2" "$1" >"$1.new"
    # In place: the file keeps its mode.
    cat "$1.new" >"$1"
    rm "$1.new"
}

cut_release() {
    new=$1
    echo "$new" | grep -qxE '(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)' || fail "'$new' is no version - give three numbers: 0.2.0"
    check
    old=$(manifest)
    highest=$(printf '%s\n%s\n' "$old" "$new" | sort -V | tail -n 1)
    [ "$highest" = "$new" ] || fail "$new is older than $old"
    line=$(grep -m 1 '^## \[' CHANGELOG.md)
    [ "$line" = "## [$old] - Unreleased" ] || fail "the changelog's newest section is '$line' - begin one for what is new: '## [$old] - Unreleased'"
    # shellcheck disable=SC2016
    replace Cargo.toml '/^\[/ { inside = $0 == "[workspace.package]" } inside && /^version = / { $0 = "version = \"" new "\"" } { print }'
    # shellcheck disable=SC2016
    replace Cargo.lock 'BEGIN { RS = ""; ORS = "\n\n" } /\nname = "/ && !/\nsource = / { sub("version = \"" old "\"", "version = \"" new "\"") } { print }'
    # Paragraphs end with an empty line each, the file does not.
    sed -i '$ { /^$/d }' Cargo.lock
    # shellcheck disable=SC2016
    replace CHANGELOG.md '!done && /^## \[/ { $0 = "## [" new "] - " date; done = 1 } { print }'
    check
    echo "version: $old is now $new in Cargo.toml, Cargo.lock and CHANGELOG.md - look at 'git diff', commit, 'git tag v$new'"
}

case ${1-} in
'') manifest ;;
check) check ;;
cut) cut_release "${2:?version: say which - scripts/version.sh cut 0.2.0}" ;;
*) fail "'$1' is none of 'check' and 'cut'" ;;
esac
