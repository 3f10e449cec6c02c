#!/bin/sh
# A minute of every fuzz target (or of those named), and twenty times as many cases of every property, new ones each time.
# Needs nightly Rust and cargo-fuzz (`cargo install cargo-fuzz`).
set -eu
cd "$(dirname "$0")/../fuzz"
[ $# -gt 0 ] || (cd .. && env -u PROPTEST_RNG_SEED PROPTEST_CASES=5000 cargo test --workspace --lib --locked)
[ $# -gt 0 ] || set -- $(cargo +nightly fuzz list)
for target in "$@"; do
    cargo +nightly fuzz run "$target" -- -max_total_time="${SECONDS_EACH:-60}"
done
