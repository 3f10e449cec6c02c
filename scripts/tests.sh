#!/usr/bin/env bash
# Runs all tests of the workspace, six beside each other. What failed runs again when nothing is beside it, three times at most, and the last
# result counts: a stalled machine spoils a measurement once, a defect is there again. Each failure is printed, and is to be looked into.
# At the end it lists what was skipped, and what could not be decided, because the hypervisor kept the machine waiting however often it was
# tried.
#
#   tests.sh [what nextest takes: -E 'package(isobath-path)']
set -euo pipefail
cd "$(dirname "$0")/.."
export NEXTEST_USER_CONFIG_FILE=$PWD/.config/nextest-records.toml NEXTEST_STATE_DIR=$PWD/target/nextest/records
nextest() { target/tools/cargo-nextest/bin/cargo-nextest nextest run --workspace --locked "$@"; }

undecided=target/tmp/undecided.txt
rm -f "$undecided"
tell_undecided() { [ ! -s "$undecided" ] || { printf '\n== skipped or not decided on this machine\n' && sort -u "$undecided"; }; }
trap tell_undecided EXIT

nextest "$@" && exit
status=$?
# 100: some tests failed. All else (a program that does not compile, an unknown option) is the same the second time.
((status == 100)) || exit "$status"
printf '\n== once more, one at a time: what failed\n'
nextest "$@" --rerun latest --test-threads 1 --retries 2
