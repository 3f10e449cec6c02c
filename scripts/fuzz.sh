#!/bin/sh
# Fuzzing. Needs cargo-fuzz and a C++ compiler (`scripts/setup.sh fuzz`), and nightly Rust or, without a sanitizer, stable Rust.
#
#   scripts/fuzz.sh                       a minute (SECONDS_EACH=60) of every target, and twenty times as many cases of every property, new ones
#   scripts/fuzz.sh TARGET ...            of these targets alone
#   scripts/fuzz.sh --build               builds all targets; its last line says where they are
#   scripts/fuzz.sh --merge [TARGET ...]  takes into fuzz/corpus what the runs have found and the corpus does not reach
#
# What is found goes to target/fuzz/corpus, crashes to fuzz/artifacts. Whether all targets compile is checked by `make lint`.
set -eu
cd "$(dirname "$0")/../fuzz"
built=$(cd .. && pwd)/target/fuzz
found=../target/fuzz/corpus

build() {
    # Line tables alone: a crash tells its place.
    export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_STRIP=none
    if cargo +nightly --version >/dev/null 2>&1; then
        cargo +nightly fuzz build --features libfuzzer --target-dir "$built"
    else
        RUSTC_BOOTSTRAP=1 cargo fuzz build --features libfuzzer --sanitizer none --target-dir "$built"
    fi
    programs=$built/$(rustc -vV | sed -n 's/^host: //p')/release
}

targets() { ls fuzz_targets | sed 's/\.rs$//'; }

case ${1:-} in
--build)
    build
    echo "$programs"
    exit
    ;;
--merge)
    shift
    build
    [ $# -gt 0 ] || set -- $(targets)
    exec ./merge.py "$programs" "$found" "$@"
    ;;
esac
[ $# -gt 0 ] || (cd .. && env -u PROPTEST_RNG_SEED PROPTEST_CASES=5000 cargo test --workspace --lib --locked)
[ $# -gt 0 ] || set -- $(targets)
build
for target in "$@"; do
    mkdir -p "$found/$target" "artifacts/$target"
    "$programs/$target" "$found/$target" "corpus/$target" -max_total_time="${SECONDS_EACH:-60}" -artifact_prefix="artifacts/$target/"
done
