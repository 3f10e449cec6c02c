#!/bin/sh
# Takes rustc's place where cargo builds the workspace (`RUSTC_WORKSPACE_WRAPPER=scripts/lint.sh cargo test`): what is built is linted by
# clippy, and a warning is an error. A library is built twice, by itself and with its tests. Clippy reads it the second time; the first time
# the compiler's own warnings do: what only the tests use is found unused.
case " $* " in
*" --test "*) ;;
*" --crate-type lib "*) exec "$@" -Dwarnings ;;
esac
CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__ exec clippy-driver "$@"
