#!/bin/sh
# A minute of every fuzz target (or of those named), and twenty times as many cases of every property, new ones each time.
# Needs cargo-fuzz (`cargo install cargo-fuzz --locked`), and nightly Rust or, without a sanitizer, stable Rust.
# Whether all targets compile is checked by `make lint`.
set -eu
cd "$(dirname "$0")/../fuzz"
fuzz() {
    verb=$1
    shift
    [ "$verb" != run ] || set -- --features libfuzzer "$@"
    if cargo +nightly --version >/dev/null 2>&1; then
        cargo +nightly fuzz "$verb" "$@"
    else
        [ "$verb" != run ] || set -- --sanitizer none "$@"
        RUSTC_BOOTSTRAP=1 cargo fuzz "$verb" "$@"
    fi
}
[ $# -gt 0 ] || (cd .. && env -u PROPTEST_RNG_SEED PROPTEST_CASES=5000 cargo test --workspace --lib --locked)
[ $# -gt 0 ] || set -- $(fuzz list)
for target in "$@"; do
    # Captures of every encapsulation.
    case $target in
        capture | extract) seeds="corpus/$target ../crates/capture/tests/encapsulations" ;;
        *) seeds= ;;
    esac
    mkdir -p "corpus/$target"
    fuzz run "$target" $seeds -- -max_total_time="${SECONDS_EACH:-60}"
done
