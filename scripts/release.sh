#!/bin/sh
# Makes the packages of a release in dist/:
#   scripts/release.sh            all of them, from this folder as it is
#   scripts/release.sh again      builds a second time, from a clone of the last commit elsewhere, and compares every file
#   scripts/release.sh cut X.Y.Z  sets the version and dates the changelog (scripts/version.sh)
# MACHINES names the processors ("x86_64 aarch64"), ISOBATH_URL where the release will be found, ISOBATH_MAINTAINER who answers for it.
# The same commit, compiler and zig are meant to make the same octets: docs/packages.md#reproducing-a-release.
set -eu
cd "$(dirname "$0")/.."
. scripts/reproducible.sh

MACHINES=${MACHINES:-"x86_64 aarch64"}
export ISOBATH_URL="${ISOBATH_URL:-https://isobath.invalid/releases}"
export ISOBATH_MAINTAINER="${ISOBATH_MAINTAINER:-The Isobath contributors <isobath@packages.invalid>}"
# In MB: more, and something was linked in that nobody wanted.
largest=40
work=$PWD/target/packages
dist=$PWD/dist

say() { echo "release: $*"; }
fail() {
    echo "release: $*" >&2
    exit 1
}

# build MACHINE: the static program.
build() {
    target=$1-unknown-linux-musl
    say "building for $target"
    reproducible "$target"
    env "CC_$lower=$PWD/scripts/zig-cc.sh" "AR_$lower=$PWD/scripts/zig-ar.sh" "CARGO_TARGET_${upper}_LINKER=rust-lld" \
        "${CARGO:-cargo}" build --profile dist --locked -p isobath --target "$target" --target-dir "$work"
    size=$(($(stat -c %s "$work/$target/dist/isobath") / 1000000))
    [ "$size" -le "$largest" ] || fail "the program for $target has $size MB, more than $largest"
}

# tree MACHINE: a folder with what an archive for this machine holds.
tree() {
    into=$work/tree/isobath-$version-$1-linux
    mkdir -p "$into/systemd"
    cp "$work/$1-unknown-linux-musl/dist/isobath" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$into"
    cp share/systemd/*.service "$into/systemd"
    cp "$work/THIRD-PARTY.txt" "$into"
    cp -r "$work/share" "$into/share"
    chmod -R u=rwX,go=rX "$into"
}

# pack FOLDER: an archive beside which nothing of this machine shows.
pack() {
    tar -C "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
        -cf - "$(basename "$1")" | gzip -9n >"$dist/$(basename "$1").tar.gz"
}

container() {
    into=$work/tree/isobath-$version-container
    mkdir -p "$into/data" "$into/tmp"
    cp packaging/Containerfile "$into"
    # A fleet of containers, and what draws it.
    cp -r packaging/compose "$into/compose"
    mkdir "$into/share"
    cp -r share/grafana share/prometheus "$into/share"
    chmod -R u=rwX,go=rX "$into"
    # Empty folders that stay when they are copied.
    touch "$into/data/.keep" "$into/tmp/.keep"
    for machine in $MACHINES; do
        case $machine in x86_64) name=amd64 ;; aarch64) name=arm64 ;; *) name=$machine ;; esac
        mkdir "$into/$name"
        cp "$work/$machine-unknown-linux-musl/dist/isobath" "$into/$name"
    done
    pack "$into"
}

# What made this, for whoever wants to make it again or to know what is in it.
provenance() {
    cat <<EOF
Isobath $version
commit        $(git rev-parse HEAD)$(git diff --quiet HEAD || echo ' with changes that are not committed')
time          $(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ) (of the commit, and of all files in the packages)
Cargo.lock    sha256 $(sha256sum <Cargo.lock | cut -d ' ' -f 1)
compiler      $(rustc --version)
cargo         $("${CARGO:-cargo}" --version)
C compiler    zig $(target/tools/zig/ziglang/zig version)
linker        rust-lld, as it comes with the compiler; zig for the wheels' extension modules
wheels        $(target/python/maturin/bin/maturin --version)
machines      $MACHINES (musl, static; wheels: glibc 2.17)
command       scripts/release.sh
inputs        this commit, and what Cargo.lock names, from the public registry, checked by its checksums
again         git checkout COMMIT && scripts/setup.sh release && scripts/release.sh && sha256sum dist/SHA256SUMS
EOF
}

all() {
    scripts/setup.sh release
    scripts/version.sh check
    version=$(scripts/version.sh)
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
    export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
    umask 022
    for machine in $MACHINES; do build "$machine"; done
    rm -rf "$dist" "$work/tree" "$work/share"
    mkdir -p "$dist" "$work/tree"

    say "packing version $version"
    own=$work/$(uname -m)-unknown-linux-musl/dist/isobath
    [ -x "$own" ] || fail "manual pages are written by the program for this machine - name $(uname -m) in MACHINES"
    "$own" generate share "$work/share"
    scripts/sbom.py bom >"$dist/isobath-$version.cdx.json"
    scripts/sbom.py licences >"$work/THIRD-PARTY.txt"
    for machine in $MACHINES; do
        tree "$machine"
        pack "$into"
        scripts/deb.sh "$machine" "$into" "$dist"
        say "building the wheel for $machine"
        scripts/wheel.sh for "$machine" "$work/$machine-unknown-linux-musl/dist/isobath"
    done
    container
    git archive --prefix="isobath-$version/" HEAD | gzip -9n >"$dist/isobath-$version-source.tar.gz"
    source=$(sha256sum <"$dist/isobath-$version-source.tar.gz" | cut -d ' ' -f 1)
    scripts/templates.sh packaging/homebrew/isobath.rb.in "VERSION=$version" "URL=$ISOBATH_URL" "SHA256_SOURCE=$source" >"$dist/isobath.rb"
    mkdir "$dist/openwrt"
    scripts/templates.sh packaging/openwrt/Makefile.in "VERSION=$version" "URL=$ISOBATH_URL" "SHA256_SOURCE=$source" \
        "MAINTAINER=$ISOBATH_MAINTAINER" >"$dist/openwrt/Makefile"
    provenance >"$dist/provenance.txt"
    (cd "$dist" && find . -type f -printf '%P\n' | sort | xargs sha256sum >../target/packages/SHA256SUMS)
    mv "$work/SHA256SUMS" "$dist"
    say "made in dist/:"
    (cd "$dist" && find . -type f -printf '%10s  %P\n' | sort -k 2)
}

# A second build, in a folder of another name.
again() {
    git diff --quiet HEAD || fail "there are changes that are not committed - a second build has the last commit only"
    [ -e dist/SHA256SUMS ] || fail "there is no first build - run scripts/release.sh"
    second=$work/a-second-build
    rm -rf "$second"
    git clone -q --no-hardlinks . "$second"
    # The tools are installed and not built: they are the same.
    mkdir -p "$second/target"
    ln -s "$PWD/target/tools" "$second/target/tools"
    "$second/scripts/release.sh"
    if diff dist/SHA256SUMS "$second/dist/SHA256SUMS"; then
        say "the second build is the same, octet by octet"
        rm -rf "$second"
    else
        fail "the second build differs (above: < first, > second) - compare dist/ with $second/dist"
    fi
}

case ${1-} in
'') all ;;
again) again ;;
cut) scripts/version.sh "$@" ;;
*) fail "'$1' is none of 'again' and 'cut'" ;;
esac
