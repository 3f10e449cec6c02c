#!/bin/sh
# A C compiler for every target, from zig: Rust's name of the target (`--target=aarch64-unknown-linux-musl`, as crates' build scripts say
# it) becomes zig's (`-target aarch64-linux-musl`). `scripts/setup.sh release` installs zig.
set -eu
zig=$(dirname "$0")/../target/tools/zig/ziglang/zig
for argument in "$@"; do
    shift
    case $argument in
    --target=*)
        target=${argument#--target=}
        machine=${target%%-*}
        set -- "$@" -target "$machine-linux-${target##*-}"
        ;;
    *) set -- "$@" "$argument" ;;
    esac
done
# The same octets wherever this folder is, and no checks of undefined behaviour that would want a library.
exec "$zig" cc "$@" -fno-sanitize=undefined
