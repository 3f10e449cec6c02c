#!/bin/sh
# A C compiler for every target, from zig: LLVM's name of the target (`--target=aarch64-unknown-linux-musl`, as crates' build scripts say
# it) becomes zig's (`-target aarch64-linux-musl`), and Apple's libraries are zig's own. `scripts/setup.sh release` installs zig.
set -eu
zig=$(dirname "$0")/../target/tools/zig/ziglang/zig
skip=
for argument in "$@"; do
    shift
    if [ -n "$skip" ]; then
        skip=
        continue
    fi
    case $argument in
    -isysroot) skip=yes ;;
    -mmacosx-version-min=*) ;;
    --target=*)
        target=${argument#--target=}
        machine=${target%%-*}
        case $target in
        arm64-apple-*) set -- "$@" -target aarch64-macos ;;
        *-apple-*) set -- "$@" -target "$machine-macos" ;;
        *-windows-*) set -- "$@" -target "$machine-windows-gnu" ;;
        *) set -- "$@" -target "$machine-linux-${target##*-}" ;;
        esac
        ;;
    *) set -- "$@" "$argument" ;;
    esac
done
# No checks of undefined behaviour, which would want a library.
exec "$zig" cc "$@" -fno-sanitize=undefined
