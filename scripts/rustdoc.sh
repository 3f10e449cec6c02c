#!/usr/bin/env bash
# Takes rustdoc's place where cargo runs a library's doc tests (`RUSTDOC=scripts/rustdoc.sh cargo test --doc`), and before them builds its
# documentation, private items too, with every warning an error. `cargo doc` says the same, but has all dependencies checked for it first.
set -euo pipefail
documentation=()
tests=
skip=
for argument in "$@"; do
    if [ -n "$skip" ]; then
        skip=
        continue
    fi
    case $argument in
    --test) tests=1 ;;
    --test-run-directory | --test-args) skip=1 ;;
    --test-*) ;;
    *) documentation+=("$argument") ;;
    esac
done
if [ -n "$tests" ]; then
    rustdoc "${documentation[@]}" --document-private-items -D warnings -o "${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/doc"
fi
exec rustdoc "$@"
