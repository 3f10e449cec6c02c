#!/bin/sh
# Sourced by what builds for a release (scripts/release.sh, scripts/wheel.sh), from the project's folder.

# reproducible TARGET: sets cargo's and the crate cc's variables so that what is built for it shows no path of this machine.
reproducible() {
    # As cargo and the crate cc name their variables.
    lower=$(echo "$1" | tr - _)
    upper=$(echo "$lower" | tr '[:lower:]' '[:upper:]')
    home=${CARGO_HOME:-$HOME/.cargo}
    work=$PWD/target/packages
    export "CARGO_TARGET_${upper}_RUSTFLAGS=--remap-path-prefix=$home=/cargo --remap-path-prefix=$PWD=/isobath" \
        "CFLAGS_$lower=-g0 -ffile-prefix-map=$home=/cargo -ffile-prefix-map=$PWD=/isobath" \
        ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig" CARGO_INCREMENTAL=0
}
